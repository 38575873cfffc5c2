//! The block barrier: in loops, under uniform conditions, with votes; and what happens to a thread that does not come.
//!
//! A thread that has left the kernel does not count as arrived, on any back end: the others would read what it never wrote. The
//! launch ends with a deadlock that names the block.

use gridwise::{
    host::report::{HangCause, HangReport, ThreadState, WaitFor},
    prelude::*,
};

use conformance_kernels::block_barrier::{
    Branches, Halving, LeavesEarly, Loop, Loops, UnderACondition, VoteOrders, Votes,
};

use crate::support::{grids, queue, team};

fn deadlock(result: Result<(), LaunchError>, name: &str) -> HangReport {
    match result {
        Err(LaunchError::Deadlock { kernel, report }) => {
            assert_eq!(kernel, name);
            report
        }
        other => panic!("not a deadlock: {other:?}"),
    }
}

/// Threads of `block` that left, and those that wait at a block barrier.
fn left_and_waiting(report: &HangReport, block: usize) -> (Vec<usize>, Vec<usize>) {
    let (mut left, mut waiting) = (Vec::new(), Vec::new());
    for thread in report.threads.iter().filter(|thread| thread.block == block) {
        match thread.state {
            ThreadState::Left => left.push(thread.thread),
            ThreadState::Waiting {
                what: WaitFor::BlockBarrier,
                location,
            } => {
                assert!(location.file().ends_with("block_barrier.rs"), "{location}");
                waiting.push(thread.thread);
            }
            other => panic!("{other:?}"),
        }
    }
    (left, waiting)
}

// fault A6.1, A6.4, A6.12: the same diagnosis on every back end.
pub(crate) fn a_thread_that_leaves_early_is_named(device: &Device) {
    if !crate::support::proves_deadlocks(device) {
        return;
    }
    let Some(threads) = team(device, 3) else { return };
    let queue = queue(device);
    for blocks in [1, 2, 4] {
        let mut out = device.zeroed(blocks * threads - 1).unwrap();
        let grid = Blocks::Exactly(blocks).threads(threads);
        let report = deadlock(queue.launch(grid, LeavesEarly { out: out.span_mut() }), "leaves_early");
        assert_eq!(report.cause(), HangCause::LeftBeforeBlockBarrier { block: blocks - 1 });
        let (left, waiting) = left_and_waiting(&report, blocks - 1);
        assert_eq!(left, [threads - 1]);
        assert_eq!(waiting, (0..threads - 1).collect::<Vec<_>>());

        // A problem that fills the blocks runs, on the same device.
        let mut out = device.zeroed(blocks * threads).unwrap();
        queue.launch(grid, LeavesEarly { out: out.span_mut() }).unwrap();
        assert_eq!(queue.download(&out).unwrap(), vec![1; blocks * threads]);
    }
}

// fault A6.11: never in silence, with what those read that passed the barrier by.
pub(crate) fn a_barrier_under_a_condition_of_the_thread_is_refused(device: &Device) {
    if !crate::support::proves_deadlocks(device) {
        return;
    }
    let Some(threads) = team(device, 3) else { return };
    let queue = queue(device);
    let grid = Blocks::Exactly(2).threads(threads);
    let report = deadlock(
        queue.launch(grid, UnderACondition { first: threads - 1 }),
        "under_a_condition",
    );
    assert!(
        matches!(report.cause(), HangCause::LeftBeforeBlockBarrier { .. }),
        "{report}"
    );
    // A condition that is the same for all is fine, either way.
    for first in [0, threads] {
        queue.launch(grid, UnderACondition { first }).unwrap();
    }
}

fn halving(device: &Device, threads: usize, leave: bool) -> Result<Vec<u32>, LaunchError> {
    let queue = queue(device);
    let mut sum = device.zeroed(2).unwrap();
    let kernel = Halving {
        leave,
        sum: sum.span_mut(),
    };
    queue.launch(Blocks::Exactly(2).threads(threads), kernel)?;
    Ok(queue.download(&sum).unwrap())
}

