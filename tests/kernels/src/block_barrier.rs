//! Kernels of the suite `block_barrier`.

use gridwise::prelude::*;

use crate::support::skew;

/// Threads past the end of the problem leave before the barrier.
#[repr(C)]
pub struct LeavesEarly<'a> {
    pub out: SpanMut<'a, u32>,
}

// SAFETY: each thread writes its own element. That threads leave before a barrier is what is tested.
unsafe impl Kernel for LeavesEarly<'_> {
    const NAME: &'static str = "leaves_early";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let i = acc.thread_index_in_grid();
        if i >= self.out.len() {
            return;
        }
        acc.sync_block();
        self.out.set(acc, i, 1);
    }
}

/// A barrier that the first threads of a block reach, and the others pass by.
#[repr(C)]
pub struct UnderACondition {
    pub first: usize,
}

// SAFETY: touches no memory. That some threads pass the barrier by is what is tested.
unsafe impl Kernel for UnderACondition {
    const NAME: &'static str = "under_a_condition";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        if acc.thread_index() < self.first {
            acc.sync_block();
        }
    }
}

/// Sums a power of two of values by halving.
#[repr(C)]
pub struct Halving<'a> {
    pub leave: bool,
    pub sum: SpanMut<'a, u32>,
}

pub const MOST_THREADS: usize = 8;

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

/// What the loops below share: a few cells, and a row of results a thread.
#[repr(C)]
pub struct Loops<'a> {
    pub which: Loop,
    pub out: SpanMut<'a, u32>,
}

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Loop {
    LocalsAlive,
    ConditionalWrite,
    UniformCondition,
    Nested,
    MaskedLastStep,
    InStep,
    DeviceMemory,
    ReadThenOverwritten,
    PathToAPanic,
}

// SAFETY: in each loop, cells are written by one thread at a time and read after a barrier that all threads reach; each thread
// writes its own results, which others of its block read between two barriers.
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
            Loop::DeviceMemory => {
                let first = acc.block_index() * threads;
                for round in 0..50_u32 {
                    skew((thread * 7 + round as usize) % 20);
                    self.out.set(acc, first + thread, local);
                    acc.sync_block();
                    let neighbour = self.out.get(acc, first + (thread + 1) % threads);
                    acc.sync_block();
                    local = local.wrapping_mul(5).wrapping_add(neighbour.wrapping_add(round % 7));
                }
            }
            Loop::ReadThenOverwritten => {
                for round in 0..20 {
                    if thread == round % threads {
                        cells.set(acc, 0, round as u32);
                    }
                    acc.sync_block();
                    let read = cells.get(acc, 0);
                    acc.sync_block();
                    if thread == (round + 1) % threads {
                        cells.set(acc, 0, 1 << 20);
                    }
                    acc.sync_block();
                    local += read;
                }
            }
            Loop::PathToAPanic => {
                for round in 0..20 {
                    if thread % 2 == 1 {
                        // It never does, but no compiler knows that.
                        assert!(local < 1 << 20, "a thread has counted too far");
                        local += 1;
                    }
                    cells.set(acc, thread, local + (thread % 3) as u32);
                    acc.sync_block();
                    local += cells.get(acc, (thread + round) % threads) % 2;
                    acc.sync_block();
                }
            }
        }
        self.out.set(acc, acc.thread_index_in_grid(), local);
    }
}

/// 1 if every thread's cell is 1, where that is asked.
pub fn cells_seen<A: Acc>(acc: A, cells: SharedArray<u32, MOST_THREADS>, asked: bool) -> u32 {
    u32::from(asked && (0..acc.thread_count()).all(|thread| cells.get(acc, thread) == 1))
}

/// Branches on one condition before and after a barrier: a compiler that joins the branches must not make two barriers of it.
#[repr(C)]
pub struct Branches<'a> {
    /// Threads from this one on take the other arms.
    pub from: usize,
    pub out: SpanMut<'a, u32>,
}

// SAFETY: each thread writes its own cell and its own element; cells are read past the barrier.
unsafe impl Kernel for Branches<'_> {
    const NAME: &'static str = "branches";
    type Shared = SharedArray<u32, MOST_THREADS>;

    fn run<A: Acc>(self, acc: A, cells: Self::Shared) {
        let (thread, threads) = (acc.thread_index(), acc.thread_count());
        let late = thread >= self.from;
        let mut local = 1;
        if late {
            local = self.out.get(acc, thread) + 10;
            cells.set(acc, thread, local);
        } else {
            cells.set(acc, thread, 7);
        }
        acc.sync_block();
        let neighbour = cells.get(acc, (thread + 1) % threads);
        if late {
            self.out.set(acc, thread, 100 * local + neighbour);
        } else {
            self.out.set(acc, thread, 1000 * local + neighbour);
        }
    }
}

/// Every combination of votes of a block, one after the other.
#[repr(C)]
pub struct Votes<'a> {
    /// Count, any and all, for each combination.
    pub out: SpanMut<'a, u32>,
    pub disagreements: SpanMut<'a, u32>,
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

/// A vote instead of a plain barrier between write and read.
#[repr(C)]
pub struct VoteOrders<'a> {
    pub wrong: SpanMut<'a, u32>,
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
