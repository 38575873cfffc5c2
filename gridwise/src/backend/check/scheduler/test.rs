//! The exhaustive scheduler against one that tries everything; replay; priorities.

use std::{cell::RefCell, collections::BTreeSet};

use super::{Candidate, Dice, Exhaustive, Pct, Random, RoundRobin, Scheduler, Step, from_token};
use crate::{
    backend::check::{CheckDevice, Stacks, memory::Extent},
    check::Model,
    prelude::*,
};

const ROLES: usize = 3;
const OPS: usize = 3;

/// An operation of a random program: which word, what, and in which order.
#[derive(Clone, Copy, Debug)]
enum Op {
    Store(usize, u32),
    Load(usize, Ordering),
    Add(usize),
    Fence,
    /// Waits for that value.
    Wait(usize, u32, Ordering),
}

type Program = [[Op; OPS]; ROLES];

#[repr(C)]
struct Run<'a> {
    program: Program,
    words: SpanMut<'a, u32>,
    seen: SpanMut<'a, u32>,
}

// SAFETY: all accesses to words are atomic; a role writes what it has seen to its own elements.
unsafe impl GridKernel for Run<'_> {
    const NAME: &'static str = "random_program";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let role = acc.block_index();
        for (at, op) in self.program[role].iter().enumerate() {
            let seen = match *op {
                Op::Store(word, value) => {
                    self.words.atomic(word).store(acc, value, Ordering::Release);
                    0
                }
                Op::Load(word, order) => self.words.atomic(word).load(acc, order),
                Op::Add(word) => self.words.atomic(word).fetch_add(acc, 1, Ordering::Relaxed),
                Op::Fence => {
                    acc.fence(Ordering::SeqCst, Scope::Device);
                    0
                }
                Op::Wait(word, value, order) => self.words.atomic(word).wait_until(acc, order, |now| now == value),
            };
            self.seen.set(acc, role * OPS + at, 1 + seen);
        }
    }
}

fn random_program(dice: &mut Dice) -> Program {
    std::array::from_fn(|_| {
        std::array::from_fn(|_| {
            let word = dice.below(2);
            match dice.below(8) {
                0 | 1 => Op::Store(word, 1 + dice.below(2) as u32),
                2 => Op::Load(word, Ordering::Acquire),
                3 => Op::Load(word, Ordering::Relaxed),
                4 | 5 => Op::Add(word),
                6 => Op::Fence,
                _ => {
                    let order = [Ordering::Acquire, Ordering::SeqCst][dice.below(2)];
                    Op::Wait(word, 1 + dice.below(2) as u32, order)
                }
            }
        })
    })
}

fn three_blocks() -> Model {
    let mut model = Model::small();
    model.multiprocessors = ROLES;
    model
}

/// One run: what every role saw, and the token.
fn run(program: Program, scheduler: Box<dyn Scheduler>) -> (Vec<u32>, Box<dyn Scheduler>) {
    let device = Device::of_check(CheckDevice::with_scheduler(
        three_blocks(),
        scheduler,
        Stacks::default(),
    ));
    let queue = device.queue();
    let mut words = device.zeroed(2).unwrap();
    let mut seen = device.zeroed(ROLES * OPS).unwrap();
    let kernel = Run {
        program,
        words: words.span_mut(),
        seen: seen.span_mut(),
    };
    // Some programs wait for ever: what was seen until then is an outcome too.
    let _ = queue.launch_cooperative(Blocks::Exactly(ROLES).threads(1), kernel);
    let mut outcome = queue.download(&seen).unwrap();
    outcome.extend(queue.download(&words).unwrap());
    let (scheduler, ..) = device.as_check().unwrap().take_parts();
    (outcome, scheduler.unwrap())
}

fn outcomes(program: Program, scheduler: Exhaustive) -> (BTreeSet<Vec<u32>>, usize) {
    let mut scheduler: Box<dyn Scheduler> = Box::new(scheduler);
    let mut all = BTreeSet::new();
    let mut schedules = 0;
    while scheduler.begin() {
        let (outcome, used) = run(program, scheduler);
        scheduler = used;
        all.insert(outcome);
        schedules += 1;
        if schedules > 2_000 {
            break;
        }
    }
    (all, schedules)
}

