/* Prefix sums and compaction in two passes, a share a thread: sums of the shares, a barrier, the result. */
#include "common.h"

enum { MOST_THREADS = 256 };

uint64_t gridwise_omp_scan(int threads, size_t n, uint64_t repeats, const uint32_t *restrict in, uint32_t *restrict out, pin_function pin) {
    if (threads > MOST_THREADS) abort();
    uint32_t sums[MOST_THREADS] = {0};
    gather_team(threads, pin);
    uint64_t begin = now_ns();
    for (uint64_t repeat = 0; repeat < repeats; repeat++) {
#pragma omp parallel num_threads(threads)
        {
            size_t rank = (size_t)omp_get_thread_num(), first, last;
            share(n, rank, (size_t)threads, &first, &last);
            uint32_t sum = 0;
            for (size_t i = first; i < last; i++) sum += in[i];
            sums[rank] = sum;
#pragma omp barrier
            sum = 0;
            for (size_t other = 0; other < rank; other++) sum += sums[other];
            for (size_t i = first; i < last; i++) out[i] = sum += in[i];
        }
    }
    uint64_t elapsed = now_ns() - begin;
    dismiss_team();
    return elapsed;
}

/* The elements that 3 divides, in order. Every element is written, to the place of the next that is kept: no branch. */
uint64_t gridwise_omp_compact(int threads, size_t n, uint64_t repeats, const uint32_t *restrict in, uint32_t *restrict out, size_t *kept,
                              pin_function pin) {
    if (threads > MOST_THREADS) abort();
    size_t counts[MOST_THREADS] = {0};
    gather_team(threads, pin);
    uint64_t begin = now_ns();
    for (uint64_t repeat = 0; repeat < repeats; repeat++) {
#pragma omp parallel num_threads(threads)
        {
            size_t rank = (size_t)omp_get_thread_num(), first, last;
            share(n, rank, (size_t)threads, &first, &last);
            size_t count = 0;
            for (size_t i = first; i < last; i++) count += in[i] % 3 == 0;
            counts[rank] = count;
#pragma omp barrier
            size_t at = 0;
            for (size_t other = 0; other < rank; other++) at += counts[other];
            size_t end = at + count;
            for (size_t i = first; at < end; i++) {
                out[at] = in[i];
                at += in[i] % 3 == 0;
            }
        }
    }
    uint64_t elapsed = now_ns() - begin;
    *kept = 0;
    for (int rank = 0; rank < threads; rank++) *kept += counts[rank];
    dismiss_team();
    return elapsed;
}
