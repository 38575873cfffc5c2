/* A loop over items of given lengths, with OpenMP's schedules that deal out while it runs. */
#include "common.h"

static uint64_t item(const uint32_t *steps, size_t index) { return busy_work(steps[index], index + 1); }

/* `passes` passes with schedule(dynamic, chunk), or with schedule(guided, chunk); adds what all items come to to `*sum`. */
uint64_t gridwise_omp_loop(int threads, size_t n, const uint32_t *steps, int guided, int chunk, uint64_t passes, uint64_t *sum, pin_function pin) {
    uint64_t all = 0;
    gather_team(threads, pin);
    uint64_t begin = now_ns();
    for (uint64_t pass = 0; pass < passes; pass++) {
        uint64_t own = 0;
        if (guided) {
#pragma omp parallel for schedule(guided, chunk) num_threads(threads) reduction(+ : own)
            for (size_t i = 0; i < n; i++) own += item(steps, i);
        } else {
#pragma omp parallel for schedule(dynamic, chunk) num_threads(threads) reduction(+ : own)
            for (size_t i = 0; i < n; i++) own += item(steps, i);
        }
        all += own;
    }
    uint64_t elapsed = now_ns() - begin;
    dismiss_team();
    *sum += all;
    return elapsed;
}
