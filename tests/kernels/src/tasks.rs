//! Kernels of the suite `tasks`.

use gridwise::prelude::*;

use crate::support::{pause, skew};

/// The nodes of a tree in a line: node `i` makes nodes `fan * i + 1` to `fan * i + fan`.
#[repr(C)]
pub struct Tree<'a> {
    pub fan: u32,
    /// The node that panics, or an index that there is not.
    pub panics: u32,
    /// Nodes from this one on take time.
    pub slow: u32,
    pub visits: SpanMut<'a, u32>,
}

pub const FAN: usize = 3;

// SAFETY: the visits are atomic.
unsafe impl Tasks for Tree<'_> {
    const NAME: &'static str = "tree";
    type Task = u32;
    type Shared = SharedArray<u32, 1>;
    const MOST_SPAWNS: usize = FAN;

    fn run<A: Acc>(self, acc: A, shared: Self::Shared, node: u32, spawner: Spawner<'_, '_, u32>) {
        // All threads are in the same task: the first one's word is everybody's.
        if acc.thread_index() == 0 {
            shared.set(acc, 0, node);
        }
        acc.sync_block();
        assert_eq!(shared.get(acc, 0), node);
        acc.sync_block();
        assert_ne!(node, self.panics, "this node panics");
        if node >= self.slow {
            skew(200);
        }
        if acc.thread_index() == 0 {
            self.visits.atomic(node as usize).fetch_add(acc, 1, Ordering::Relaxed);
        }
        // Any thread may make tasks.
        for child in acc.threads_in_block(1..self.fan as usize + 1) {
            let child = self.fan as usize * node as usize + child;
            if child < self.visits.len() {
                spawner.spawn(acc, child as u32);
            }
        }
    }
}

/// A task that takes longer than any spinning, then makes many.
#[repr(C)]
pub struct Burst<'a> {
    pub ran: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic.
unsafe impl Tasks for Burst<'_> {
    const NAME: &'static str = "burst";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 40;

    fn run<A: Acc>(self, acc: A, _: (), task: u32, spawner: Spawner<'_, '_, u32>) {
        if acc.thread_index() == 0 {
            self.ran.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
            if task > 0 {
                pause(acc, 30);
                for _ in 0..39 {
                    spawner.spawn(acc, 0);
                }
                spawner.spawn(acc, task - 1);
            }
        }
    }
}

/// Makes one task more than it may.
#[repr(C)]
pub struct Greedy;

// SAFETY: it accesses nothing.
unsafe impl Tasks for Greedy {
    const NAME: &'static str = "greedy";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 2;

    fn run<A: Acc>(self, acc: A, _: (), _: u32, spawner: Spawner<'_, '_, u32>) {
        if acc.thread_index() == 0 {
            for child in 1..=3 {
                spawner.spawn(acc, child);
            }
        }
    }
}

/// A task that makes itself, for ever.
#[repr(C)]
pub struct Endless;

// SAFETY: it accesses nothing.
unsafe impl Tasks for Endless {
    const NAME: &'static str = "endless";
    type Task = [u64; 3];
    type Shared = ();
    const MOST_SPAWNS: usize = 1;

    fn run<A: Acc>(self, acc: A, _: (), task: [u64; 3], spawner: Spawner<'_, '_, [u64; 3]>) {
        if acc.thread_index() == 0 {
            spawner.spawn(acc, task);
        }
    }
}

/// Node `i` makes node `i + 4`.
#[repr(C)]
pub struct Stride<'a> {
    pub visits: SpanMut<'a, u32>,
}

// SAFETY: the visits are atomic.
unsafe impl Tasks for Stride<'_> {
    const NAME: &'static str = "stride";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 1;

    fn run<A: Acc>(self, acc: A, _: (), node: u32, spawner: Spawner<'_, '_, u32>) {
        if acc.thread_index() == 0 {
            self.visits.atomic(node as usize).fetch_add(acc, 1, Ordering::Relaxed);
            if node as usize + 4 < self.visits.len() {
                spawner.spawn(acc, node + 4);
            }
        }
    }
}

/// Two tasks that wait for each other.
#[repr(C)]
pub struct Meet<'a> {
    pub words: SpanMut<'a, u32>,
}

// SAFETY: the words are atomic.
unsafe impl Tasks for Meet<'_> {
    const NAME: &'static str = "meet";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 0;

    fn run<A: Acc>(self, acc: A, _: (), me: u32, _: Spawner<'_, '_, u32>) {
        if acc.thread_index() == 0 {
            self.words.atomic(me as usize).store(acc, 1, Ordering::Release);
            self.words
                .atomic(1 - me as usize)
                .wait_until(acc, Ordering::Acquire, |word| word == 1);
        }
    }
}
