//! Look-back on the checking device: every schedule of a small grid is silent, and every weaker look-back is found.

use std::{cell::Cell, ops::Range};

use super::LookBack;
use crate::{
    backend::check::mutation::{Subject, append, wrong},
    check::{Builder, Explore, Model, Report},
    prelude::*,
};

/// A value of two words, so that half of one shows. The operator appends digits: it is not commutative.
type Value = [u64; 2];

fn join(a: Value, b: Value) -> Value {
    [append(a[0], b[0]), append(a[1], b[1])]
}

fn of_tile(tile: usize) -> Value {
    [tile as u64 + 1, 9 - tile as u64]
}

fn of_tiles(tiles: Range<usize>) -> Value {
    tiles.map(of_tile).fold([0; 2], join)
}

#[repr(C)]
struct Tiles<'a> {
    look_back: LookBack<'a, Value>,
    before: SpanMut<'a, Value>,
    recomputed: SpanMut<'a, u32>,
    /// Tiles that are missed are waited for, not recomputed.
    waits: bool,
    /// The block with the first tile publishes nothing before the one with the second has its prefix.
    first_is_held_up: bool,
    /// Set once the second tile's block has its prefix.
    second_is_done: SpanMut<'a, u32>,
}

// SAFETY: a tile's element is written by the one block that has claimed it. Counts and flags are atomic.
unsafe impl Kernel for Tiles<'_> {
    const NAME: &'static str = "tiles";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let leads = acc.thread_index() == 0;
        let recompute = |tile| {
            if self.waits {
                return self.look_back.wait_for(acc, tile);
            }
            if leads {
                self.recomputed.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
            }
            of_tile(tile)
        };
        while let Some(tile) = self.look_back.claim(acc) {
            let second_is_done = self.second_is_done.atomic(0);
            if self.first_is_held_up && tile == 0 && leads {
                second_is_done.wait_until(acc, Ordering::Relaxed, |done| done == 1);
            }
            let before = self.look_back.exclusive(acc, tile, of_tile(tile), join, recompute);
            if leads {
                self.before.set(acc, tile, before.unwrap_or([0; 2]));
                if tile == 1 {
                    second_is_done.store(acc, 1, Ordering::Relaxed);
                }
            }
        }
    }
}

struct Shape {
    blocks: usize,
    threads: usize,
    warp_size: usize,
    tiles: usize,
    waits: bool,
    first_is_held_up: bool,
}

const SMALL: Shape = Shape {
    blocks: 2,
    threads: 1,
    warp_size: 1,
    tiles: 2,
    waits: false,
    first_is_held_up: false,
};

/// Explores, and calls `seen` with the number of tiles that were recomputed, for each schedule.
fn explore(shape: &Shape, explore: Explore, schedules: Option<usize>, seen: impl Fn(u32)) -> Report {
    let mut model = Model::small();
    model.multiprocessors = shape.blocks;
    model.warp_size = shape.warp_size;
    model.exact = true;
    let mut builder = Builder::new().model(model).explore(explore);
    if let Some(schedules) = schedules {
        builder = builder.schedules(schedules);
    }
    builder.run(|device| {
        let queue = device.queue();
        let mut memory = queue.look_back(shape.tiles).unwrap();
        let mut before = device.zeroed(shape.tiles).unwrap();
        let (mut recomputed, mut second_is_done) = (device.zeroed(1).unwrap(), device.zeroed(1).unwrap());
        let kernel = Tiles {
            look_back: memory.fresh(&queue),
            before: before.span_mut(),
            recomputed: recomputed.span_mut(),
            waits: shape.waits,
            first_is_held_up: shape.first_is_held_up,
            second_is_done: second_is_done.span_mut(),
        };
        queue
            .launch(Blocks::Exactly(shape.blocks).threads(shape.threads), kernel)
            .unwrap();
        let expected: Vec<Value> = (0..shape.tiles).map(|tile| of_tiles(0..tile)).collect();
        if queue.download(&before).unwrap() != expected {
            wrong("prefixes");
        }
        seen(queue.download(&recomputed).unwrap()[0]);
    })
}

