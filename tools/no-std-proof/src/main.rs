//! A program without std whose kernels come from the kernel half of the library.
//!
//! If the library pulled std in, there would be two panic handlers, and this would not build. It runs too: it computes what
//! the host half computes before a launch, and its exit code says whether that is right.
#![no_std]
#![no_main]

use core::{ffi::c_int, panic::PanicInfo};

use gridwise::{
    kernel::{
        domain::Domain,
        grid_barrier::{BarrierShape, GridState},
    },
    prelude::*,
};

/// A kernel that uses what there is to use: it has to compile without std.
#[repr(C)]
struct Tile<'a> {
    input: Span<'a, f32>,
    out: SpanMut<'a, f32>,
    dynamic_len: usize,
}

// SAFETY: `tile` is written and read in phases separated by block barriers; `out[i]` is written by the one thread that owns it.
unsafe impl Kernel for Tile<'_> {
    const NAME: &'static str = "tile";
    type Shared = (SharedArray<f32, 16>, DynamicShared<u32>);

    fn dynamic_len(&self) -> usize {
        self.dynamic_len
    }

    fn run<A: Acc>(self, acc: A, (tile, counts): Self::Shared) {
        for frame in acc.blocks_in_grid(0..self.out.len(), tile.len()) {
            let (input, out) = (&self.input[frame.clone()], self.out.slice(acc, frame));
            for i in acc.threads_in_block(0..input.len()) {
                tile.set(acc, i, input[i]);
            }
            acc.sync_block();
            counts.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
            let most = acc.reduce_block(acc.thread_index(), usize::max);
            for i in acc.threads_in_block(0..input.len()) {
                out.set(acc, i, tile.get(acc, i) + most as f32);
            }
            acc.sync_block();
        }
    }
}

/// The same for a kernel that synchronises the grid.
#[repr(C)]
struct Meeting;

// SAFETY: it accesses nothing; all threads meet the same barriers.
unsafe impl GridKernel for Meeting {
    const NAME: &'static str = "meeting";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        acc.sync_grid();
        acc.reduce_grid(1_u32, |a, b| a + b);
    }
}

/// The same for a kernel in phases.
#[repr(C)]
struct Phases;

// SAFETY: it accesses nothing.
unsafe impl Phased for Phases {
    const NAME: &'static str = "phases";
    type Shared = ();
    const PHASES: usize = 2;

    fn phase<A: Acc>(self, acc: A, _: (), _: Phase) {
        acc.fence(Ordering::AcqRel, Scope::Device);
    }

    fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
        step < 2
    }
}

fn names<K: Kernel, G: GridKernel, P: Phased>() -> usize {
    K::NAME.len() + G::NAME.len() + P::NAME.len() + P::PHASES
}

/// Called by the C library's start code.
#[unsafe(no_mangle)]
extern "C" fn main() -> c_int {
    let right = names::<Tile<'_>, Meeting, Phases>() == 4 + 7 + 6 + 2
        && [0..100, 0..33].frames([16, 16]) == 7 * 3
        && GridState::slots(3) == 6
        && BarrierShape::Tree.words(3) > 0;
    c_int::from(!right)
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    loop {}
}

// What is linked without std has to be asked for: the C library, which calls `main`.
#[link(name = "c")]
unsafe extern "C" {}

/// core was compiled to unwind, and so names this routine. With `panic = "abort"` nothing calls it.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
