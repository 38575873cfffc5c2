//! Each order, and the reset before the publication, taken away: the models have to fail, or they would show nothing.

use std::panic::catch_unwind;

use super::*;
use crate::kernel::mutant::{self, Change};

/// Two blocks write, meet, read what the other wrote, meet, and write again.
fn two_blocks<B: GridBarrier>(shape: BarrierShape) {
    explore(3, move || {
        World::new(shape, 2, 1).run(move |acc| {
            acc.write(1);
            acc.meet::<B>();
            acc.read_all(1);
            acc.meet::<B>();
            acc.write(2);
        });
    });
}

/// Three blocks, so that a tree has two levels.
fn three_blocks<B: GridBarrier>(shape: BarrierShape) {
    explore(2, move || {
        World::new(shape, 3, 1).run(move |acc| {
            acc.write(1);
            acc.meet::<B>();
            acc.read_all(1);
        });
    });
}

/// Mutants that loom can tell: it knows no scopes.
fn all_fail(expected: usize, models: &[fn()]) {
    let mut mutants: Vec<_> = mutant::record(|| models.iter().for_each(|model| model()))
        .into_iter()
        .flat_map(|site| site.mutants())
        .filter(|mutant| mutant.change != Change::Narrowed)
        .collect();
    // Split, an addition is found by lost arrivals, which is no question of order.
    mutants.retain(|mutant| mutant.change != Change::Split);
    assert_eq!(mutants.len(), expected, "{mutants:?}");
    for mutant in mutants {
        let fails = |model: &fn()| catch_unwind(|| mutant::with(mutant, &[], model)).is_err();
        assert!(models.iter().any(fails), "{mutant:?} is not found");
    }
}

// An arrival that does not release: nobody sees what was written before. One that does not acquire: the last to arrive, which
// does not wait, does not see what the others wrote. (It is the observation that orders the others.) A reset after the
// publication takes away arrivals of the next round: the counter then never reaches the number of members, and the node of the
// tree, which compares by order, lets the next through too early.

#[test]
fn loom_every_weaker_flip_barrier_fails() {
    all_fail(5, &[|| two_blocks::<FlipBarrier>(BarrierShape::Flip)]);
}

#[test]
fn loom_every_weaker_counter_barrier_fails() {
    all_fail(7, &[|| two_blocks::<CounterBarrier>(BarrierShape::Counter)]);
}

#[test]
fn loom_every_weaker_tree_barrier_fails() {
    let models: [fn(); 2] = [
        || two_blocks::<TreeBarrier>(BarrierShape::Tree),
        || three_blocks::<TreeBarrier>(BarrierShape::Tree),
    ];
    all_fail(7, &models);
}