fn all(shape: &Shape) -> Report {
    explore(shape, Explore::Exhaustive, None, |_| ())
}

fn some(shape: &Shape, schedules: usize) -> Report {
    explore(shape, Explore::Random, Some(schedules), |_| ())
}

#[test]
fn every_schedule_of_two_blocks_is_silent() {
    let (never, always) = (Cell::new(false), Cell::new(true));
    let report = explore(&SMALL, Explore::Exhaustive, None, |recomputed| {
        never.set(never.get() || recomputed == 0);
        always.set(always.get() && recomputed > 0);
    });
    assert!(report.is_clean() && report.complete, "{report}");
    assert!(never.get(), "there is a schedule in which no tile is recomputed");
    assert!(!always.get());
    println!("{} schedules", report.schedules);
}

#[test]
fn tiles_of_blocks_that_are_held_up_are_recomputed() {
    let most = Cell::new(0);
    let shape = Shape { tiles: 4, ..SMALL };
    let report = explore(&shape, Explore::Random, Some(2_000), |recomputed| {
        most.set(most.get().max(recomputed));
    });
    assert!(report.is_clean(), "{report}");
    assert!(most.get() > 0);
}

#[test]
fn nobody_waits_for_a_block_that_does_not_go_on() {
    let shape = Shape {
        first_is_held_up: true,
        ..SMALL
    };
    let report = explore(&shape, Explore::Exhaustive, None, |recomputed| {
        assert_eq!(recomputed, 1)
    });
    assert!(report.is_clean() && report.complete, "{report}");
}

#[test]
fn tiles_that_are_waited_for_are_silent_under_every_schedule() {
    let shape = Shape { waits: true, ..SMALL };
    let report = explore(&shape, Explore::Exhaustive, None, |recomputed| {
        assert_eq!(recomputed, 0)
    });
    assert!(report.is_clean() && report.complete, "{report}");
}

#[test]
fn one_block_finds_every_prefix_at_the_first_look() {
    let shape = Shape {
        blocks: 1,
        tiles: 5,
        ..SMALL
    };
    let report = explore(&shape, Explore::Exhaustive, None, |recomputed| {
        assert_eq!(recomputed, 0)
    });
    assert!(report.is_clean() && report.complete, "{report}");
}

#[test]
fn larger_grids_are_silent() {
    for (blocks, threads, warp_size, tiles) in [(3, 1, 1, 7), (2, 2, 1, 5), (3, 4, 4, 9), (4, 4, 2, 6)] {
        let shape = Shape {
            blocks,
            threads,
            warp_size,
            tiles,
            ..SMALL
        };
        let report = some(&shape, 300);
        assert!(report.is_clean(), "{report}");
    }
}

#[test]
fn every_weaker_look_back_is_found() {
    let subject = Subject {
        name: "look-back",
        sources: &["kernel/look_back/mod.rs"],
        scenarios: &[
            ("2 blocks, 2 tiles", || all(&SMALL)),
            ("first is held up", || {
                all(&Shape {
                    first_is_held_up: true,
                    ..SMALL
                })
            }),
            ("waits", || all(&Shape { waits: true, ..SMALL })),
            ("3 blocks, 4 tiles", || {
                some(
                    &Shape {
                        blocks: 3,
                        tiles: 4,
                        ..SMALL
                    },
                    2_000,
                )
            }),
            ("2 blocks, warps of 2", || {
                some(
                    &Shape {
                        threads: 2,
                        warp_size: 2,
                        tiles: 4,
                        ..SMALL
                    },
                    2_000,
                )
            }),
        ],
        elsewhere: &[],
        unused: &[],
        equivalent: &[],
    };
    subject.score();
}
