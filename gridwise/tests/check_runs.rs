//! Promises of kernels that are cut into phases: they hold of the run, be it one launch or many.

use gridwise::{
    check::{Builder, Explore, Finding, Kind, Model},
    host::phases::RunOptions,
    prelude::*,
};

const LEN: usize = 13;

/// Where the promises are made.
#[derive(Clone, Copy, PartialEq)]
enum Where {
    FirstPhase,
    Enter,
}

/// Each step stores every element once: phase 0 the even ones, phase 1 the others. A word counts the blocks that did a phase.
#[repr(C)]
struct Halves<'a> {
    out: SpanMut<'a, u32>,
    count: SpanMut<'a, u32>,
    promises: Where,
    steps: usize,
    /// Phase 1 begins at this index.
    from: usize,
    /// Phase 1 ends before this index.
    to: usize,
    /// What the count is promised to be at the end.
    counted: u32,
}

// SAFETY: phases store different elements; blocks and threads share them out.
unsafe impl Phased for Halves<'_> {
    const NAME: &'static str = "halves";
    type Shared = ();
    const PHASES: usize = 2;

    fn enter<A: Acc>(self, acc: A, _: ()) {
        if self.promises == Where::Enter {
            self.promise(acc);
        }
    }

    fn phase<A: Acc>(self, acc: A, _: (), at: Phase) {
        if self.promises == Where::FirstPhase && at.index == 0 {
            self.promise(acc);
        }
        if acc.thread_index() == 0 {
            self.count.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
        }
        let (from, to) = if at.index == 0 { (0, LEN) } else { (self.from, self.to) };
        for i in acc.threads_in_grid(from..to) {
            if (i - from) % 2 == 0 {
                self.out.set(acc, i, at.step as u32);
            }
        }
    }

    fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
        step + 1 < self.steps
    }
}

impl Halves<'_> {
    #[track_caller]
    fn promise<A: Acc>(&self, acc: A) {
        self.out.promise_stored_once(acc);
        self.count.atomic(0).promise_began_at(acc, 0);
        self.count.atomic(0).promise_ends_at(acc, self.counted);
    }
}

struct Case {
    promises: Where,
    steps: usize,
    from: usize,
    to: usize,
    began: u32,
    counted: u32,
}

const RIGHT: Case = Case {
    promises: Where::FirstPhase,
    steps: 3,
    from: 1,
    to: LEN,
    began: 0,
    counted: 12,
};

fn findings(strategy: Strategy, case: &Case) -> Vec<Finding> {
    let report = Builder::new()
        .model(Model::small())
        .explore(Explore::Random)
        .schedules(5)
        .run(|device| {
            let queue = device.queue();
            let mut out = device.zeroed(LEN).unwrap();
            let mut count = queue.upload(&[case.began]).unwrap();
            let kernel = Halves {
                out: out.span_mut(),
                count: count.span_mut(),
                promises: case.promises,
                steps: case.steps,
                from: case.from,
                to: case.to,
                counted: case.counted,
            };
            let options = RunOptions::default()
                .strategy(strategy)
                .grid(Blocks::Exactly(2).threads(2));
            let result = queue.run(kernel, options);
            // A run by relaunch finds as much as one launch, and fails as that does.
            assert_eq!(result.is_err(), !gridwise::check::findings(device).is_empty());
        });
    assert!(report.failure.is_none(), "{report}");
    report.findings
}

#[test]
fn promises_of_a_run_are_looked_at_as_a_whole_whatever_its_structure() {
    let cases = [
        (RIGHT, None, ""),
        (
            Case {
                promises: Where::Enter,
                steps: 1,
                counted: 4,
                ..RIGHT
            },
            None,
            "",
        ),
        (
            Case { to: LEN - 2, ..RIGHT },
            Some(Kind::NeverCovered),
            "not stored: 11",
        ),
        (Case { from: 2, ..RIGHT }, Some(Kind::CoveredTwice), "promised at"),
        (Case { began: 1, ..RIGHT }, Some(Kind::StaleState), "it held 1"),
        (Case { counted: 9, ..RIGHT }, Some(Kind::UnfinishedWork), "it holds 12"),
    ];
    for (case, kind, text) in cases {
        for strategy in [Strategy::Persistent, Strategy::Relaunch] {
            let found = findings(strategy, &case);
            assert_eq!(found.is_empty(), kind.is_none(), "{strategy:?}: {found:?}");
            if let Some(kind) = kind {
                let finding = found.iter().find(|finding| finding.kind == kind);
                let finding = finding.unwrap_or_else(|| panic!("{strategy:?}: {kind:?} is not in {found:?}"));
                assert!(finding.to_string().contains(text), "{strategy:?}: {finding}");
                assert!(!finding.replay.is_empty());
            }
        }
    }
}