// fault A6.5: threads that returned are missed at the barrier; here as an error, on every back end.
pub(crate) fn a_halving_reduction_whose_threads_leave_is_refused(device: &Device) {
    if !crate::support::proves_deadlocks(device) {
        return;
    }
    let Some(threads) = team(device, 2) else { return };
    let report = deadlock(halving(device, threads, true).map(drop), "halving");
    assert!(
        matches!(report.cause(), HangCause::LeftBeforeBlockBarrier { .. }),
        "{report}"
    );
}

pub(crate) fn a_halving_reduction_whose_threads_stay_is_right(device: &Device) {
    for threads in [1, 2, 4, 8] {
        if threads == 1 || team(device, threads) == Some(threads) {
            let sum = (threads * (threads + 1) / 2) as u32;
            assert_eq!(halving(device, threads, false).unwrap(), [sum, sum]);
        }
    }
}

/// Runs a loop in blocks of every size, and compares with what `expected` says of a block of so many threads.
fn check(device: &Device, which: Loop, expected: impl Fn(usize) -> Vec<u32>) {
    let queue = queue(device);
    for threads in [1, 2, 3, 4, 8] {
        if threads > 1 && team(device, threads) != Some(threads) {
            continue;
        }
        for blocks in [1, 3] {
            let mut out = device.zeroed(blocks * threads).unwrap();
            let kernel = Loops {
                which,
                out: out.span_mut(),
            };
            queue.launch(Blocks::Exactly(blocks).threads(threads), kernel).unwrap();
            let out = queue.download(&out).unwrap();
            for block in out.chunks(threads) {
                assert_eq!(block, expected(threads), "{which:?} in blocks of {threads}");
            }
        }
    }
}

// fault A6.7: locals live across a barrier in a `while`.
pub(crate) fn a_barrier_in_a_loop_keeps_locals_alive(device: &Device) {
    check(device, Loop::LocalsAlive, |threads| {
        let mut locals: Vec<u32> = (0..threads as u32).collect();
        for round in 0..10 {
            let before = locals.clone();
            for (thread, local) in locals.iter_mut().enumerate() {
                *local = local
                    .wrapping_mul(5)
                    .wrapping_add(before[(thread + 1) % threads] + round);
            }
        }
        locals
    });
}

// fault A6.8: reset, conditional write, read.
pub(crate) fn a_conditional_write_between_two_barriers_is_seen(device: &Device) {
    check(device, Loop::ConditionalWrite, |threads| {
        (0..threads as u32).map(|thread| thread + 10 * 100 + 45).collect()
    });
}

// fault A6.9: work that differs between threads, and a barrier under a uniform condition.
pub(crate) fn a_barrier_under_a_uniform_condition_meets(device: &Device) {
    check(device, Loop::UniformCondition, |threads| {
        let mut locals: Vec<u32> = (0..threads as u32).collect();
        for round in 0..10 {
            for (thread, local) in locals.iter_mut().enumerate() {
                *local += thread as u32;
            }
            if round % 3 == 0 {
                let last = locals[threads - 1];
                locals.iter_mut().for_each(|local| *local += last);
            }
        }
        locals
    });
}

// fault A6.10: code after a barrier runs once.
pub(crate) fn conditional_barriers_in_nested_loops_run_everything_once(device: &Device) {
    check(device, Loop::Nested, |threads| {
        (0..threads as u32)
            .map(|thread| thread + 4 * 5 * 10 + 2 * 5 * 100)
            .collect()
    });
}

// fault A6.13: equal trip counts, and a mask in the last step.
pub(crate) fn a_masked_last_step_reaches_the_barrier(device: &Device) {
    check(device, Loop::MaskedLastStep, |threads| {
        (0..threads as u32)
            .map(|thread| if thread == 0 { 45 } else { thread })
            .collect()
    });
}

