//! Kernels of the suite `phases`.

use gridwise::prelude::*;

/// Smooths a row of numbers from one array to the other and back; stops when they hardly change.
#[repr(C)]
pub struct Smooth<'a> {
    pub limit: f64,
    pub arrays: [SpanMut<'a, f64>; 2],
    /// What each index changed by in this step.
    pub changes: SpanMut<'a, f64>,
}

// SAFETY: a phase writes one array at each thread's own indices and reads the other; changes are written by the phase and read
// by `proceed`, before the next phase that writes them: phase 1 of the step after.
unsafe impl Phased for Smooth<'_> {
    const NAME: &'static str = "smooth";
    type Shared = ();
    const PHASES: usize = 2;

    fn phase<A: Acc>(self, acc: A, _: (), at: Phase) {
        let n = self.arrays[0].len();
        let (from, to) = (&self.arrays[at.index], &self.arrays[1 - at.index]);
        for i in acc.threads_in_grid(0..n) {
            let (left, here, right) = (
                from.get(acc, i.saturating_sub(1)),
                from.get(acc, i),
                from.get(acc, (i + 1).min(n - 1)),
            );
            let new = 0.3 * left + 0.4 * here + 0.3 * right;
            to.set(acc, i, new);
            if at.index == 1 {
                self.changes.set(acc, i, (new - here).abs());
            }
        }
    }

    fn proceed<A: Acc>(self, acc: A, _: usize) -> bool {
        (0..self.changes.len())
            .map(|i| self.changes.get(acc, i))
            .fold(0.0, f64::max)
            > self.limit
    }
}

/// Keeps a log of the phases: each is written by whoever does it last.
#[repr(C)]
pub struct Log<'a> {
    pub steps: usize,
    pub next: SpanMut<'a, u32>,
    pub log: SpanMut<'a, u64>,
}

// SAFETY: the first thread of block 0 alone writes; `proceed` reads nothing.
unsafe impl Phased for Log<'_> {
    const NAME: &'static str = "log";
    type Shared = ();
    const PHASES: usize = 3;

    fn phase<A: Acc>(self, acc: A, _: (), at: Phase) {
        if acc.block_index() == 0 && acc.thread_index() == 0 {
            let next = self.next.get(acc, 0);
            self.log.set(acc, next as usize, (10 * at.step + at.index) as u64);
            self.next.set(acc, 0, next + 1);
        }
    }

    fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
        step + 1 < self.steps
    }
}

/// Keeps a number a block on chip, adds to it in each phase, and stores it back.
#[repr(C)]
pub struct OnChip<'a> {
    pub steps: usize,
    pub numbers: SpanMut<'a, u64>,
}

// SAFETY: the first thread of a block alone uses the block's cell and its element; barriers surround enter and leave.
unsafe impl Phased for OnChip<'_> {
    const NAME: &'static str = "on_chip";
    type Shared = SharedArray<u64, 1>;
    const PHASES: usize = 2;

    fn enter<A: Acc>(self, acc: A, cell: Self::Shared) {
        if acc.thread_index() == 0 {
            cell.set(acc, 0, self.numbers.get(acc, acc.block_index()));
        }
    }

    fn phase<A: Acc>(self, acc: A, cell: Self::Shared, at: Phase) {
        if acc.thread_index() == 0 {
            cell.set(acc, 0, cell.get(acc, 0) * 3 + at.index as u64);
        }
    }

    fn leave<A: Acc>(self, acc: A, cell: Self::Shared) {
        if acc.thread_index() == 0 {
            self.numbers.set(acc, acc.block_index(), cell.get(acc, 0));
        }
    }

    fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
        step + 1 < self.steps
    }
}

/// Goes on for ever.
#[repr(C)]
pub struct Endless<'a> {
    pub count: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic.
unsafe impl Phased for Endless<'_> {
    const NAME: &'static str = "endless";
    type Shared = ();
    const PHASES: usize = 1;

    fn phase<A: Acc>(self, acc: A, _: (), _: Phase) {
        self.count.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
    }

    fn proceed<A: Acc>(self, _: A, _: usize) -> bool {
        true
    }
}
