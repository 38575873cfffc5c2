//! The kernels that measure.
//!
//! The one module of the program with `unsafe`: to implement the traits of kernels is to promise that their accesses are ordered.
#![expect(unsafe_code, reason = "kernels are unsafe to implement")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use gridwise::{
    Error,
    host::{
        launch::{Blocks, LaunchError},
        queue::Queue,
    },
    kernel::{Acc, GridAcc, GridKernel, Kernel, Phase, Phased, SpanMut},
};

/// Does nothing.
#[repr(C)]
pub(super) struct Nothing;

// SAFETY: it accesses nothing.
unsafe impl Kernel for Nothing {
    const NAME: &'static str = "bench_launch";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {}
}

/// Barriers, one after another: of the grid in a cooperative launch, in a plain one of each block for itself.
#[repr(C)]
struct Barriers<'a> {
    rounds: u64,
    /// One element.
    nanoseconds: SpanMut<'a, u64>,
}

impl Barriers<'_> {
    #[inline(always)]
    fn time<A: Acc>(self, acc: A, barrier: impl Fn()) {
        barrier();
        let start = Instant::now();
        for _ in 0..self.rounds {
            barrier();
        }
        let took = start.elapsed();
        if acc.block_index() == 0 && acc.thread_index() == 0 {
            self.nanoseconds.set(acc, 0, took.as_nanos() as u64);
        }
    }
}

// SAFETY: one thread writes; all meet the same barriers.
unsafe impl GridKernel for Barriers<'_> {
    const NAME: &'static str = "bench_grid_barrier";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        self.time(acc, || acc.sync_grid());
    }
}

// SAFETY: as above.
unsafe impl Kernel for Barriers<'_> {
    const NAME: &'static str = "bench_block_barrier";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.time(acc, || acc.sync_block());
    }
}

/// Steps of one phase, in which each thread walks a [`chain`] of that many links.
#[repr(C)]
pub(super) struct Chains {
    pub(super) steps: u64,
    pub(super) links: u64,
}

// SAFETY: it accesses no memory.
unsafe impl Phased for Chains {
    const NAME: &'static str = "bench_phases";
    type Shared = ();
    const PHASES: usize = 1;

    fn phase<A: Acc>(self, _: A, _: (), _: Phase) {
        chain(self.links);
    }

    fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
        step as u64 + 1 < self.steps
    }
}

/// Work of a known length: operations that each need the one before. A loop that watched the clock would end at a multiple of what
/// a look at it takes, which is a large part of a barrier.
#[inline(always)]
fn chain(links: u64) {
    let mut value = black_box(1_u64);
    for _ in 0..links {
        value = (value ^ (value >> 29)).wrapping_mul(6_364_136_223_846_793_005);
    }
    black_box(value);
}

/// How long a link of a chain takes, in nanoseconds, by the fastest of several measurements: disturbances only ever add.
pub(super) fn nanoseconds_of_a_link() -> f64 {
    const LINKS: u64 = 100_000;
    let measure = || {
        let start = Instant::now();
        chain(LINKS);
        start.elapsed()
    };
    let fastest = (0..21).map(|_| measure()).min().unwrap_or_default();
    // In a debug build and on a slow clock, too, it is some positive time.
    (fastest.as_nanos().max(1)) as f64 / LINKS as f64
}

/// How long `rounds` grid barriers of all resident blocks take.
pub(super) fn grid_barriers(queue: &Queue, rounds: u64) -> Result<Duration, Error> {
    timed(queue, |nanoseconds| {
        queue.launch_cooperative(Blocks::Resident, Barriers { rounds, nanoseconds })
    })
}

/// How long `rounds` block barriers take.
pub(super) fn block_barriers(queue: &Queue, rounds: u64) -> Result<Duration, Error> {
    timed(queue, |nanoseconds| {
        queue.launch(Blocks::Resident, Barriers { rounds, nanoseconds })
    })
}

fn timed(queue: &Queue, launch: impl FnOnce(SpanMut<'_, u64>) -> Result<(), LaunchError>) -> Result<Duration, Error> {
    let mut nanoseconds = queue.device().zeroed::<u64>(1)?;
    launch(nanoseconds.span_mut())?;
    Ok(Duration::from_nanos(queue.download(&nanoseconds)?[0]))
}
