//! Grid barriers.

use super::device;
use crate::peers::barrier::measure_with;
use gridwise::host::{device::WaitPolicy, queue::QueueOptions};
use gridwise::kernel::grid_barrier::BarrierShape;
use gridwise::prelude::*;
use std::time::Duration;

#[repr(C)]
struct Rounds<'a> {
    rounds: u64,
    work: u64,
    nanoseconds: SpanMut<'a, u64>,
}

// SAFETY: one thread writes the result; all meet the same barriers.
unsafe impl GridKernel for Rounds<'_> {
    const NAME: &'static str = "bench_grid_barrier";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let elapsed = measure_with(acc.block_index(), self.rounds, self.work, || acc.sync_grid());
        if acc.block_index() == 0 {
            self.nanoseconds.set(acc, 0, elapsed.as_nanos() as u64);
        }
    }
}

#[repr(C)]
struct Reductions<'a> {
    rounds: u64,
    nanoseconds: SpanMut<'a, u64>,
}

// SAFETY: as above.
unsafe impl GridKernel for Reductions<'_> {
    const NAME: &'static str = "bench_grid_reduction";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let mut value = 1.0;
        let elapsed = measure_with(acc.block_index(), self.rounds, 0, || {
            value = acc.reduce_grid(value, |a: f64, b| 0.5 * (a + b));
        });
        if acc.block_index() == 0 {
            self.nanoseconds
                .set(acc, 0, elapsed.as_nanos() as u64 + (value * 1e-9) as u64);
        }
    }
}

fn on_device(
    blocks: usize,
    shape: BarrierShape,
    run: impl FnOnce(&Queue, SpanMut<'_, u64>) -> Result<(), LaunchError>,
) -> Duration {
    let device = device(blocks, WaitPolicy::Active);
    let queue = device.queue_with(QueueOptions::default().barrier(shape));
    let mut nanoseconds = device.zeroed::<u64>(1).expect("eight bytes");
    run(&queue, nanoseconds.span_mut()).expect("all blocks are resident");
    Duration::from_nanos(nanoseconds.span()[0])
}

/// `rounds` grid barriers of `blocks` blocks, `work` steps of work before each.
pub fn grid_barrier(blocks: usize, shape: BarrierShape, rounds: u64, work: u64) -> Duration {
    on_device(blocks, shape, |queue, nanoseconds| {
        queue.launch_cooperative(
            Blocks::Exactly(blocks),
            Rounds {
                rounds,
                work,
                nanoseconds,
            },
        )
    })
}

/// `rounds` grid reductions of a number a block.
pub fn grid_reduction(blocks: usize, shape: BarrierShape, rounds: u64) -> Duration {
    on_device(blocks, shape, |queue, nanoseconds| {
        queue.launch_cooperative(Blocks::Exactly(blocks), Reductions { rounds, nanoseconds })
    })
}
