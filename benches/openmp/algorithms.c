/* Sums, and histograms of bytes: a parallel for with a reduction. */
#include "common.h"

uint64_t gridwise_omp_sum_u32(int threads, size_t n, const uint32_t *input, uint64_t repeats, uint32_t *out, pin_function pin) {
    gather_team(threads, pin);
    uint64_t begin = now_ns();
    for (uint64_t repeat = 0; repeat < repeats; repeat++) {
        uint32_t sum = 0;
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
        for (size_t i = 0; i < n; i++) sum += input[i];
        *out = sum;
    }
    uint64_t elapsed = now_ns() - begin;
    dismiss_team();
    return elapsed;
}

uint64_t gridwise_omp_sum_f64(int threads, size_t n, const double *input, uint64_t repeats, double *out, pin_function pin) {
    gather_team(threads, pin);
    uint64_t begin = now_ns();
    for (uint64_t repeat = 0; repeat < repeats; repeat++) {
        double sum = 0;
#pragma omp parallel for simd reduction(+ : sum) num_threads(threads)
        for (size_t i = 0; i < n; i++) sum += input[i];
        *out = sum;
    }
    uint64_t elapsed = now_ns() - begin;
    dismiss_team();
    return elapsed;
}

/* `tables` tables a thread, 1 or 8, counted into in turn. */
uint64_t gridwise_omp_histogram(
    int threads, size_t n, const uint8_t *input, int tables, uint64_t repeats, uint64_t *counts, pin_function pin) {
    gather_team(threads, pin);
    uint64_t begin = now_ns();
    for (uint64_t repeat = 0; repeat < repeats; repeat++) {
        for (int bin = 0; bin < 256; bin++) counts[bin] = 0;
#pragma omp parallel num_threads(threads)
        {
            uint32_t own[8][256] = {{0}};
            size_t first, end;
            share(n, (size_t)omp_get_thread_num(), (size_t)threads, &first, &end);
            size_t i = first;
            if (tables == 8) {
                for (; i + 8 <= end; i += 8)
                    for (int table = 0; table < 8; table++) own[table][input[i + (size_t)table]]++;
            }
            for (; i < end; i++) own[0][input[i]]++;
#pragma omp critical
            for (int bin = 0; bin < 256; bin++)
                for (int table = 0; table < 8; table++) counts[bin] += own[table][bin];
        }
    }
    uint64_t elapsed = now_ns() - begin;
    dismiss_team();
    return elapsed;
}
