//! A task queue that a launch leaves before it is empty, under the checking device.

use crate::{
    check::{Explore, Kind},
    kernel::queue::TaskQueue,
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
