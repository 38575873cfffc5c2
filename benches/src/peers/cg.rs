//! Conjugate gradients with a Jacobi preconditioner on a CSR matrix, for a fixed number of steps.
//!
//! A step has three parts, each needing all of the one before: the product q = A p with p·q; x, r and z = r / diagonal with r·z and r·r; the new
//! direction p. Sums are taken per thread, so peers differ in the last bits.

use super::barrier::Barrier;
use super::poisson::{Csr, poisson_2d};
use super::shared::SharedSlice;
use super::{rayon_pool, team};
use crossbeam_utils::CachePadded;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A x = b.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The matrix A.
    pub matrix: Csr,
    /// One over its diagonal.
    pub inverse_diagonal: Vec<f64>,
    /// The right-hand side.
    pub b: Vec<f64>,
}

impl Problem {
    /// The 2-D Poisson matrix on n × n with an uneven right-hand side.
    pub fn poisson(n: usize) -> Self {
        let matrix = poisson_2d(n);
        let b = (0..matrix.rows())
            .map(|row| 1.0 + (row * 7 % 13) as f64 / 13.0)
            .collect();
        Self {
            inverse_diagonal: matrix.inverse_diagonal(),
            matrix,
            b,
        }
    }

    /// The length of b - A x, computed from scratch.
    pub fn residual(&self, x: &[f64]) -> f64 {
        let squares = self
            .b
            .iter()
            .enumerate()
            .map(|(row, b)| (b - self.matrix.row_times(row, x)).powi(2));
        squares.sum::<f64>().sqrt()
    }
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The time of the steps alone.
    pub elapsed: Duration,
    /// The approximate solution.
    pub x: Vec<f64>,
    /// The length of the residual that the iteration carries along.
    pub norm: f64,
}

/// x = 0 and what follows from it, all of it touched.
struct State {
    x: Vec<f64>,
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    q: Vec<f64>,
    rz: f64,
    rr: f64,
}

impl State {
    fn new(problem: &Problem) -> Self {
        let r = problem.b.clone();
        let z: Vec<f64> = r
            .iter()
            .zip(&problem.inverse_diagonal)
            .map(|(r, inverse)| r * inverse)
            .collect();
        // Cloned and then cleared: zeroed memory would be touched for the first time inside the measurement.
        let zeros = || {
            let mut zeros = r.clone();
            zeros.fill(0.0);
            zeros
        };
        let rz = r.iter().zip(&z).map(|(r, z)| r * z).sum();
        let rr = r.iter().map(|r| r * r).sum();
        Self {
            x: zeros(),
            q: zeros(),
            p: z.clone(),
            z,
            r,
            rz,
            rr,
        }
    }

    fn into_solution(self, elapsed: Duration) -> Solution {
        Solution {
            elapsed,
            x: self.x,
            norm: self.rr.sqrt(),
        }
    }
}

/// q = A p for the rows from `first` on, as many as `q` has; returns their part of p·q.
#[inline(always)]
fn multiply(matrix: &Csr, first: usize, p: &[f64], q: &mut [f64]) -> f64 {
    let own = &p[first..][..q.len()];
    let mut sum = 0.0;
    for (i, (q, p_own)) in q.iter_mut().zip(own).enumerate() {
        *q = matrix.row_times(first + i, p);
        sum += p_own * *q;
    }
    sum
}

/// The same rows of every vector but the matrix.
struct Rows<'a> {
    x: &'a mut [f64],
    r: &'a mut [f64],
    z: &'a mut [f64],
    p: &'a [f64],
    q: &'a [f64],
    inverse_diagonal: &'a [f64],
}

/// A step of length `alpha` along p; returns these rows' parts of r·z and r·r.
#[inline(always)]
fn advance(alpha: f64, rows: Rows<'_>) -> (f64, f64) {
    let n = rows.x.len();
    let (x, r, z) = (rows.x, &mut rows.r[..n], &mut rows.z[..n]);
    let (p, q, inverse_diagonal) = (&rows.p[..n], &rows.q[..n], &rows.inverse_diagonal[..n]);
    let (mut rz, mut rr) = (0.0, 0.0);
    for i in 0..n {
        x[i] += alpha * p[i];
        r[i] -= alpha * q[i];
        z[i] = r[i] * inverse_diagonal[i];
        rz += r[i] * z[i];
        rr += r[i] * r[i];
    }
    (rz, rr)
}

