/* Chains of tasks: each task of a chain makes the next. */
#include "common.h"

static void follow(uint64_t steps, uint32_t left, uint32_t value, uint64_t *sum) {
    value = (uint32_t)busy_work(steps, value);
    if (left == 0) {
        __atomic_fetch_add(sum, value, __ATOMIC_RELAXED);
        return;
    }
#pragma omp task firstprivate(steps, left, value, sum)
    follow(steps, left - 1, value, sum);
}

uint64_t gridwise_omp_chains(int threads, uint32_t chains, uint32_t links, uint64_t steps, uint64_t passes, uint64_t *sum, pin_function pin) {
    gather_team(threads, pin);
    uint64_t begin = now_ns();
    for (uint64_t pass = 0; pass < passes; pass++) {
#pragma omp parallel num_threads(threads)
#pragma omp single
        for (uint32_t chain = 0; chain < chains; chain++) {
#pragma omp task firstprivate(steps, chain, links, sum)
            follow(steps, links - 1, chain + 1, sum);
        }
    }
    uint64_t elapsed = now_ns() - begin;
    dismiss_team();
    return elapsed;
}
