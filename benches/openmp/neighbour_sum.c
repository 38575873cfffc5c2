/* out[i] = in[i] + the next element of its chunk, wrapping at the chunk's end: a plain parallel for over the chunks. */
#include "common.h"

static void chunk_sum(size_t n, const int32_t *restrict in, int32_t *restrict out) {
    /* Through unsigned, where wrapping is defined, as it is on the Rust side. */
    for (size_t i = 0; i + 1 < n; i++) out[i] = (int32_t)((uint32_t)in[i] + (uint32_t)in[i + 1]);
    out[n - 1] = (int32_t)((uint32_t)in[n - 1] + (uint32_t)in[0]);
}

uint64_t gridwise_omp_neighbour_sum(int threads, size_t n, size_t chunk, uint64_t repeats, const int32_t *in, int32_t *out, pin_function pin) {
    size_t chunks = (n + chunk - 1) / chunk;
    gather_team(threads, pin);
    uint64_t begin = now_ns();
    for (uint64_t repeat = 0; repeat < repeats; repeat++) {
#pragma omp parallel for schedule(static) num_threads(threads)
        for (size_t c = 0; c < chunks; c++) {
            size_t first = c * chunk, rest = n - first;
            chunk_sum(rest < chunk ? rest : chunk, in + first, out + first);
        }
    }
    uint64_t elapsed = now_ns() - begin;
    dismiss_team();
    return elapsed;
}