/// p = z + beta p.
#[inline(always)]
fn turn(beta: f64, z: &[f64], p: &mut [f64]) {
    for (p, z) in p.iter_mut().zip(z) {
        *p = z + beta * *p;
    }
}

/// One thread, by hand.
pub fn serial(problem: &Problem, steps: u64) -> Solution {
    let mut state = State::new(problem);
    let start = Instant::now();
    for _ in 0..steps {
        let State {
            x,
            r,
            z,
            p,
            q,
            rz: old,
            rr,
        } = &mut state;
        let pq = multiply(&problem.matrix, 0, p, q);
        let (rz, next_rr) = advance(
            *old / pq,
            Rows {
                x,
                r,
                z,
                p,
                q,
                inverse_diagonal: &problem.inverse_diagonal,
            },
        );
        turn(rz / *old, z, p);
        (*old, *rr) = (rz, next_rr);
    }
    let elapsed = start.elapsed();
    state.into_solution(elapsed)
}

/// One number a thread, each on its own line; barriers stand between writing and reading.
struct Partials(Vec<CachePadded<AtomicU64>>);

impl Partials {
    fn new(threads: usize) -> Self {
        Self((0..threads).map(|_| CachePadded::default()).collect())
    }

    #[inline(always)]
    fn set(&self, rank: usize, value: f64) {
        self.0[rank].store(value.to_bits(), Ordering::Relaxed);
    }

    /// In the order of ranks: every thread gets the same bits.
    #[inline(always)]
    fn total(&self) -> f64 {
        self.0
            .iter()
            .map(|part| f64::from_bits(part.load(Ordering::Relaxed)))
            .sum()
    }
}

/// A team of pinned threads that stays for all steps, three barriers each.
pub fn persistent<B: Barrier>(problem: &Problem, steps: u64, threads: usize) -> Solution {
    let mut state = State::new(problem);
    let (n, first_rz, first_rr) = (problem.matrix.rows(), state.rz, state.rr);
    let [x, r, z, p, q] =
        [&mut state.x, &mut state.r, &mut state.z, &mut state.p, &mut state.q].map(|v| SharedSlice::new(v));
    let [pq_parts, rz_parts, rr_parts] = [(); 3].map(|()| Partials::new(threads));
    let barrier = B::new(threads);
    let (elapsed, rr) = team::run(threads, |rank| {
        let mut ticket = B::Ticket::default();
        let own = team::share(n, rank, threads);
        // SAFETY: ranks own disjoint rows; nobody reads other rows of x.
        let x = unsafe { x.get_mut(own.clone()) };
        // SAFETY: as for x.
        let r = unsafe { r.get_mut(own.clone()) };
        // SAFETY: as for x.
        let z = unsafe { z.get_mut(own.clone()) };
        // SAFETY: as for x.
        let q = unsafe { q.get_mut(own.clone()) };
        let inverse_diagonal = &problem.inverse_diagonal[own.clone()];
        let (mut rz, mut rr) = (first_rz, first_rr);
        barrier.wait(&mut ticket);
        let start = Instant::now();
        for _ in 0..steps {
            // SAFETY: p is written after the second barrier of a step and before its third only; here everybody reads.
            let whole = unsafe { p.get(0..n) };
            pq_parts.set(rank, multiply(&problem.matrix, own.start, whole, q));
            barrier.wait(&mut ticket);
            let alpha = rz / pq_parts.total();
            let rows = Rows {
                x: &mut *x,
                r: &mut *r,
                z: &mut *z,
                p: &whole[own.clone()],
                q: &*q,
                inverse_diagonal,
            };
            let (rz_part, rr_part) = advance(alpha, rows);
            rz_parts.set(rank, rz_part);
            rr_parts.set(rank, rr_part);
            barrier.wait(&mut ticket);
            let next = rz_parts.total();
            // SAFETY: everybody has passed the second barrier, after which no rank reads rows of p that are not its own until the third.
            turn(next / rz, z, unsafe { p.get_mut(own.clone()) });
            rz = next;
            barrier.wait(&mut ticket);
        }
        let elapsed = start.elapsed();
        if steps > 0 {
            rr = rr_parts.total();
        }
        (elapsed, rr)
    });
    state.rr = rr;
    state.into_solution(elapsed)
}

