//! The grid barrier, in every shape: it orders all memory between blocks, round after round, and its state is one launch's.

use std::thread;

use gridwise::{
    host::{
        queue::Queue,
        report::{HangCause, WaitFor},
    },
    kernel::grid_barrier::BarrierShape,
    prelude::*,
};

use conformance_kernels::grid_barrier::{AllSeeAll, FailsBetween, Residuals, Rotate, Uneven};

use crate::support::{allocations, cooperative_grids, is_checking, options, queue, several_blocks};

const SHAPES: [BarrierShape; 3] = [BarrierShape::Flip, BarrierShape::Counter, BarrierShape::Tree];

/// A queue for each shape.
fn queues(device: &Device) -> impl Iterator<Item = (BarrierShape, Queue)> {
    SHAPES
        .into_iter()
        .map(|shape| (shape, device.queue_with(options().barrier(shape))))
}

/// Runs an even number of rounds and checks the outcome.
fn rotate(queue: &Queue, grid: impl Into<gridwise::host::launch::Grid>, n: u32, rounds: u32, skew: usize) {
    let grid = grid.into();
    let mut a = queue.upload(&(0..n).collect::<Vec<u32>>()).unwrap();
    let mut b = queue.device().zeroed(n as usize).unwrap();
    let kernel = Rotate {
        rounds: rounds as usize,
        skew,
        arrays: [a.span_mut(), b.span_mut()],
    };
    queue.launch_cooperative(grid, kernel).unwrap();
    let expected: Vec<u32> = (0..n).map(|i| (i + rounds) % n + rounds).collect();
    assert_eq!(queue.download(&a).unwrap(), expected, "{grid:?}");
}

pub(crate) fn every_shape_orders_rounds_between_blocks(device: &Device) {
    for (_, queue) in queues(device) {
        for grid in cooperative_grids(device) {
            rotate(&queue, grid, 61, 50, 0);
        }
    }
}

// fault A11.5: the barrier that suits few members is another one than that for many; each is right for any number of them.
pub(crate) fn every_shape_meets_for_any_number_of_blocks(device: &Device) {
    for (_, queue) in queues(device) {
        for blocks in 1..=device.most_resident_blocks() {
            rotate(&queue, Blocks::Exactly(blocks), 23, 6, 0);
        }
    }
}

pub(crate) fn skewed_blocks_meet(device: &Device) {
    for (_, queue) in queues(device) {
        for grid in cooperative_grids(device) {
            rotate(&queue, grid, 17, 20, 500);
        }
    }
}

// fault A3.5, A4: the stores of all threads of a block are ordered, not only those of the one that arrives for it.
pub(crate) fn every_shape_orders_the_stores_of_all_threads(device: &Device) {
    let most = device.most_resident_blocks() * device.properties().threads_per_block.max(4);
    let most = most.max(device.properties().workers);
    for (shape, queue) in queues(device) {
        for grid in cooperative_grids(device) {
            let stored: [_; 2] = std::array::from_fn(|_| device.zeroed(most).unwrap());
            let mut stored = stored;
            let [even, odd] = &mut stored;
            let mut wrong = device.zeroed(1).unwrap();
            let kernel = AllSeeAll {
                rounds: 50,
                stored: [even.span_mut(), odd.span_mut()],
                wrong: wrong.span_mut(),
            };
            queue.launch_cooperative(grid, kernel).unwrap();
            assert_eq!(queue.download(&wrong).unwrap(), [0], "{shape:?} on {grid:?}");
        }
    }
}

/// Barriers and nothing else; counts the allocations that each block's first thread makes meanwhile.
#[repr(C)]
struct ManyRounds<'a> {
    rounds: usize,
    allocations: SpanMut<'a, u64>,
}

// SAFETY: each block's first thread writes its own element.
unsafe impl GridKernel for ManyRounds<'_> {
    const NAME: &'static str = "many_rounds";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let before = allocations();
        for _ in 0..self.rounds {
            acc.sync_grid();
        }
        if acc.thread_index() == 0 {
            self.allocations
                .set(acc, acc.block_index(), (allocations() - before) as u64);
        }
    }
}

// fault A2.22: something on the way allocates at every barrier.
pub(crate) fn a_hundred_thousand_rounds_meet_and_allocate_nothing(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    // More blocks than cores would spend minutes on switching between threads: they do fewer rounds.
    if is_checking(device) {
        return; // it allocates for what it remembers
    }
    let blocks = device.most_resident_blocks().min(2);
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let alone = blocks * device.properties().threads_per_block <= cores;
    let rounds = if alone { 100_000 } else { 500 };
    for (shape, queue) in queues(device) {
        let mut allocations = device.zeroed(blocks).unwrap();
        let kernel = ManyRounds {
            rounds,
            allocations: allocations.span_mut(),
        };
        queue.launch_cooperative(Blocks::Exactly(blocks), kernel).unwrap();
        // A thread that sleeps allocates now and then to look for a deadlock; a round must not.
        let allocations = queue.download(&allocations).unwrap();
        let few = rounds as u64 / 2;
        assert!(
            allocations.iter().all(|&count| count < few),
            "{shape:?}: {allocations:?} allocations"
        );
    }
}

