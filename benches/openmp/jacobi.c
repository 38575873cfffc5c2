/* Jacobi iteration, 5-point stencil, f32: one persistent region, one barrier a step. */
#include "common.h"

/* The same order of additions as the Rust side, and no product that could be fused: equal bit for bit. */
static void relax_row(size_t n, const float *restrict above, const float *restrict row, const float *restrict below, float *restrict out) {
    for (size_t j = 1; j + 1 < n; j++) out[j] = 0.25f * ((above[j] + below[j]) + (row[j - 1] + row[j + 1]));
}

/* Both arrays hold the start, boundary included. After an even number of steps the result is in `a`, after an odd number in `b`. */
uint64_t gridwise_omp_jacobi(int threads, size_t n, uint64_t steps, float *a, float *b, pin_function pin) {
    uint64_t start = 0, stop = 0;
    gather_team(threads, pin);
#pragma omp parallel num_threads(threads)
    {
        float *from = a, *to = b;
        size_t begin, end;
        share(n < 2 ? 0 : n - 2, (size_t)omp_get_thread_num(), (size_t)threads, &begin, &end);
#pragma omp barrier
#pragma omp master
        start = now_ns();
        for (uint64_t step = 0; step < steps; step++) {
            for (size_t i = begin + 1; i < end + 1; i++)
                relax_row(n, from + (i - 1) * n, from + i * n, from + (i + 1) * n, to + i * n);
#pragma omp barrier
            float *other = from;
            from = to;
            to = other;
        }
#pragma omp master
        stop = now_ns();
    }
    dismiss_team();
    return stop - start;
}
