//! A kernel that owns a task queue.

use core::sync::atomic::Ordering;

use gridwise::kernel::{prelude::*, queue::TaskQueue};

/// Runs the nodes of a tree, then sums over the grid what the blocks have run.
#[repr(C)]
pub struct CountAll<'a> {
    pub queue: TaskQueue<'a, u32>,
    /// The node that panics, or an index that there is not.
    pub panics: u32,
    pub visits: SpanMut<'a, u32>,
    pub counts: SpanMut<'a, u32>,
}

impl CountAll<'_> {
    /// How many nodes this thread's block has run.
    fn visit<A: Acc>(&self, acc: A) -> u32 {
        let mut count = 0;
        self.queue.each(acc, |node, spawner| {
            assert_ne!(node, self.panics, "this node panics");
            count += 1;
            if acc.thread_index() == 0 {
                self.visits.atomic(node as usize).fetch_add(acc, 1, Ordering::Relaxed);
            }
            for child in acc.threads_in_block(1..3) {
                let child = 2 * node as usize + child;
                if child < self.visits.len() {
                    spawner.spawn(acc, child as u32);
                }
            }
        });
        count
    }
}

// SAFETY: the visits are atomic; each block has its own count.
unsafe impl GridKernel for CountAll<'_> {
    const NAME: &'static str = "count_all";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let count = self.visit(acc);
        let own = if acc.thread_index() == 0 { count } else { 0 };
        let all = acc.reduce_grid(own, |a, b| a + b);
        // The queue stays empty.
        self.queue.each(acc, |_, _| panic!("there is no task left"));
        if acc.thread_index() == 0 {
            self.counts.set(acc, acc.block_index(), all);
        }
    }
}

// SAFETY: as above.
unsafe impl Kernel for CountAll<'_> {
    const NAME: &'static str = "count_blocks";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.visit(acc);
    }
}
