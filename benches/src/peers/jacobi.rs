//! Jacobi iteration with the 5-point stencil on an n × n grid of f32: the interior is updated from the step before, the boundary stays.
//!
//! Every peer gives the same bits as [`serial`]: the four neighbours are added in one order, and there is nothing to contract.

use super::barrier::Barrier;
#[cfg(feature = "fork_union")]
use super::fork_union_pool;
use super::shared::SharedSlice;
use super::spinning_pool::SpinningPool;
use super::{rayon_pool, team};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The time of the steps alone.
    pub elapsed: Duration,
    /// The grid after them, row by row.
    pub grid: Vec<f32>,
}

/// The start: a hot upper edge, a ramp on the left, something uneven inside.
pub fn initial(n: usize) -> Vec<f32> {
    let value = |i: usize, j: usize| match (i, j) {
        (0, _) => 100.0,
        (_, 0) => i as f32,
        _ => ((i * 31 + j * 17) % 23) as f32,
    };
    (0..n * n).map(|index| value(index / n, index % n)).collect()
}

/// New values of the inner elements of one row, from the row and its neighbours.
#[inline(always)]
pub fn relax_row(above: &[f32], row: &[f32], below: &[f32], out: &mut [f32]) {
    let n = out.len();
    if n < 3 {
        return;
    }
    // Slices of one length first: one check a row, none an element.
    let inner = n - 2;
    let (above, below) = (&above[1..][..inner], &below[1..][..inner]);
    let (left, right) = (&row[..inner], &row[2..][..inner]);
    let out = &mut out[1..][..inner];
    for j in 0..inner {
        out[j] = 0.25 * ((above[j] + below[j]) + (left[j] + right[j]));
    }
}

/// New values of whole rows of `n`: `from` begins one row before the first of `out` and ends one row after its last.
#[inline(always)]
pub fn relax_rows(n: usize, from: &[f32], out: &mut [f32]) {
    for (k, out) in out.chunks_exact_mut(n).enumerate() {
        let rows = &from[k * n..][..3 * n];
        relax_row(&rows[..n], &rows[n..2 * n], &rows[2 * n..], out);
    }
}

/// Two grids with the same boundary, both touched.
struct Grids {
    n: usize,
    from: Vec<f32>,
    to: Vec<f32>,
}

impl Grids {
    fn new(n: usize) -> Self {
        let from = initial(n);
        Self {
            n,
            to: from.clone(),
            from,
        }
    }

    /// How many rows are updated.
    fn inner(&self) -> usize {
        self.n.saturating_sub(2)
    }

    /// Runs `step` (from, inner rows of to) `steps` times, exchanging the grids in between.
    fn run(mut self, steps: u64, mut step: impl FnMut(&[f32], &mut [f32])) -> Run {
        let (n, inner) = (self.n, self.inner());
        let start = Instant::now();
        for _ in 0..steps {
            if inner > 0 {
                step(&self.from, &mut self.to[n..][..inner * n]);
            }
            std::mem::swap(&mut self.from, &mut self.to);
        }
        Run {
            elapsed: start.elapsed(),
            grid: self.from,
        }
    }

    /// As `run`, where `step` has a team of threads work on shares of the rows: it must call the function it gets once for each rank.
    fn run_in_shares(self, steps: u64, threads: usize, mut step: impl FnMut(&(dyn Fn(usize) + Sync))) -> Run {
        let (n, inner) = (self.n, self.inner());
        self.run(steps, |from, to| {
            let to = SharedSlice::new(to);
            step(&|rank| {
                let rows = team::share(inner, rank, threads);
                // SAFETY: shares of different ranks are disjoint, each rank runs once a step, and a step ends before the next begins.
                let out = unsafe { to.get_mut(rows.start * n..rows.end * n) };
                relax_rows(n, &from[rows.start * n..(rows.end + 2) * n], out);
            });
        })
    }
}

/// One thread, slices.
pub fn serial(n: usize, steps: u64) -> Run {
    Grids::new(n).run(steps, |from, to| relax_rows(n, from, to))
}

