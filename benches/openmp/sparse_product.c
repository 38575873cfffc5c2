/* y = A x, compressed sparse rows: a parallel for over the rows, which threads claim in chunks. */
#include "common.h"

uint64_t gridwise_omp_sparse_product(
    int threads, size_t rows, const uint32_t *offsets, const uint32_t *columns, const double *values, const double *x, int chunk,
    uint64_t repeats, double *y, pin_function pin) {
    gather_team(threads, pin);
    uint64_t begin = now_ns();
    for (uint64_t repeat = 0; repeat < repeats; repeat++) {
#pragma omp parallel for schedule(dynamic, chunk) num_threads(threads)
        for (size_t row = 0; row < rows; row++) {
            double sum = 0;
            for (uint32_t entry = offsets[row]; entry < offsets[row + 1]; entry++) sum += values[entry] * x[columns[entry]];
            y[row] = sum;
        }
    }
    uint64_t elapsed = now_ns() - begin;
    dismiss_team();
    return elapsed;
}
