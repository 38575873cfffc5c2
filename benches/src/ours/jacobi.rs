//! Jacobi iteration on a grid of f32.

use super::device;
use crate::peers::jacobi::{Run, initial, relax_rows};
use gridwise::host::{device::WaitPolicy, phases::RunOptions};
use gridwise::prelude::*;
use std::time::{Duration, Instant};

/// Rows lent out as plain slices, and the very loop of the peers.
pub const SLICES: usize = 0;
/// Runs of indices, and spans.
pub const SPANS: usize = 1;
/// Indices of two dimensions, in a closure.
pub const INDICES: usize = 2;
/// Indices of two dimensions, in a `for` loop.
pub const INDICES_ONE_BY_ONE: usize = 3;

/// The inner points of one array from those of the other; a step is one phase. `FORM` says how the inner loops are written.
#[repr(C)]
struct Jacobi<'a, const FORM: usize> {
    n: usize,
    steps: usize,
    grids: [SpanMut<'a, f32>; 2],
}

impl<const FORM: usize> Jacobi<'_, FORM> {
    #[inline(always)]
    fn step<A: Acc>(&self, acc: A, step: usize) {
        match FORM {
            SLICES => self.step_in_slices(acc, step),
            SPANS => self.step_in_spans(acc, step),
            INDICES => self.step_in_indices(acc, step),
            _ => self.step_one_by_one(acc, step),
        }
    }

    #[inline(always)]
    fn step_in_slices<A: Acc>(&self, acc: A, step: usize) {
        let n = self.n;
        let (from, to) = (&self.grids[step % 2], &self.grids[(step + 1) % 2]);
        for rows in acc.runs_in_grid(1..n - 1) {
            let from = from.slice(acc, (rows.start - 1) * n..(rows.end + 1) * n);
            let to = to.slice(acc, rows.start * n..rows.end * n);
            // SAFETY: nobody writes to this array before the next barrier.
            let from = unsafe { from.as_slice(acc) };
            // SAFETY: these rows of this array are this thread's alone until the next barrier.
            let to = unsafe { to.as_mut_slice(acc) };
            relax_rows(n, from, to);
        }
    }

    #[inline(always)]
    fn step_in_spans<A: Acc>(&self, acc: A, step: usize) {
        let n = self.n;
        let (from, to) = (&self.grids[step % 2], &self.grids[(step + 1) % 2]);
        for run in acc.runs_in_grid([1..n - 1, 1..n - 1]) {
            let first = run.start[0] * n + run.start[1];
            let row = |offset: usize| from.slice(acc, offset..offset + run.len);
            let (above, below, left, right) = (row(first - n), row(first + n), row(first - 1), row(first + 1));
            let out = to.slice(acc, first..first + run.len);
            for j in 0..run.len {
                let vertical = above.get(acc, j) + below.get(acc, j);
                let horizontal = left.get(acc, j) + right.get(acc, j);
                out.set(acc, j, 0.25 * (vertical + horizontal));
            }
        }
    }

    /// The arrays by value: through a reference that a step chooses, each access would look up where the array lies.
    #[inline(always)]
    fn arrays<A: Acc>(&self, acc: A, step: usize) -> [SpanMut<'_, f32>; 2] {
        [step, step + 1].map(|at| self.grids[at % 2].slice(acc, ..))
    }

    #[inline(always)]
    fn step_in_indices<A: Acc>(&self, acc: A, step: usize) {
        let (n, [from, to]) = (self.n, self.arrays(acc, step));
        acc.threads_in_grid([1..n - 1, 1..n - 1])
            .for_each(|point| relax(acc, n, &from, &to, point));
    }

    #[inline(always)]
    fn step_one_by_one<A: Acc>(&self, acc: A, step: usize) {
        let (n, [from, to]) = (self.n, self.arrays(acc, step));
        for point in acc.threads_in_grid([1..n - 1, 1..n - 1]) {
            relax(acc, n, &from, &to, point);
        }
    }
}

#[inline(always)]
fn relax<A: Acc>(acc: A, n: usize, from: &SpanMut<'_, f32>, to: &SpanMut<'_, f32>, [row, column]: [usize; 2]) {
    let here = row * n + column;
    let vertical = from.get(acc, here - n) + from.get(acc, here + n);
    let horizontal = from.get(acc, here - 1) + from.get(acc, here + 1);
    to.set(acc, here, 0.25 * (vertical + horizontal));
}

// SAFETY: in a step each thread writes its own points of one array and all read the other; a grid barrier separates steps.
unsafe impl<const FORM: usize> GridKernel for Jacobi<'_, FORM> {
    const NAME: &'static str = "bench_jacobi";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        for step in 0..self.steps {
            self.step(acc, step);
            acc.sync_grid();
        }
    }
}

// SAFETY: as above, with the boundary of a phase for the barrier.
unsafe impl<const FORM: usize> Phased for Jacobi<'_, FORM> {
    const NAME: &'static str = "bench_jacobi_phases";
    type Shared = ();
    const PHASES: usize = 1;

    fn phase<A: Acc>(self, acc: A, _: (), at: Phase) {
        self.step(acc, at.step);
    }

    fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
        step + 1 < self.steps
    }
}

fn on_device<const FORM: usize>(
    n: usize,
    steps: u64,
    workers: usize,
    run: impl FnOnce(&Queue, Jacobi<'_, FORM>) -> Result<(), gridwise::Error>,
) -> Run {
    let device = device(workers, WaitPolicy::Active);
    let queue = device.queue();
    let [mut a, mut b] = [(); 2].map(|()| queue.upload(&initial(n)).expect("a small grid"));
    let start = Instant::now();
    let kernel = Jacobi {
        n,
        steps: steps as usize,
        grids: [a.span_mut(), b.span_mut()],
    };
    run(&queue, kernel).expect("the grid is resident");
    let elapsed = start.elapsed();
    let last = if steps.is_multiple_of(2) { &a } else { &b };
    Run {
        elapsed,
        grid: queue.download(last).expect("a small grid"),
    }
}

/// One cooperative launch, a grid barrier after each step; the inner loops in a form of [`SLICES`] and so on.
pub fn persistent<const FORM: usize>(n: usize, steps: u64, workers: usize) -> Run {
    on_device::<FORM>(n, steps, workers, |queue, kernel| {
        Ok(queue.launch_cooperative(Blocks::Resident, kernel)?)
    })
}

/// As phases, over slices.
pub fn phases(n: usize, steps: u64, workers: usize, strategy: Strategy) -> Duration {
    let options = RunOptions::default().strategy(strategy);
    on_device::<SLICES>(n, steps, workers, |queue, kernel| queue.run(kernel, options).map(drop)).elapsed
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::peers::jacobi::serial;

    #[test]
    fn gridwise_gives_the_bits_of_the_serial_loop() {
        for (n, steps, workers) in [(3, 1, 1), (17, 5, 2), (64, 20, 3)] {
            let expected = serial(n, steps).grid;
            let runs = [
                persistent::<SLICES>(n, steps, workers),
                persistent::<SPANS>(n, steps, workers),
                persistent::<INDICES>(n, steps, workers),
                persistent::<INDICES_ONE_BY_ONE>(n, steps, workers),
            ];
            for (form, run) in runs.iter().enumerate() {
                assert_eq!(run.grid, expected, "form {form}, {n}² on {workers}");
            }
        }
    }
}
