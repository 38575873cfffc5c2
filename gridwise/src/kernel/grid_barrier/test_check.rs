//! The grid barriers on the checking device: every schedule of a small grid is silent, and every weaker barrier is found.

use std::{marker::PhantomData, panic::Location};

use super::{BarrierShape, CounterBarrier, FlipBarrier, GridBarrier, TreeBarrier};
use crate::{
    backend::check::mutation::{Equivalent, Subject, append, wrong},
    check::{Builder, Explore, Model, Report},
    host::queue::QueueOptions,
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
            unsafe { B::meet(acc, self.words, block, blocks, site) };
            sum += (0..blocks).map(|other| data.get(acc, other)).sum::<u32>();
        }
        self.sums.set(acc, block, sum);
    }
}

fn model(blocks: usize) -> Model {
    let mut model = Model::small();
    model.multiprocessors = blocks;
    model.exact = true;
    model
}

fn explore<B: GridBarrier>(shape: BarrierShape, start: u32, blocks: usize, rounds: usize, explore: Explore) -> Report {
    Builder::new().model(model(blocks)).explore(explore).run(|device| {
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
            barrier: PhantomData,
        };
        if queue
            .launch_cooperative(Blocks::Exactly(blocks).threads(1), kernel)
            .is_err()
        {
            return;
        }
        let expected = (1..=rounds as u32).sum::<u32>() * blocks as u32;
        if queue.download(&sums).unwrap() != vec![expected; blocks] {
            wrong("the sums");
        }
    })
}

/// A round number just below the wrap: the top bit flips from 1 to 0.
const NEAR_WRAP: u32 = 1 << 31;

fn is_sound<B: GridBarrier>(shape: BarrierShape, start: u32) {
    for (blocks, rounds) in [(2, 3), (3, 2)] {
        let report = explore::<B>(shape, start, blocks, rounds, Explore::Exhaustive);
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
    let random = explore::<TreeBarrier>(BarrierShape::Tree, 0, 6, 3, Explore::Random);
    assert!(random.is_clean(), "{random}");
}

#[test]
fn every_weaker_flip_barrier_is_found() {
    let subject = Subject {
        name: "grid barrier, flip",
        sources: &["kernel/grid_barrier/flip.rs"],
        scenarios: &[("3 blocks, 2 rounds", || {
            explore::<FlipBarrier>(BarrierShape::Flip, 0, 3, 2, Explore::Exhaustive)
        })],
        elsewhere: &[],
        unused: &[],
        equivalent: &[],
    };
    subject.score();
}

/// Of the shapes with a generation.
const ORDERED_BY_THE_ROUNDS: [Equivalent; 2] = [
    Equivalent {
        line: "let round = generation.load(hardware, Ordering::Relaxed);",
        changes: &["Narrowed"],
        because: "The last publication was observed when this member left the last round, and the next comes after its arrival: \
                  ordered with all stores, the load needs no atomicity at all.",
    },
    Equivalent {
        line: "arrived.store(hardware, 0, Ordering::Relaxed);",
        changes: &["Narrowed"],
        because: "It comes after the arrivals of this round, which the last one acquired, and before those of the next, which \
                  observed the publication.",
    },
];

#[test]
fn every_weaker_counter_barrier_is_found() {
    let subject = Subject {
        name: "grid barrier, counter",
        sources: &["kernel/grid_barrier/counter.rs"],
        scenarios: &[("3 blocks, 2 rounds", || {
            explore::<CounterBarrier>(BarrierShape::Counter, 0, 3, 2, Explore::Exhaustive)
        })],
        elsewhere: &[],
        unused: &[],
        equivalent: &ORDERED_BY_THE_ROUNDS,
    };
    subject.score();
}

#[test]
fn every_weaker_tree_barrier_is_found() {
    let subject = Subject {
        name: "grid barrier, tree",
        sources: &["kernel/grid_barrier/tree.rs"],
        scenarios: &[("3 blocks, 2 rounds", || {
            explore::<TreeBarrier>(BarrierShape::Tree, 0, 3, 2, Explore::Exhaustive)
        })],
        elsewhere: &[],
        unused: &[],
        equivalent: &ORDERED_BY_THE_ROUNDS,
    };
    subject.score();
}

/// Blocks of several threads synchronise, and each thread reads what all have written; or they reduce, three times, so that the
/// third reduction meets what the first has left.
#[repr(C)]
struct Synchronise<'a> {
    data: SpanMut<'a, u64>,
    seen: SpanMut<'a, u64>,
    reduces: bool,
}

const ROUNDS: usize = 3;

// SAFETY: a thread writes its own elements, and reads those of others after one grid barrier and before the next.
unsafe impl GridKernel for Synchronise<'_> {
    const NAME: &'static str = "synchronise";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let threads = acc.thread_count_in_grid();
        let me = acc.thread_index_in_grid();
        for round in 0..ROUNDS {
            let value = (me + round) as u64 + 1;
            let seen = if self.reduces {
                acc.reduce_grid(value, append)
            } else {
                self.data.set(acc, me, value);
                acc.sync_grid();
                (0..threads).fold(0, |all, other| append(all, self.data.get(acc, other)))
            };
            self.seen.set(acc, me * ROUNDS + round, seen);
            if !self.reduces {
                acc.sync_grid();
            }
        }
    }
}

fn synchronise(shape: BarrierShape, blocks: usize, threads: usize, reduces: bool) -> Report {
    let builder = Builder::new().model(model(blocks)).explore(Explore::Exhaustive);
    builder.run(|device| {
        let queue = device.queue_with(QueueOptions::default().barrier(shape));
        let all = blocks * threads;
        let (mut data, mut seen) = (device.zeroed(all).unwrap(), device.zeroed(all * ROUNDS).unwrap());
        let kernel = Synchronise {
            data: data.span_mut(),
            seen: seen.span_mut(),
            reduces,
        };
        if queue
            .launch_cooperative(Blocks::Exactly(blocks).threads(threads), kernel)
            .is_err()
        {
            return;
        }
        let expected = |round| (0..all).fold(0, |seen, thread| append(seen, (thread + round) as u64 + 1));
        let expected = [0, 1, 2].map(expected).repeat(all);
        if queue.download(&seen).unwrap() != expected {
            wrong("the values that threads saw");
        }
    })
}

#[test]
fn blocks_of_several_threads_are_silent_under_every_schedule() {
    for shape in [BarrierShape::Flip, BarrierShape::Counter, BarrierShape::Tree] {
        for reduces in [false, true] {
            let report = synchronise(shape, 2, 2, reduces);
            assert!(report.is_clean() && report.complete, "{report}");
            println!("{shape:?}, reduces {reduces}: {} schedules", report.schedules);
        }
    }
}

#[test]
fn every_weaker_frame_of_a_grid_barrier_is_found() {
    let subject = Subject {
        name: "`sync_grid`, `reduce_grid`",
        sources: &["kernel/grid_barrier/mod.rs"],
        scenarios: &[
            ("2 blocks of 2 threads", || synchronise(BarrierShape::Flip, 2, 2, false)),
            ("a reduction by them", || synchronise(BarrierShape::Flip, 2, 2, true)),
        ],
        elsewhere: &[],
        unused: &[],
        equivalent: &[],
    };
    subject.score();
}
