//! A task queue that a launch leaves before it is empty, under the checking device; and rings that grow.

use super::{TaskFailure, TaskOptions};
use crate::{
    check::{Explore, Kind},
    kernel::queue::{Order, TaskQueue},
    prelude::*,
};

/// Takes some tasks, and leaves without a look at the others.
#[repr(C)]
struct Quits<'a> {
    queue: TaskQueue<'a, u32>,
    takes: usize,
}

// SAFETY: one thread a block, which the queue is made for.
unsafe impl Kernel for Quits<'_> {
    const NAME: &'static str = "quits";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let mut holding = false;
        self.queue.promise_to_finish(acc);
        for _ in 0..self.takes {
            if !self.queue.next(acc, &mut holding) {
                break;
            }
        }
    }
}

#[test]
fn tasks_that_a_launch_leaves_behind_are_unfinished_work() {
    for (takes, silent) in [(usize::MAX, true), (2, false), (0, false)] {
        let report = crate::check::Builder::new()
            .explore(Explore::Random)
            .schedules(20)
            .run(|device| {
                let queue = device.queue();
                let options = TaskOptions::default().capacity(8).keep(2);
                let mut memory = queue.task_memory(0, options).unwrap();
                let kernel = Quits {
                    queue: memory.fresh(&queue, &[0, 1, 2, 3, 4, 5]).unwrap(),
                    takes,
                };
                let _ = queue.launch(Blocks::Exactly(2).threads(1), kernel);
            });
        assert_eq!(report.is_clean(), silent, "{report}");
        assert!(
            report
                .findings
                .iter()
                .all(|finding| finding.kind == Kind::UnfinishedWork),
            "{report}"
        );
    }
}

/// Counts the nodes of binary trees, by the levels below a node.
#[repr(C)]
struct Trees<'a> {
    nodes: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic.
unsafe impl Tasks for Trees<'_> {
    const NAME: &'static str = "trees";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 2;

    fn run<A: Acc>(self, acc: A, _: (), below: u32, spawner: Spawner<'_, '_, u32>) {
        if acc.thread_index() == 0 {
            self.nodes.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
            for _ in 0..2 * u32::from(below > 0) {
                spawner.spawn(acc, below - 1);
            }
        }
    }
}

#[test]
fn a_ring_that_nobody_chose_grows_and_no_task_is_lost() {
    let device = Device::open("cpu:blocks=2").unwrap();
    let queue = device.queue();
    let (seeds, all) = (vec![6; 3_000], 127 * 3_000);
    let run = |options: TaskOptions<'_>| {
        let mut nodes = device.zeroed(1).unwrap();
        let kernel = Trees {
            nodes: nodes.span_mut(),
        };
        let report = queue.run_tasks(kernel, &seeds, options.counters());
        report.map(|report| (report, queue.download(&nodes).unwrap()))
    };
    let oldest_first = TaskOptions::default().order(Order::Fifo).keep(1);
    for options in [oldest_first, TaskOptions::from(Strategy::Relaunch).keep(1)] {
        let error = run(options.capacity(1 << 16)).unwrap_err();
        assert!(
            matches!(*error.cause, TaskFailure::Overflow { capacity: 0x1_0000 }),
            "{error}"
        );
        let (report, nodes) = run(options).unwrap();
        assert_eq!(nodes, [all], "{options:?}");
        assert!(report.launches > 1, "{report:?}");
        let counted: u64 = report.counters.unwrap().iter().map(|block| block.tasks).sum();
        assert_eq!(counted, u64::from(all), "{options:?}");
    }
}

#[test]
fn a_ring_grows_up_to_a_bound_and_not_where_one_was_chosen() {
    let usual = TaskOptions::default().own;
    let first = usual.ring().unwrap();
    let mut sizes = vec![first];
    sizes.extend(std::iter::successors(usual.grown(first), |&slots| usual.grown(slots)));
    assert_eq!(sizes, [1 << 16, 1 << 18, 1 << 20, 1 << 22]);
    assert_eq!(TaskOptions::default().capacity(8).own.grown(8), None);
}