/// A team of pinned threads that stays for all steps, a barrier after each.
pub fn persistent<B: Barrier>(n: usize, steps: u64, threads: usize) -> Run {
    let mut grids = Grids::new(n);
    let inner = grids.inner();
    let shared = [SharedSlice::new(&mut grids.from), SharedSlice::new(&mut grids.to)];
    let barrier = B::new(threads);
    let elapsed = team::run(threads, |rank| {
        let mut ticket = B::Ticket::default();
        let rows = team::share(inner, rank, threads);
        let [mut from, mut to] = shared;
        barrier.wait(&mut ticket);
        let start = Instant::now();
        for _ in 0..steps {
            if !rows.is_empty() {
                // SAFETY: in this step nobody writes to `from`; the last step's writes are on the other side of a barrier.
                let source = unsafe { from.get(rows.start * n..(rows.end + 2) * n) };
                // SAFETY: ranks own disjoint rows, and nobody reads `to` before the barrier.
                let out = unsafe { to.get_mut((rows.start + 1) * n..(rows.end + 1) * n) };
                relax_rows(n, source, out);
            }
            barrier.wait(&mut ticket);
            std::mem::swap(&mut from, &mut to);
        }
        start.elapsed()
    });
    Run {
        elapsed,
        grid: if steps.is_multiple_of(2) { grids.from } else { grids.to },
    }
}

/// A launch of the spinning pool for each step.
pub fn spinning_pool(n: usize, steps: u64, threads: usize) -> Run {
    let mut pool = SpinningPool::new(threads);
    Grids::new(n).run_in_shares(steps, threads, |part| pool.launch(part))
}

/// A fork_union region for each step.
#[cfg(feature = "fork_union")]
pub fn fork_union(n: usize, steps: u64, threads: usize) -> Run {
    let mut pool = fork_union_pool(threads);
    // The operation runs when it is dropped.
    Grids::new(n).run_in_shares(steps, threads, |part| drop(pool.for_threads(|rank, _| part(rank))))
}

/// A rayon loop for each step, from inside the pool, one piece a thread.
pub fn rayon(n: usize, steps: u64, threads: usize) -> Run {
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    let grids = Grids::new(n);
    let rows = grids.inner().div_ceil(threads).max(1);
    pool.install(|| {
        grids.run(steps, |from, to| {
            to.par_chunks_mut(rows * n)
                .enumerate()
                .for_each(|(piece, out)| relax_rows(n, &from[piece * rows * n..], out));
        })
    })
}

#[cfg(test)]
mod test {
    use super::super::barrier::{Monotonic, OneLine, Yield};
    use super::*;

    /// The definition, element by element.
    fn by_definition(n: usize, steps: u64) -> Vec<f32> {
        let mut grid = initial(n);
        for _ in 0..steps {
            let from = grid.clone();
            for i in 1..n.max(1) - 1 {
                for j in 1..n - 1 {
                    let (vertical, horizontal) = (
                        from[(i - 1) * n + j] + from[(i + 1) * n + j],
                        from[i * n + j - 1] + from[i * n + j + 1],
                    );
                    grid[i * n + j] = 0.25 * (vertical + horizontal);
                }
            }
        }
        grid
    }

    #[test]
    fn every_peer_gives_the_bits_of_the_definition() {
        for n in [1, 2, 3, 4, 17, 33] {
            for steps in [0, 1, 8, 9] {
                let expected = by_definition(n, steps);
                let check = |name: &str, run: Run| assert!(run.grid == expected, "{name}, {n}², {steps} steps");
                check("serial", serial(n, steps));
                check(
                    "persistent",
                    on_its_own_thread(move || persistent::<OneLine>(n, steps, 2)),
                );
                check(
                    "persistent, yielding",
                    on_its_own_thread(move || persistent::<Monotonic<Yield>>(n, steps, 3)),
                );
                check("spinning pool", on_its_own_thread(move || spinning_pool(n, steps, 2)));
                #[cfg(feature = "fork_union")]
                check("fork_union", on_its_own_thread(move || fork_union(n, steps, 2)));
                check("rayon", rayon(n, steps, 3));
                #[cfg(openmp)]
                check(
                    "OpenMP",
                    on_its_own_thread(move || super::super::openmp::jacobi(n, steps, 2)),
                );
            }
        }
    }

    /// Peers pin their caller.
    fn on_its_own_thread(run: impl FnOnce() -> Run + Send + 'static) -> Run {
        std::thread::spawn(run).join().unwrap()
    }
}
