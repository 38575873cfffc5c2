//! What the simulated device itself does.

use std::time::Duration;

use crate::{
    backend::test_support::within_a_minute,
    check::{Builder, Dealing, Explore, Kind, Model},
    prelude::*,
};

/// The first lane of each warp looks at a word several times, or briefly waits for it, and goes on; the others have nothing to do.
#[repr(C)]
struct Looks<'a> {
    word: SpanMut<'a, u32>,
    briefly: bool,
}

// SAFETY: the word is atomic.
unsafe impl Kernel for Looks<'_> {
    const NAME: &'static str = "looks";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let word = self.word.atomic(0);
        if acc.lane() == 0 {
            if self.briefly {
                word.wait_briefly(acc, Ordering::Relaxed, |now| now == 1);
            } else {
                for _ in 0..3 {
                    word.load(acc, Ordering::Relaxed);
                }
            }
        } else {
            word.load(acc, Ordering::Relaxed);
        }
        acc.sync_block();
    }
}

#[test]
fn a_lane_that_gives_up_looking_does_not_hold_up_its_warp_for_ever() {
    let mut model = Model::small();
    (model.warp_size, model.lock_step) = (2, true);
    for briefly in [false, true] {
        Builder::new().model(model).check(|device| {
            let mut word = device.zeroed(1).unwrap();
            let word = word.span_mut();
            device
                .queue()
                .launch(Blocks::Resident, Looks { word, briefly })
                .unwrap();
        });
    }
}

/// Two frames of different length in one tile: whose element is written next depends on how a frame is dealt out.
#[repr(C)]
struct Reuses<'a> {
    out: SpanMut<'a, u32>,
}

// SAFETY: the claim is wrong where frames are dealt out in contiguous parts: nothing parts the reads of one from the writes of the next.
unsafe impl Kernel for Reuses<'_> {
    const NAME: &'static str = "reuses";
    type Shared = SharedArray<u32, 4>;

    fn run<A: Acc>(self, acc: A, tile: Self::Shared) {
        for frame in [0..4, 4..6] {
            for i in acc.threads_in_block(0..frame.len()) {
                tile.set(acc, i, 1);
            }
            for i in acc.threads_in_block(0..frame.len()) {
                self.out.set(acc, frame.start + i, tile.get(acc, i));
            }
        }
    }
}

#[test]
fn a_race_in_either_way_of_dealing_is_found() {
    let explore = |dealing, explore| {
        let mut model = Model::small();
        (model.threads_per_block, model.dealing) = (2, dealing);
        let report = Builder::new().model(model).explore(explore).schedules(2).run(|device| {
            let mut out = device.zeroed(6).unwrap();
            let _ = device
                .queue()
                .launch(Blocks::Exactly(1), Reuses { out: out.span_mut() });
        });
        report.findings.first().map(|finding| finding.kind)
    };
    let race = Some(Kind::SharedRace);
    for how in [Explore::Random, Explore::Pct { depth: 2 }] {
        assert_eq!(explore(Dealing::InTurn, how), race);
        assert_eq!(explore(Dealing::Contiguous, how), race);
        assert_eq!(explore(Dealing::Strided, how), None);
    }
    assert_eq!(explore(Dealing::Contiguous, Explore::Exhaustive), race);
}

#[test]
fn a_model_is_what_its_text_says() {
    for dealing in [Dealing::InTurn, Dealing::Strided, Dealing::Contiguous] {
        let mut model = Model::small();
        model.dealing = dealing;
        assert_eq!(model.to_string().parse::<Model>().unwrap(), model);
    }
}

/// A thread that goes on for ever.
#[repr(C)]
struct Endless<'a> {
    word: SpanMut<'a, u32>,
    barriers: bool,
}

// SAFETY: one thread, in one block.
unsafe impl Kernel for Endless<'_> {
    const NAME: &'static str = "endless";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        loop {
            if self.barriers {
                acc.sync_block();
            } else {
                self.word.get(acc, 0);
            }
        }
    }
}

#[test]
fn a_loop_without_end_by_a_block_of_one_thread_is_given_up() {
    let schedulers = [
        Explore::RoundRobin,
        Explore::Random,
        Explore::Pct { depth: 2 },
        Explore::Exhaustive,
    ];
    for (explore, barriers) in schedulers.into_iter().flat_map(|how| [(how, false), (how, true)]) {
        within_a_minute(move || {
            let mut model = Model::small();
            (model.threads_per_block, model.step_budget) = (1, 1000);
            let report = Builder::new().model(model).explore(explore).schedules(1).run(|device| {
                let mut word = device.zeroed(1).unwrap();
                let word = word.span_mut();
                let _ = device.queue().launch(Blocks::Exactly(1), Endless { word, barriers });
            });
            let kinds: Vec<_> = report.findings.iter().map(|finding| finding.kind).collect();
            assert_eq!(kinds, [Kind::StepBudget], "{explore:?}, barriers: {barriers}");
        });
    }
}

#[test]
fn a_time_limit_ends_a_loop_of_barriers_of_one_thread() {
    within_a_minute(|| {
        let options = QueueOptions::default().timeout(Duration::from_millis(20));
        let device = Device::open("check:threads=1,steps=1000000000").unwrap();
        let mut word = device.zeroed(1).unwrap();
        let (word, barriers) = (word.span_mut(), true);
        let result = device
            .queue_with(options)
            .launch(Blocks::Exactly(1), Endless { word, barriers });
        assert!(matches!(result, Err(LaunchError::TimedOut { .. })), "{result:?}");
    });
}
