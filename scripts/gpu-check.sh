#!/usr/bin/env bash
# On a machine with a GPU, in a few minutes: the conformance suite on cuda:0, and what grid barriers and launches take beside
# CUDA's cooperative groups. Prints one table.
#
#   scripts/gpu-check.sh           checks; builds first what is not in target/gpu-check
#   scripts/gpu-check.sh build     only builds into target/gpu-check, to be carried to a machine that has no compilers
#
# Everything has a limit; all together stays below 8 minutes, building aside. Exit code 0: the suite passed; 1: it did not; 3: no
# GPU here.
set -euo pipefail
cd "$(dirname "$0")/.."
kit=target/gpu-check

build() {
    mkdir -p "$kit"
    cargo build --locked --release -p gridwise-cli --features cuda
    cp target/release/gridwise "$kit/gridwise"
    local test
    test=$(cargo test --locked --release -p gridwise --features cuda --test conformance --no-run --message-format=json |
        grep -o '"executable":"[^"]*conformance-[^"]*"' | tail -1 | cut -d'"' -f4)
    cp "$test" "$kit/conformance"
    local ptx
    ptx=$(cargo run --locked -q -p gridwise-ptx --example compile -- tests/kernels "$kit/build")
    cp "$ptx" "$kit/conformance.ptx"
}

row() { printf '| %-34s | %-37s |\n' "$1" "$2"; }

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
# What is carried may have lost its permissions.
chmod +x "$kit/gridwise" "$kit/conformance" 2>/dev/null || true

timeout 60 "$kit/gridwise" devices --json >"$kit/devices.json"
if ! grep -q '"cuda_version_of_driver"' "$kit/devices.json"; then
    echo "No GPU here:"
    timeout 60 "$kit/gridwise" devices
    exit 3
fi

status=0
CONFORMANCE_PTX=$kit/conformance.ptx timeout "${GPU_CHECK_SUITE_SECONDS:-300}" \
    "$kit/conformance" cuda --test-threads=1 >"$kit/conformance.log" 2>&1 || status=1
grep -E '^test .*FAILED' "$kit/conformance.log" || true
result=$(grep -o 'test result:.*measured' "$kit/conformance.log" | sed 's/test result: //; s/; 0 measured//' || true)

peer_barrier='no nvcc' peer_launch='no nvcc'
if command -v nvcc >/dev/null; then
    if timeout 90 nvcc -O3 -arch=native -o "$kit/cooperative_groups" benches/gpu/cooperative_groups.cu &&
        timeout 30 "$kit/cooperative_groups" >"$kit/peer.txt"; then
        peer_barrier="$(awk '/^barrier/ {print $2}' "$kit/peer.txt") ns"
        peer_launch="$(awk '/^launch/ {print $2}' "$kit/peer.txt") ns"
    else
        peer_barrier='failed' peer_launch='failed'
    fi
fi
nanoseconds() { local value; value=$(number "$1"); echo "${value:+$value ns}"; }

echo
row "$(grep -o '"model": "[^"]*"' "$kit/devices.json" | head -1 | cut -d'"' -f4)" "driver for CUDA $(grep -o '"cuda_version_of_driver": "[^"]*"' "$kit/devices.json" | cut -d'"' -f4)"
row '---' '---'
row 'conformance suite on cuda:0' "${result:-did not end, see $kit/conformance.log}"
row 'grid barrier, gridwise' "$(nanoseconds barrier_nanoseconds)"
row 'grid barrier, cooperative groups' "$peer_barrier"
row 'launch in a graph, gridwise' "$(nanoseconds launch_nanoseconds)"
row 'launch in a graph, CUDA' "$peer_launch"
row 'all together' "${SECONDS} s"
exit "$status"
