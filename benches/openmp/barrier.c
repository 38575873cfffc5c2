/* Latency of `#pragma omp barrier` in one persistent region. */
#include "common.h"

/* So that a test can compare with `busy::work`. */
uint64_t gridwise_omp_busy_work(uint64_t steps, uint64_t value) { return busy_work(steps, value); }

uint64_t gridwise_omp_barrier(int threads, uint64_t rounds, uint64_t work_steps, pin_function pin) {
    uint64_t begin = 0, end = 0;
    gather_team(threads, pin);
#pragma omp parallel num_threads(threads)
    {
        uint64_t value = (uint64_t)omp_get_thread_num();
        for (uint64_t round = 0; round < rounds / 10 + 1; round++) {
            value = busy_work(work_steps, value);
#pragma omp barrier
        }
#pragma omp master
        begin = now_ns();
        for (uint64_t round = 0; round < rounds; round++) {
            value = busy_work(work_steps, value);
#pragma omp barrier
        }
#pragma omp master
        end = now_ns();
    }
    dismiss_team();
    return end - begin;
}
