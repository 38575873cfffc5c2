//! The block barrier: in loops, under uniform conditions, with votes; and what happens to a thread that does not come.
//!
//! A thread that has left the kernel does not count as arrived, on any back end: the others would read what it never wrote. The
//! launch ends with a deadlock that names the block.

use gridwise::{
    host::report::{HangCause, HangReport, ThreadState, WaitFor},
    prelude::*,
};

use crate::support::{grids, queue, skew, team};

/// Threads past the end of the problem leave before the barrier.
#[repr(C)]
struct LeavesEarly<'a> {
    out: SpanMut<'a, u32>,
}

// SAFETY: each thread writes its own element. That threads leave before a barrier is what is tested.
unsafe impl Kernel for LeavesEarly<'_> {
    const NAME: &'static str = "leaves_early";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let i = acc.block_index() * acc.thread_count() + acc.thread_index();
        if i >= self.out.len() {
            return;
        }
        acc.sync_block();
        self.out.set(acc, i, 1);
    }
}

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

/// Sums a power of two of values by halving.
#[repr(C)]
struct Halving<'a> {
    leave: bool,
    sum: SpanMut<'a, u32>,
}

const MOST_THREADS: usize = 8;

// SAFETY: in each round the lower threads write their cells and read those of the upper ones; barriers separate rounds. That
// threads leave before a barrier, with `leave`, is what is tested.
unsafe impl Kernel for Halving<'_> {
    const NAME: &'static str = "halving";
    type Shared = SharedArray<u32, MOST_THREADS>;

    fn run<A: Acc>(self, acc: A, cells: Self::Shared) {
        let (thread, threads) = (acc.thread_index(), acc.thread_count());
        cells.set(acc, thread, thread as u32 + 1);
        acc.sync_block();
        let mut width = threads / 2;
        while width > 0 {
            if thread < width {
                cells.set(acc, thread, cells.get(acc, thread) + cells.get(acc, thread + width));
            } else if self.leave {
                return;
            }
            acc.sync_block();
            width /= 2;
        }
        if thread == 0 {
            self.sum.set(acc, acc.block_index(), cells.get(acc, 0));
        }
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

/// What the loops below share: a few cells, and a row of results a thread.
#[repr(C)]
struct Loops<'a> {
    which: Loop,
    out: SpanMut<'a, u32>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
enum Loop {
    LocalsAlive,
    ConditionalWrite,
    UniformCondition,
    Nested,
    MaskedLastStep,
    InStep,
}

// SAFETY: in each loop, cells are written by one thread at a time and read after a barrier that all threads reach; each thread
// writes its own results.
unsafe impl Kernel for Loops<'_> {
    const NAME: &'static str = "loops";
    type Shared = SharedArray<u32, MOST_THREADS>;

    fn run<A: Acc>(self, acc: A, cells: Self::Shared) {
        let (thread, threads) = (acc.thread_index(), acc.thread_count());
        let mut local = thread as u32;
        match self.which {
            Loop::LocalsAlive => {
                let mut round = 0;
                while round < 10 {
                    cells.set(acc, thread, local);
                    acc.sync_block();
                    let neighbour = cells.get(acc, (thread + 1) % threads);
                    acc.sync_block();
                    local = local.wrapping_mul(5).wrapping_add(neighbour + round);
                    round += 1;
                }
            }
            Loop::ConditionalWrite => {
                for round in 0..10 {
                    if thread == 0 {
                        cells.set(acc, 0, 0);
                    }
                    acc.sync_block();
                    if thread == round % threads {
                        cells.set(acc, 0, 100 + round as u32);
                    }
                    acc.sync_block();
                    local += cells.get(acc, 0);
                    acc.sync_block();
                }
            }
            Loop::UniformCondition => {
                for round in 0..10 {
                    // As much work as each thread has, then a barrier that all reach or none.
                    for _ in 0..thread {
                        local += 1;
                    }
                    if round % 3 == 0 {
                        cells.set(acc, thread, local);
                        acc.sync_block();
                        local += cells.get(acc, threads - 1);
                        acc.sync_block();
                    }
                }
            }
            Loop::Nested => {
                for i in 0..4 {
                    for j in 0..5 {
                        if i % 2 == 0 {
                            cells.set(acc, thread, 1);
                            acc.sync_block();
                        }
                        local += 10;
                        if j % 2 == 1 {
                            acc.sync_block();
                        }
                        local += 100 * (cells_seen(acc, cells, i % 2 == 0));
                        acc.sync_block();
                    }
                }
            }
            Loop::MaskedLastStep => {
                let items = 10_usize;
                for step in 0..items.div_ceil(threads) {
                    let item = step * threads + thread;
                    if item < items {
                        cells.set(acc, thread, item as u32);
                    }
                    acc.sync_block();
                    if thread == 0 {
                        local += (step * threads..(step * threads + threads).min(items))
                            .map(|item| cells.get(acc, item % threads))
                            .sum::<u32>();
                    }
                    acc.sync_block();
                }
            }
            Loop::InStep => {
                for round in 0..1000_u32 {
                    let writer = round as usize % threads;
                    if thread == writer {
                        skew(round as usize % 50);
                        cells.set(acc, 0, round);
                    }
                    acc.sync_block();
                    local = local.wrapping_add(cells.get(acc, 0) ^ round);
                    acc.sync_block();
                }
            }
        }
        self.out.set(acc, acc.block_index() * threads + thread, local);
    }
}

/// 1 if every thread's cell is 1, where that is asked.
fn cells_seen<A: Acc>(acc: A, cells: SharedArray<u32, MOST_THREADS>, asked: bool) -> u32 {
    u32::from(asked && (0..acc.thread_count()).all(|thread| cells.get(acc, thread) == 1))
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

/// Every combination of votes of a block, one after the other.
#[repr(C)]
struct Votes<'a> {
    /// Count, any and all, for each combination.
    out: SpanMut<'a, u32>,
    disagreements: SpanMut<'a, u32>,
}

// SAFETY: the first thread of block 0 writes `out`; disagreements are counted atomically; all threads vote each time.
unsafe impl Kernel for Votes<'_> {
    const NAME: &'static str = "votes";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for votes in 0..1_usize << acc.thread_count() {
            let vote = votes >> acc.thread_index() & 1 == 1;
            let count = acc.sync_block_count(vote) as u32;
            let any = u32::from(acc.sync_block_any(vote));
            let all = u32::from(acc.sync_block_all(vote));
            let code = count << 2 | any << 1 | all;
            if acc.broadcast(|| code) != code {
                self.disagreements.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
            }
            if acc.block_index() == 0 && acc.thread_index() == 0 {
                self.out.set(acc, votes, code);
            }
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

/// A vote instead of a plain barrier between write and read.
#[repr(C)]
struct VoteOrders<'a> {
    wrong: SpanMut<'a, u32>,
}

// SAFETY: the cell is written by one thread between two votes, which are barriers; `wrong` is atomic.
unsafe impl Kernel for VoteOrders<'_> {
    const NAME: &'static str = "vote_orders";
    type Shared = SharedArray<u32, 1>;

    fn run<A: Acc>(self, acc: A, cell: Self::Shared) {
        for round in 0..200_u32 {
            if acc.thread_index() == round as usize % acc.thread_count() {
                cell.set(acc, 0, round);
            }
            acc.sync_block_any(false);
            if cell.get(acc, 0) != round {
                self.wrong.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
            }
            acc.sync_block_all(true);
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
