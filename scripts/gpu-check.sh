#!/usr/bin/env bash
# On a machine with a GPU, in a few minutes: the conformance suite on cuda:0, and what grid barriers and launches take beside
# CUDA's cooperative groups. Prints one table.
#
#   scripts/gpu-check.sh           checks; builds first what is not in target/gpu-check
#   scripts/gpu-check.sh build     only builds into target/gpu-check, to be carried to a machine that has no compilers
#
# Carry scripts/gpu-check.sh and target/gpu-check, to the same places in some folder. The programs ask for glibc 2.34 or newer.
#
# Everything has a limit; all together stays below 8 minutes, building aside. Exit code 0: the suite passed; 1: it did not; 3: no
# GPU here.
set -euo pipefail
cd "$(dirname "$0")/.."
kit=target/gpu-check

build() {
    mkdir -p "$kit"
    rm -f "$kit"/*.log "$kit/cooperative_groups"
    cargo build --locked --release -p gridwise-cli --features cuda
    cp "${CARGO_TARGET_DIR:-target}/release/gridwise" "$kit/gridwise"
    local test
    test=$(cargo test --locked --release -p gridwise --features cuda --test conformance --no-run --message-format=json |
        grep -o '"executable":"[^"]*conformance-[^"]*"' | tail -1 | cut -d'"' -f4)
    cp "$test" "$kit/conformance"
    local ptx
    ptx=$(cargo run --locked -q -p gridwise-ptx --example compile -- tests/kernels "$kit/build")
    cp "$ptx" "$kit/conformance.ptx"
    if command -v nvcc >/dev/null; then
        timeout 120 nvcc -O3 -gencode arch=compute_75,code=compute_75 -gencode 'arch=compute_90,code=[sm_90,compute_90]' \
            -o "$kit/cooperative_groups" benches/gpu/cooperative_groups.cu || echo 'without the peer: nvcc failed' >&2
    fi
}

row() { printf '| %-34s | %-45s |\n' "$1" "$2"; }

number() { grep -o "\"$1\": *[0-9]*" "$kit/devices.json" | grep -o '[0-9]*$' | tail -1; }

if [[ ${1:-} == build ]]; then
    build
    echo "built: $(ls "$kit")"
    exit 0
fi

# A simulated driver is found like a real one, by LD_LIBRARY_PATH: then this checks itself.
if ! ldconfig -p 2>/dev/null | grep -q 'libcuda\.so' && [[ -z ${LD_LIBRARY_PATH:-} ]]; then
    echo "No GPU here: there is no NVIDIA driver (libcuda.so). Nothing was checked."
    exit 3
fi

for piece in gridwise conformance conformance.ptx; do
    if [[ ! -e $kit/$piece ]]; then build; break; fi
done
# From here on there are limits.
SECONDS=0
# What is carried may have lost its permissions.
chmod +x "$kit/gridwise" "$kit/conformance" "$kit/cooperative_groups" 2>/dev/null || true

# One of several GPUs. What the driver compiles is kept for the next test, whatever is known of a home directory here.
export CUDA_VISIBLE_DEVICES=${CUDA_VISIBLE_DEVICES:-0} CUDA_CACHE_PATH=${CUDA_CACHE_PATH:-$PWD/$kit/cache}

timeout 60 "$kit/gridwise" devices --json >"$kit/devices.json"
if ! grep -q '"cuda_version_of_driver"' "$kit/devices.json"; then
    echo "No GPU here:"
    timeout 60 "$kit/gridwise" devices
    exit 3
fi

status=0
suite() { CONFORMANCE_PTX=$kit/conformance.ptx timeout "$1" "$kit/conformance" "${@:2}" --test-threads=1; }
suite "${GPU_CHECK_SUITE_SECONDS:-240}" cuda >"$kit/conformance.log" 2>&1 || status=1
result=$(grep -o 'test result:.*measured' "$kit/conformance.log" | sed 's/test result: //; s/; 0 measured//' || true)
ended=$(grep -c '^test .*\(ok\|FAILED\)$' "$kit/conformance.log" || true)

# A kernel that fails takes the GPU along, on purpose in some tests. Should the driver not give it back to the same process, the
# tests after it fail as well; on their own they say what is really wrong.
failed=0 alone=0
: >"$kit/alone.log"
for name in $(sed -n 's/^test \(.*\) \.\.\. FAILED$/\1/p' "$kit/conformance.log"); do
    failed=$((failed + 1))
    if ((SECONDS < 360)) && suite 30 --exact "$name" >>"$kit/alone.log" 2>&1; then
        alone=$((alone + 1))
        echo "failed after others, passes alone: $name"
    else
        echo "FAILED: $name"
    fi
done

peer_barrier='no nvcc' peer_launch='no nvcc'
if command -v nvcc >/dev/null && ! timeout 60 nvcc -O3 -arch=native -o "$kit/cooperative_groups" benches/gpu/cooperative_groups.cu; then
    echo 'nvcc failed'
fi
if [[ -x $kit/cooperative_groups ]]; then
    if timeout 30 "$kit/cooperative_groups" >"$kit/peer.txt" 2>"$kit/peer.log"; then
        peer_barrier="$(awk '/^barrier/ {print $2}' "$kit/peer.txt") ns"
        peer_launch="$(awk '/^launch/ {print $2}' "$kit/peer.txt") ns"
    else
        cat "$kit/peer.log"
        peer_barrier="failed, see $kit/peer.log" peer_launch=$peer_barrier
    fi
fi
nanoseconds() { local value; value=$(number "$1"); echo "${value:+$value ns}"; }

echo
row "$(grep -o '"model": "[^"]*"' "$kit/devices.json" | head -1 | cut -d'"' -f4)" "driver for CUDA $(grep -o '"cuda_version_of_driver": "[^"]*"' "$kit/devices.json" | cut -d'"' -f4)"
row '---' '---'
row 'conformance suite on cuda:0' "${result:-did not end, after $ended tests}"
if ((failed > 0)); then row 'of those that failed, pass alone' "$alone of $failed"; fi
row 'grid barrier, gridwise' "$(nanoseconds barrier_nanoseconds)"
row 'grid barrier, cooperative groups' "$peer_barrier"
row 'launch in a graph, gridwise' "$(nanoseconds launch_nanoseconds)"
row 'launch in a graph, CUDA' "$peer_launch"
row 'all together' "${SECONDS} s"
exit "$status"
