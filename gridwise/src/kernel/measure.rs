//! Kernels that measure what a barrier and a launch take, on whichever device.

use super::{Acc, GridAcc, GridKernel, Kernel, SpanMut};

/// Rounds of a measurement.
pub(crate) const ROUNDS: usize = 64;

/// Times grid barriers.
#[repr(C)]
#[doc(hidden)]
pub struct Barriers<'a> {
    /// One element.
    pub(crate) nanoseconds: SpanMut<'a, u64>,
}

// SAFETY: one thread writes; all meet the same barriers.
unsafe impl GridKernel for Barriers<'_> {
    const NAME: &'static str = "gridwise_measure_barriers";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        acc.sync_grid();
        let start = acc.clock();
        for _ in 0..ROUNDS {
            acc.sync_grid();
        }
        if acc.block() == 0 && acc.thread() == 0 {
            self.nanoseconds.set(acc, 0, acc.clock() - start);
        }
    }
}

/// Does nothing but what a phase that is launched by itself does beside its work: its block meets before and after.
#[repr(C)]
#[doc(hidden)]
pub struct Nothing;

// SAFETY: it accesses nothing, and all threads meet the same barriers.
unsafe impl Kernel for Nothing {
    const NAME: &'static str = "gridwise_measure_launch";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        acc.sync_block();
        acc.sync_block();
    }
}
