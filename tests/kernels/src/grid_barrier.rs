//! Kernels of the suite `grid_barrier`.

use gridwise::prelude::*;

use crate::support::skew;

/// Adds one and moves everything one place, from one array to the other and back.
#[repr(C)]
pub struct Rotate<'a> {
    pub rounds: usize,
    pub skew: usize,
    pub arrays: [SpanMut<'a, u32>; 2],
}

// SAFETY: in a round each thread writes its own elements of one array and all read the other; a grid barrier separates rounds.
unsafe impl GridKernel for Rotate<'_> {
    const NAME: &'static str = "rotate";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let n = self.arrays[0].len();
        for round in 0..self.rounds {
            let (from, to) = (&self.arrays[round % 2], &self.arrays[(round + 1) % 2]);
            skew(self.skew * ((acc.block_index() + round) % 3));
            for i in acc.threads_in_grid(0..n) {
                to.set(acc, i, from.get(acc, (i + 1) % n) + 1);
            }
            skew(self.skew * ((acc.thread_index() + round) % 2));
            acc.sync_grid();
        }
    }
}

/// Every thread stores; after the barrier every thread adds up what all have stored.
#[repr(C)]
pub struct AllSeeAll<'a> {
    pub rounds: u32,
    pub stored: [SpanMut<'a, u32>; 2],
    pub wrong: SpanMut<'a, u32>,
}

// SAFETY: each thread stores its own element of the round's array, which all read after the barrier; the array is stored to
// again two rounds later, past another barrier.
unsafe impl GridKernel for AllSeeAll<'_> {
    const NAME: &'static str = "all_see_all";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let thread = acc.thread_index_in_grid();
        let all = acc.thread_count_in_grid();
        for round in 1..=self.rounds {
            let stored = &self.stored[round as usize % 2];
            stored.set(acc, thread, round + thread as u32);
            acc.sync_grid();
            let wrong = (0..all).filter(|&other| stored.get(acc, other) != round + other as u32);
            self.wrong
                .atomic(0)
                .fetch_add(acc, wrong.count() as u32, Ordering::Relaxed);
        }
    }
}

/// Meets a few times; then one block fails while the others wait at the next barrier.
#[repr(C)]
pub struct FailsBetween {
    pub rounds: usize,
    pub failing_block: usize,
}

// SAFETY: it touches no memory.
unsafe impl GridKernel for FailsBetween {
    const NAME: &'static str = "fails_between";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        for _ in 0..self.rounds {
            acc.sync_grid();
        }
        assert!(acc.block_index() != self.failing_block, "on purpose");
        acc.sync_grid();
    }
}

/// Block `b` meets `1 + b` times, or leaves at once.
#[repr(C)]
pub struct Uneven {
    pub leave_at_once: bool,
}

// SAFETY: it touches no memory. That blocks do not meet the same barriers is what is tested.
unsafe impl GridKernel for Uneven {
    const NAME: &'static str = "uneven";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        if self.leave_at_once && acc.block_index() == 1 {
            return;
        }
        acc.sync_grid();
        if !self.leave_at_once && acc.block_index() > 0 {
            acc.sync_grid();
        }
    }
}

/// Each block halves its own residual until it is small; together, or each for itself.
#[repr(C)]
pub struct Residuals<'a> {
    pub together: bool,
    pub steps: SpanMut<'a, u32>,
}

// SAFETY: each block's first thread writes its own element. That blocks decide differently is what is tested.
unsafe impl GridKernel for Residuals<'_> {
    const NAME: &'static str = "residuals";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let mut own = 1.0 + 100.0 * acc.block_index() as f64;
        let mut steps = 0;
        loop {
            own /= 2.0;
            steps += 1;
            let largest = acc.reduce_grid(own, f64::max);
            if (if self.together { largest } else { own }) < 1.0 {
                break;
            }
        }
        if acc.thread_index() == 0 {
            self.steps.set(acc, acc.block_index(), steps);
        }
    }
}
