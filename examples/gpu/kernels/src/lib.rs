//! Kernels, for the CPU and for GPUs alike. `no_std`, because a GPU has none.
#![no_std]

use gridwise::kernel::prelude::*;

/// Each element becomes one more than its right neighbour, `rounds` times over, in one launch.
#[repr(C)]
pub struct Rotate<'a> {
    pub arrays: [SpanMut<'a, u32>; 2],
    pub rounds: usize,
}

// SAFETY: in a round each thread writes its own elements of one array, and all read the other; a grid barrier parts the rounds.
unsafe impl GridKernel for Rotate<'_> {
    const NAME: &'static str = "rotate";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let n = self.arrays[0].len();
        let [even, odd] = &self.arrays;
        for round in 0..self.rounds {
            let (from, to) = if round % 2 == 0 { (even, odd) } else { (odd, even) };
            for i in acc.threads_in_grid(0..n) {
                to.set(acc, i, from.get(acc, (i + 1) % n) + 1);
            }
            acc.sync_grid();
        }
    }
}

/// `y` becomes `a x + y`.
#[repr(C)]
pub struct Axpy<'a> {
    pub a: f32,
    pub x: Span<'a, f32>,
    pub y: SpanMut<'a, f32>,
}

// SAFETY: `y[i]` is read and written by the one thread that owns `i`.
unsafe impl Kernel for Axpy<'_> {
    const NAME: &'static str = "axpy";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.y.len()) {
            self.y.set(acc, i, self.a * self.x[i] + self.y.get(acc, i));
        }
    }
}

gridwise::export! {
    /// What is compiled for GPUs.
    pub KERNELS:
    "rotate" = grid_kernel Rotate<'static>;
    "axpy" = kernel Axpy<'static>;
}
