//! Task queues in kernels of one's own: they are part of the kernel, and what they leave is in their memory.

use gridwise::{host::tasks::TaskMemory, kernel::queue::TaskQueue, prelude::*};

use crate::support::queue;

/// Runs the nodes of a tree, then sums over the grid what the blocks have run.
#[repr(C)]
struct CountAll<'a> {
    queue: TaskQueue<'a, u32>,
    /// The node that panics, or an index that there is not.
    panics: u32,
    visits: SpanMut<'a, u32>,
    counts: SpanMut<'a, u32>,
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

fn memory(queue: &Queue) -> TaskMemory<u32> {
    queue
        .task_memory(2, TaskOptions::default().keep(4).capacity(64))
        .unwrap()
}

// fault A9.1: the state of a queue is one launch's, and made anew for the next.
pub(crate) fn a_kernel_may_run_tasks_and_then_go_on(device: &Device) {
    let queue = queue(device);
    let mut memory = memory(&queue);
    for nodes in [0, 1, 2, 3, 50, 100, 7] {
        let seeds: &[u32] = if nodes == 0 { &[] } else { &[0] };
        let mut visits = device.zeroed(nodes).unwrap();
        let mut counts = device.zeroed(device.most_resident_blocks()).unwrap();
        let kernel = CountAll {
            queue: memory.fresh(&queue, seeds).unwrap(),
            panics: u32::MAX,
            visits: visits.span_mut(),
            counts: counts.span_mut(),
        };
        queue.launch_cooperative(Blocks::Resident, kernel).unwrap();
        assert_eq!(queue.download(&visits).unwrap(), vec![1; nodes]);
        assert_eq!(queue.download(&counts).unwrap(), vec![nodes as u32; counts.len()]);
        assert_eq!(memory.unfinished(&queue).unwrap(), []);
    }
}

pub(crate) fn what_a_kernel_has_left_comes_back(device: &Device) {
    let queue = queue(device);
    let mut memory = memory(&queue);
    let mut visits = device.zeroed(100).unwrap();
    let mut counts = device.zeroed(device.most_resident_blocks()).unwrap();
    let mut launch = |memory: &mut TaskMemory<u32>, seeds: &[u32], panics| {
        let kernel = CountAll {
            queue: memory.fresh(&queue, seeds).unwrap(),
            panics,
            visits: visits.span_mut(),
            counts: counts.span_mut(),
        };
        queue.launch_cooperative(Blocks::Resident, kernel)
    };
    // The only task there is panics.
    let failed = launch(&mut memory, &[0], 0);
    assert!(matches!(failed, Err(LaunchError::Panicked { .. })), "{failed:?}");
    assert_eq!(memory.unfinished(&queue).unwrap(), []);
    // Nobody gets to the others.
    let seeds: Vec<u32> = (50..100).collect();
    launch(&mut memory, &seeds, u32::MAX).unwrap();
    launch(&mut memory, &[0], 49).unwrap_err();
    // It is used again as if nothing had happened.
    launch(&mut memory, &[], u32::MAX).unwrap();
    launch(&mut memory, &[99], u32::MAX).unwrap();
    assert_eq!(queue.download(&visits).unwrap()[99], 2);
}

pub(crate) fn a_grid_larger_than_its_queue_is_an_error(device: &Device) {
    let queue = queue(device);
    let mut memory = memory(&queue);
    let mut visits = device.zeroed(10).unwrap();
    let mut counts = device.zeroed(1).unwrap();
    let kernel = CountAll {
        queue: memory.fresh(&queue, &[0]).unwrap(),
        panics: u32::MAX,
        visits: visits.span_mut(),
        counts: counts.span_mut(),
    };
    let blocks = device.most_resident_blocks() + 1;
    assert!(queue.launch(Blocks::Exactly(blocks), kernel).is_err());
}
