//! A task queue that a launch leaves before it is empty, under the checking device.

use super::{TaskOptions, state::State};
use crate::{
    check::{Explore, Kind},
    host::launch::{Blocks, Demand, Placement},
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
                let grid = Blocks::Exactly(2).threads(1);
                let options = TaskOptions::default().capacity(8).keep(2);
                let demand = Demand::of(&Quits {
                    queue: super::state::nothing(),
                    takes,
                });
                let plan = device
                    .plan(demand, grid, Placement::Anyhow, queue.terms())
                    .unwrap()
                    .unwrap();
                let mut state = State::new(&queue, &plan, &[0, 1, 2, 3, 4, 5], 0, options).unwrap();
                let kernel = Quits {
                    queue: state.queue(u64::MAX),
                    takes,
                };
                let _ = queue.launch(grid, kernel);
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
