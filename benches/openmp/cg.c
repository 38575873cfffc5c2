/* Conjugate gradients with a Jacobi preconditioner on a CSR matrix: one persistent region, three barriers a step. */
#include "common.h"
#include <math.h>

typedef struct {
    _Alignas(128) double value;
} partial;

static double total(const partial *partials, int threads) {
    double sum = 0;
    for (int i = 0; i < threads; i++) sum += partials[i].value;
    return sum;
}

/* x starts at zero and holds the solution at the end; *norm is the length of the residual after `steps` steps. */
uint64_t gridwise_omp_cg(int threads, size_t rows, const uint32_t *restrict offsets, const uint32_t *restrict columns,
                         const double *restrict values, const double *restrict inverse_diagonal, const double *restrict b,
                         uint64_t steps, double *restrict x, double *norm, pin_function pin) {
    double *scratch = malloc(4 * rows * sizeof(double));
    partial *partials = aligned_alloc(128, 3 * (size_t)threads * sizeof(partial));
    if (!scratch || !partials) abort();
    double *restrict r = scratch, *restrict z = scratch + rows, *restrict p = scratch + 2 * rows, *restrict q = scratch + 3 * rows;
    partial *of_pq = partials, *of_rz = partials + threads, *of_rr = partials + 2 * threads;
    uint64_t start = 0, stop = 0;
    gather_team(threads, pin);
#pragma omp parallel num_threads(threads)
    {
        int rank = omp_get_thread_num();
        size_t begin, end;
        share(rows, (size_t)rank, (size_t)threads, &begin, &end);
        double sum = 0, square = 0;
        for (size_t i = begin; i < end; i++) {
            x[i] = 0;
            q[i] = 0;
            r[i] = b[i];
            z[i] = r[i] * inverse_diagonal[i];
            p[i] = z[i];
            sum += r[i] * z[i];
            square += r[i] * r[i];
        }
        of_rz[rank].value = sum;
        of_rr[rank].value = square;
#pragma omp barrier
        double rz = total(of_rz, threads);
        /* Everybody has read the first sums before a step overwrites them. */
#pragma omp barrier
#pragma omp master
        start = now_ns();
        for (uint64_t step = 0; step < steps; step++) {
            sum = 0;
            for (size_t i = begin; i < end; i++) {
                double row = 0;
                for (uint32_t k = offsets[i]; k < offsets[i + 1]; k++) row += values[k] * p[columns[k]];
                q[i] = row;
                sum += p[i] * row;
            }
            of_pq[rank].value = sum;
#pragma omp barrier
            double alpha = rz / total(of_pq, threads);
            sum = 0;
            square = 0;
            for (size_t i = begin; i < end; i++) {
                x[i] += alpha * p[i];
                r[i] -= alpha * q[i];
                z[i] = r[i] * inverse_diagonal[i];
                sum += r[i] * z[i];
                square += r[i] * r[i];
            }
            of_rz[rank].value = sum;
            of_rr[rank].value = square;
#pragma omp barrier
            double next = total(of_rz, threads), beta = next / rz;
            rz = next;
            for (size_t i = begin; i < end; i++) p[i] = z[i] + beta * p[i];
#pragma omp barrier
        }
#pragma omp master
        {
            stop = now_ns();
            *norm = sqrt(total(of_rr, threads));
        }
    }
    dismiss_team();
    free(partials);
    free(scratch);
    return stop - start;
}