// fault A2.7, A2.18: barrier state left behind, or spoilt once, is not used again. A2.17: some have arrived, and one never will.
pub(crate) fn a_launch_after_an_aborted_one_starts_afresh(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let blocks = device.most_resident_blocks();
    for (shape, queue) in queues(device) {
        for rounds in [0, 1, 2] {
            for failing_block in [0, blocks - 1] {
                let kernel = FailsBetween { rounds, failing_block };
                let failed = queue.launch_cooperative(Blocks::Resident, kernel);
                match failed {
                    Err(LaunchError::Panicked { block, .. }) => assert_eq!(block, failing_block),
                    other => panic!("{shape:?}: {other:?}"),
                }
                rotate(&queue, Blocks::Resident, 13, 6, 0);
            }
        }
    }
}

// fault A2.8, A2.9, A2.10, A2.16: one barrier state or scratch shared by two launches.
pub(crate) fn two_launches_in_flight_do_not_mix(device: &Device) {
    let blocks = device.most_resident_blocks();
    thread::scope(|scope| {
        for (from, shape) in SHAPES.into_iter().enumerate() {
            scope.spawn(move || {
                let queue = device.queue_with(options().barrier(shape));
                for launch in 0..15 {
                    rotate(&queue, Blocks::Exactly((launch + from) % blocks + 1), 11, 10, 0);
                }
            });
        }
    });
}

/// Runs it in every shape: the blocks that are left wait at the grid barrier, and the report says which.
fn uneven(device: &Device, leave_at_once: bool, left: usize, round: u64) {
    let Some(blocks) = several_blocks(device) else { return };
    for (shape, queue) in queues(device) {
        let report = match queue.launch_cooperative(Blocks::Exactly(blocks), Uneven { leave_at_once }) {
            Err(LaunchError::Deadlock {
                kernel: "uneven",
                report,
            }) => report,
            other => panic!("{shape:?}: {other:?}"),
        };
        let expected = HangCause::LeftBeforeGridBarrier {
            arrived: blocks - 1,
            expected: blocks,
        };
        assert_eq!(report.cause(), expected, "{shape:?}: {report}");
        for thread in report.threads.iter().filter(|thread| thread.thread == 0) {
            match thread.state {
                gridwise::host::report::ThreadState::Waiting {
                    what: WaitFor::GridBarrier,
                    location,
                } => {
                    assert_ne!(thread.block, left);
                    assert_eq!(thread.grid_barriers, round);
                    assert!(location.file().ends_with("grid_barrier.rs"), "{location}");
                }
                gridwise::host::report::ThreadState::Left => assert_eq!(thread.block, left),
                other => panic!("{other:?}"),
            }
        }
        rotate(&queue, Blocks::Resident, 13, 4, 0);
    }
}

// fault A3.1: blocks reach the barrier a different number of times.
pub(crate) fn a_block_that_syncs_less_often_is_named(device: &Device) {
    if !crate::support::proves_deadlocks(device) {
        return;
    }
    uneven(device, false, 0, 2);
}

// fault A3.2: a block without work returns before the barrier.
pub(crate) fn a_block_that_leaves_before_the_barrier_is_named(device: &Device) {
    if !crate::support::proves_deadlocks(device) {
        return;
    }
    uneven(device, true, 1, 1);
}

// fault A3.4: the end of the loop is decided from a block's own residual.
pub(crate) fn blocks_that_decide_for_themselves_are_reported(device: &Device) {
    if !crate::support::proves_deadlocks(device) {
        return;
    }
    let Some(blocks) = several_blocks(device) else { return };
    let mut steps = device.zeroed(blocks).unwrap();
    let kernel = Residuals {
        together: false,
        steps: steps.span_mut(),
    };
    match queue(device).launch_cooperative(Blocks::Exactly(blocks), kernel) {
        Err(LaunchError::Deadlock { report, .. }) => {
            assert!(
                matches!(report.cause(), HangCause::LeftBeforeGridBarrier { .. }),
                "{report}"
            );
        }
        other => panic!("{other:?}"),
    }
}

pub(crate) fn blocks_that_decide_together_converge(device: &Device) {
    let blocks = device.most_resident_blocks();
    let queue = queue(device);
    let mut steps = device.zeroed(blocks).unwrap();
    let kernel = Residuals {
        together: true,
        steps: steps.span_mut(),
    };
    queue.launch_cooperative(Blocks::Exactly(blocks), kernel).unwrap();
    let largest = 1.0 + 100.0 * (blocks - 1) as f64;
    let expected = (1..).find(|&steps| largest / f64::from(1 << steps) < 1.0).unwrap() as u32;
    assert_eq!(queue.download(&steps).unwrap(), vec![expected; blocks]);
}
