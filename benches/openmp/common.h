/* What the OpenMP peers share: the clock, the busy work, the ends of a run. Every entry returns elapsed nanoseconds. */
#ifndef GRIDWISE_BENCHES_COMMON_H
#define GRIDWISE_BENCHES_COMMON_H

#include <omp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Pins the calling thread to the core of this rank. Passed in, so that both languages agree on the cores. */
typedef void (*pin_function)(uint32_t rank);

static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* `steps` links of a chain of dependent operations: the same as `busy::work` on the Rust side. */
static inline uint64_t busy_work(uint64_t steps, uint64_t value) {
    for (uint64_t i = 0; i < steps; i++) value = (value ^ (value >> 29)) * 6364136223846793005u;
    __asm__ volatile("" : "+r"(value));
    return value;
}

/* Share `rank` of `parts` of `count` things: [*begin, *end), sizes differing by one at most, as `team::share` cuts them. */
static inline void share(size_t count, size_t rank, size_t parts, size_t *begin, size_t *end) {
    *begin = count * rank / parts;
    *end = count * (rank + 1) / parts;
}

/* Makes the team of `threads` and pins it, outside any timed part. The calling thread keeps its team for the next region. */
static inline void gather_team(int threads, pin_function pin) {
    omp_set_dynamic(0);
#pragma omp parallel num_threads(threads)
    {
        pin((uint32_t)omp_get_thread_num());
        if (omp_get_num_threads() != threads) abort();
    }
}

/* Ends the team's threads, which otherwise would spin in the background while somebody else is measured. */
static inline void dismiss_team(void) { omp_pause_resource_all(omp_pause_hard); }

#endif