#[test]
fn reduced_exploration_misses_no_outcome_of_random_programs() {
    let mut dice = Dice::new(7);
    let (mut reduced_total, mut naive_total) = (0, 0);
    for _ in 0..12 {
        let program = random_program(&mut dice);
        let (reduced, schedules) = outcomes(program, Exhaustive::default());
        let mut naive = Exhaustive::default();
        naive.naive = true;
        let (all, naive_schedules) = outcomes(program, naive);
        if naive_schedules > 2_000 {
            assert!(all.is_subset(&reduced), "{program:?}");
        } else {
            assert_eq!(all, reduced, "{program:?}");
        }
        reduced_total += schedules;
        naive_total += naive_schedules;
    }
    println!("{reduced_total} schedules instead of {naive_total}");
    assert!(reduced_total * 2 < naive_total, "{reduced_total} of {naive_total}");
}

#[test]
fn a_wait_that_came_too_late_is_tried_earlier() {
    let nothing = Op::Load(1, Ordering::Relaxed);
    let program = [
        [Op::Store(0, 1), Op::Store(0, 2), nothing],
        [Op::Wait(0, 1, Ordering::SeqCst), nothing, nothing],
        [nothing; OPS],
    ];
    let (all, _) = outcomes(program, Exhaustive::default());
    let waited: BTreeSet<bool> = all.iter().map(|outcome| outcome[OPS] != 0).collect();
    assert_eq!(waited, [false, true].into(), "it may come in time, and too late");
}

#[test]
fn a_token_makes_the_same_run() {
    let mut dice = Dice::new(11);
    let schedulers: [Box<dyn Scheduler>; 4] = [
        Box::new(Random::new(3, 0)),
        Box::new(Pct::new(3, 3, 0, None)),
        Box::new(RoundRobin::default()),
        Box::new(Exhaustive::default()),
    ];
    for mut scheduler in schedulers {
        let program = random_program(&mut dice);
        for _ in 0..20 {
            if !scheduler.begin() {
                break;
            }
            let (outcome, used) = run(program, scheduler);
            scheduler = used;
            let token = scheduler.token();
            let mut replay = from_token(&token).expect("a token").scheduler;
            assert!(replay.begin());
            assert_eq!(run(program, replay).0, outcome, "{token}, {program:?}");
        }
    }
}

#[test]
fn what_is_no_token_is_refused() {
    for text in [
        "",
        "random",
        "random:x:1",
        "choices:1.a",
        "pct:1:2",
        "dice:1",
        "random:1:1@",
        "random:1:1@3",
        "random:1:1@0x1",
        "random:1:1@2x",
        "@2x3",
    ] {
        assert!(from_token(text).is_none(), "{text}");
    }
}

fn candidates(ids: &[u32]) -> Vec<Candidate> {
    ids.iter()
        .map(|id| Candidate {
            slot: *id,
            id: *id,
            step: Step::Write(Extent {
                region: 0,
                offset: 0,
                size: 4,
            }),
        })
        .collect()
}

#[test]
fn round_robin_takes_the_next_number() {
    let mut scheduler = RoundRobin::default();
    assert!(scheduler.begin());
    let runnable = candidates(&[2, 0, 1]);
    assert_eq!(scheduler.thread(0, &runnable), 2);
    assert_eq!(scheduler.thread(1, &runnable), 0);
    assert_eq!(scheduler.thread(2, &runnable), 1);
    assert!(!scheduler.begin(), "there is one schedule");
}

#[test]
fn priorities_stay_but_for_the_changes() {
    let mut scheduler = Pct::new(5, 1, 0, None);
    scheduler.begin();
    let runnable = candidates(&[0, 1, 2]);
    let first = scheduler.thread(0, &runnable);
    assert!(
        (0..50).all(|_| scheduler.thread(0, &runnable) == first),
        "depth 1 has no changes"
    );

    let mut winners = BTreeSet::new();
    let mut scheduler = Pct::new(5, 3, 0, Some(50));
    for _ in 0..20 {
        scheduler.begin();
        let chosen: BTreeSet<_> = (0..50).map(|_| scheduler.thread(0, &runnable)).collect();
        assert!(chosen.len() <= 3, "depth 3 has two changes");
        winners.extend(chosen);
    }
    assert_eq!(winners.len(), 3, "everyone wins sometimes");
}

#[test]
fn random_numbers_are_even_enough() {
    let mut dice = Dice::new(1);
    let counts = RefCell::new([0_usize; 5]);
    for _ in 0..5000 {
        counts.borrow_mut()[dice.below(5)] += 1;
    }
    let counts = counts.into_inner();
    assert!(counts.iter().all(|count| (800..1200).contains(count)), "{counts:?}");
}