/// rayon from inside the pool, three regions a step, one piece a thread.
pub fn rayon(problem: &Problem, steps: u64, threads: usize) -> Solution {
    let mut state = State::new(problem);
    let piece = problem.matrix.rows().div_ceil(threads).max(1);
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    let elapsed = pool.install(|| {
        let start = Instant::now();
        for _ in 0..steps {
            let State {
                x,
                r,
                z,
                p,
                q,
                rz: old,
                rr,
            } = &mut state;
            let products = q.par_chunks_mut(piece).enumerate();
            let pq: f64 = products
                .map(|(index, q)| multiply(&problem.matrix, index * piece, p, q))
                .sum();
            let alpha = *old / pq;
            let written = x
                .par_chunks_mut(piece)
                .zip(r.par_chunks_mut(piece))
                .zip(z.par_chunks_mut(piece));
            let read = p
                .par_chunks(piece)
                .zip(q.par_chunks(piece))
                .zip(problem.inverse_diagonal.par_chunks(piece));
            let parts = written.zip(read).map(|(((x, r), z), ((p, q), inverse_diagonal))| {
                advance(
                    alpha,
                    Rows {
                        x,
                        r,
                        z,
                        p,
                        q,
                        inverse_diagonal,
                    },
                )
            });
            let (rz, next_rr) = parts.reduce(|| (0.0, 0.0), |a, b| (a.0 + b.0, a.1 + b.1));
            let beta = rz / *old;
            p.par_chunks_mut(piece)
                .zip(z.par_chunks(piece))
                .for_each(|(p, z)| turn(beta, z, p));
            (*old, *rr) = (rz, next_rr);
        }
        start.elapsed()
    });
    state.into_solution(elapsed)
}

#[cfg(test)]
mod test {
    use super::super::barrier::{Monotonic, OneLine, Yield};
    use super::*;

    #[test]
    fn the_residual_falls_and_is_the_true_one() {
        let problem = Problem::poisson(16);
        let solution = serial(&problem, 60);
        let start = problem.residual(&vec![0.0; 256]);
        assert!(solution.norm < 1e-8 * start, "{} of {start}", solution.norm);
        assert!(problem.residual(&solution.x) < 1e-8 * start);
    }

    #[test]
    fn every_peer_agrees_with_serial() {
        for n in [1, 2, 5, 24] {
            for steps in [0, 1, 2, 20].into_iter().filter(|&steps| steps <= n as u64) {
                let problem = &Problem::poisson(n);
                let expected = serial(problem, steps);
                let check = |name: &str, run: &(dyn Fn() -> Solution + Sync)| {
                    // On a thread of its own: peers pin their caller.
                    let solution = std::thread::scope(|scope| scope.spawn(run).join().unwrap());
                    let scale = expected.x.iter().fold(1.0_f64, |largest, x| largest.max(x.abs()));
                    let difference = expected
                        .x
                        .iter()
                        .zip(&solution.x)
                        .map(|(a, b)| (a - b).abs())
                        .fold(0.0, f64::max);
                    assert!(difference <= 1e-10 * scale, "{name}, {n}², {steps} steps: {difference}");
                    assert!(
                        (solution.norm - expected.norm).abs() <= 1e-10 * scale,
                        "{name}, {n}², {steps} steps"
                    );
                };
                check("persistent", &|| persistent::<OneLine>(problem, steps, 2));
                check("persistent, yielding", &|| {
                    persistent::<Monotonic<Yield>>(problem, steps, 3)
                });
                check("rayon", &|| rayon(problem, steps, 2));
                #[cfg(openmp)]
                check("OpenMP", &|| super::super::openmp::cg(problem, steps, 2));
            }
        }
    }
}
