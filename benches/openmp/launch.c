/* An empty parallel region that every thread must really have run: each adds one to a counter on its own line. */
#include "common.h"

typedef struct {
    _Alignas(128) uint64_t value;
} counter;

static void launch(int threads, counter *counters) {
#pragma omp parallel num_threads(threads)
    {
        volatile uint64_t *own = &counters[omp_get_thread_num()].value;
        *own = *own + 1;
    }
}

/* Launches `launches` times. With `idle_ns` above 0 it waits busily for so long before each and writes each one's time to `each`; else it times all of
   them together and leaves `each` alone. Returns the time of the launches, 0 if some thread missed one. */
uint64_t gridwise_omp_launch(int threads, uint64_t launches, uint64_t idle_ns, uint64_t *each, pin_function pin) {
    counter *counters = aligned_alloc(128, sizeof(counter) * (size_t)threads);
    if (!counters) abort();
    for (int i = 0; i < threads; i++) counters[i].value = 0;
    gather_team(threads, pin);

    uint64_t warm_up = launches / 10 + 1, elapsed = 0;
    for (uint64_t i = 0; i < warm_up; i++) launch(threads, counters);
    if (idle_ns == 0) {
        uint64_t begin = now_ns();
        for (uint64_t i = 0; i < launches; i++) launch(threads, counters);
        elapsed = now_ns() - begin;
    } else {
        for (uint64_t i = 0; i < launches; i++) {
            uint64_t idle_until = now_ns() + idle_ns;
            while (now_ns() < idle_until) {
            }
            uint64_t begin = now_ns();
            launch(threads, counters);
            each[i] = now_ns() - begin;
            elapsed += each[i];
        }
    }
    dismiss_team();

    for (int i = 0; i < threads; i++)
        if (counters[i].value != warm_up + launches) elapsed = 0;
    free(counters);
    return elapsed;
}
