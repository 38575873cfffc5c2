//! The grid barriers on the checking device: every schedule of a small grid is silent, and every weakened order is found.

use std::{marker::PhantomData, panic::Location, sync::atomic::Ordering};

use super::{BarrierShape, CounterBarrier, FlipBarrier, GridBarrier, Protocol, TreeBarrier};
use crate::{
    check::{Builder, Explore, Kind, Model, Report},
    kernel::hardware::{WaitFor, WaitSite},
    prelude::*,
};

/// Blocks of one thread meet `rounds` times; before each round each writes its element, after it reads all.
#[repr(C)]
struct Rounds<'a, B> {
    words: *mut u32,
    data: [SpanMut<'a, u32>; 2],
    sums: SpanMut<'a, u32>,
    rounds: usize,
    protocol: Protocol,
    barrier: PhantomData<B>,
}

// SAFETY: elements of one parity are written in every second round, and read in between by blocks that have met. That the
// barrier orders it is what the tests are about.
unsafe impl<B: GridBarrier> GridKernel for Rounds<'_, B> {
    const NAME: &'static str = "rounds";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let (block, blocks) = (acc.block_index(), acc.block_count());
        let site = WaitSite {
            what: WaitFor::GridBarrier,
            location: Location::caller(),
        };
        let mut sum = 0;
        for round in 0..self.rounds {
            let data = &self.data[round % 2];
            data.set(acc, block, round as u32 + 1);
            // SAFETY: the words are enough for the blocks, and used for this alone.
            unsafe { B::meet(acc, self.words, block, blocks, self.protocol, site) };
            sum += (0..blocks).map(|other| data.get(acc, other)).sum::<u32>();
        }
        self.sums.set(acc, block, sum);
    }
}

fn explore<B: GridBarrier>(
    shape: BarrierShape,
    start: u32,
    blocks: usize,
    rounds: usize,
    protocol: Protocol,
    explore: Explore,
) -> Report {
    let mut model = Model::small();
    model.multiprocessors = blocks;
    model.exact = true;
    Builder::new().model(model).explore(explore).run(|device| {
        let queue = device.queue();
        let mut words = device.zeroed::<u32>(shape.words(blocks)).unwrap();
        queue.fill(words.span_mut().range(..1), start);
        let mut data = [device.zeroed(blocks).unwrap(), device.zeroed(blocks).unwrap()];
        let mut sums = device.zeroed(blocks).unwrap();
        let [even, odd] = &mut data;
        let kernel = Rounds::<B> {
            words: words.span_mut().into_slice().as_mut_ptr(),
            data: [even.span_mut(), odd.span_mut()],
            sums: sums.span_mut(),
            rounds,
            protocol,
            barrier: PhantomData,
        };
        queue
            .launch_cooperative(Blocks::Exactly(blocks).threads(1), kernel)
            .unwrap();
        let expected = (1..=rounds as u32).sum::<u32>() * blocks as u32;
        assert_eq!(queue.download(&sums).unwrap(), vec![expected; blocks]);
    })
}

/// A round number just below the wrap: the top bit flips from 1 to 0.
const NEAR_WRAP: u32 = 1 << 31;

fn is_sound<B: GridBarrier>(shape: BarrierShape, start: u32) {
    for (blocks, rounds) in [(2, 3), (3, 2)] {
        let report = explore::<B>(shape, start, blocks, rounds, Protocol::SOUND, Explore::Exhaustive);
        assert!(report.is_clean() && report.complete, "{report}");
        println!(
            "{shape:?}, {blocks} blocks, {rounds} rounds: {} schedules",
            report.schedules
        );
    }
}

#[test]
fn the_flip_barrier_is_silent_under_every_schedule() {
    is_sound::<FlipBarrier>(BarrierShape::Flip, 0);
    is_sound::<FlipBarrier>(BarrierShape::Flip, NEAR_WRAP);
}

#[test]
fn the_counter_barrier_is_silent_under_every_schedule() {
    is_sound::<CounterBarrier>(BarrierShape::Counter, 0);
}

#[test]
fn the_tree_barrier_is_silent_under_every_schedule() {
    is_sound::<TreeBarrier>(BarrierShape::Tree, 0);
    is_sound::<TreeBarrier>(BarrierShape::Tree, u32::MAX);
}

#[test]
fn a_tree_of_two_levels_is_silent() {
    let random = explore::<TreeBarrier>(BarrierShape::Tree, 0, 6, 3, Protocol::SOUND, Explore::Random);
    assert!(random.is_clean(), "{random}");
}

/// The protocol with one thing taken away.
fn mutants(shape: BarrierShape) -> Vec<(&'static str, Protocol)> {
    let sound = Protocol::SOUND;
    let mut mutants = vec![
        (
            "arrival without release",
            Protocol {
                arrive: Ordering::Acquire,
                ..sound
            },
        ),
        (
            "arrival without acquire",
            Protocol {
                arrive: Ordering::Release,
                ..sound
            },
        ),
        (
            "relaxed arrival",
            Protocol {
                arrive: Ordering::Relaxed,
                ..sound
            },
        ),
        (
            "relaxed observation",
            Protocol {
                observe: Ordering::Relaxed,
                ..sound
            },
        ),
        (
            "block scope",
            Protocol {
                scope: Scope::Block,
                ..sound
            },
        ),
    ];
    // The flip barrier has one word: no separate publication, and no reset.
    if shape != BarrierShape::Flip {
        mutants.push((
            "relaxed publication",
            Protocol {
                publish: Ordering::Relaxed,
                ..sound
            },
        ));
        mutants.push((
            "reset after publication",
            Protocol {
                reset_first: false,
                ..sound
            },
        ));
    }
    mutants
}

fn finds_every_mutant<B: GridBarrier>(shape: BarrierShape) {
    let mutants = mutants(shape);
    for (name, protocol) in &mutants {
        let report = explore::<B>(shape, 0, 3, 2, *protocol, Explore::Exhaustive);
        assert!(!report.findings.is_empty(), "{shape:?}, {name}: {report}");
        let kind = report.findings[0].kind;
        println!("{shape:?}, {name}: {kind}, after {} schedules", report.schedules);
        if *name == "block scope" {
            assert_eq!(kind, Kind::ScopeTooNarrow);
        }
    }
    println!("{shape:?}: {0} of {0} mutants found", mutants.len());
}

#[test]
fn every_weaker_flip_barrier_is_found() {
    finds_every_mutant::<FlipBarrier>(BarrierShape::Flip);
}

#[test]
fn every_weaker_counter_barrier_is_found() {
    finds_every_mutant::<CounterBarrier>(BarrierShape::Counter);
}

#[test]
fn every_weaker_tree_barrier_is_found() {
    finds_every_mutant::<TreeBarrier>(BarrierShape::Tree);
}