// fault A2.13: a fast thread runs into a later barrier.
pub(crate) fn many_barriers_in_a_row_keep_threads_in_step(device: &Device) {
    check(device, Loop::InStep, |threads| (0..threads as u32).collect());
}

// fault A4.7: what threads of a block store to device memory is ordered as well, not only what is shared.
pub(crate) fn a_barrier_orders_the_device_memory_of_a_block(device: &Device) {
    check(device, Loop::DeviceMemory, |threads| {
        let mut locals: Vec<u32> = (0..threads as u32).collect();
        for round in 0..50 {
            let before = locals.clone();
            for (thread, local) in locals.iter_mut().enumerate() {
                *local = local
                    .wrapping_mul(5)
                    .wrapping_add(before[(thread + 1) % threads].wrapping_add(round % 7));
            }
        }
        locals
    });
}

// fault A7.6: a read between two barriers stays between them.
pub(crate) fn what_was_read_before_a_barrier_is_the_old_value(device: &Device) {
    check(device, Loop::ReadThenOverwritten, |threads| {
        (0..threads as u32).map(|thread| thread + 19 * 20 / 2).collect()
    });
}

// fault A7.9: a way to a panic, in a branch that some threads take, makes a compiler think nothing of the others.
pub(crate) fn a_path_to_a_panic_in_a_branch_leaves_the_other_threads_alone(device: &Device) {
    check(device, Loop::PathToAPanic, |threads| {
        let mut locals: Vec<u32> = (0..threads as u32).collect();
        for round in 0..20 {
            for (thread, local) in locals.iter_mut().enumerate() {
                *local += thread as u32 % 2;
            }
            let cells: Vec<u32> = (0..threads).map(|thread| locals[thread] + thread as u32 % 3).collect();
            for (thread, local) in locals.iter_mut().enumerate() {
                *local += cells[(thread + round) % threads] % 2;
            }
        }
        locals
    });
}

pub(crate) fn branches_about_a_barrier_leave_it_one(device: &Device) {
    let queue = queue(device);
    for threads in [1, 2, 4, 8] {
        if threads > 1 && team(device, threads) != Some(threads) {
            continue;
        }
        for from in 0..=threads {
            let mut out = queue.upload(&vec![5; threads]).unwrap();
            let kernel = Branches {
                from,
                out: out.span_mut(),
            };
            queue.launch(Blocks::Exactly(1).threads(threads), kernel).unwrap();
            let expected: Vec<u32> = (0..threads)
                .map(|thread| {
                    let neighbour = if (thread + 1) % threads >= from { 15 } else { 7 };
                    neighbour + if thread >= from { 1500 } else { 1000 }
                })
                .collect();
            assert_eq!(queue.download(&out).unwrap(), expected, "from {from} of {threads}");
        }
    }
}

pub(crate) fn votes_are_counted(device: &Device) {
    let queue = queue(device);
    for threads in 1..=team(device, 4).unwrap_or(1) {
        let mut out = device.zeroed(1 << threads).unwrap();
        let mut disagreements = device.zeroed(1).unwrap();
        let kernel = Votes {
            out: out.span_mut(),
            disagreements: disagreements.span_mut(),
        };
        queue.launch(Blocks::Exactly(3).threads(threads), kernel).unwrap();
        assert_eq!(queue.download(&disagreements).unwrap(), [0]);
        for (votes, &code) in queue.download(&out).unwrap().iter().enumerate() {
            let count = votes.count_ones();
            let expected = count << 2 | u32::from(count > 0) << 1 | u32::from(count == threads as u32);
            assert_eq!(code, expected, "votes {votes:b} of {threads}");
        }
    }
}

// fault A8.5: here a block's vote is a barrier, and orders memory.
pub(crate) fn a_vote_orders_memory(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        let mut wrong = device.zeroed(1).unwrap();
        queue
            .launch(
                grid,
                VoteOrders {
                    wrong: wrong.span_mut(),
                },
            )
            .unwrap();
        assert_eq!(queue.download(&wrong).unwrap(), [0], "{grid:?}");
    }
}
