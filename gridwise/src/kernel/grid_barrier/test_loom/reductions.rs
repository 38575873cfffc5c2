//! Grid reductions: two slots a block, used in turn.

use super::*;

/// Three reductions in a row, so that the third writes the slots of the first.
fn reductions(world: World) {
    world.run(|acc| {
        for round in 1..=3 {
            // Not commutative: the digits stand in the order of the blocks.
            let sum = reduce_grid(acc, acc.rank as u32 + round, |a, b| 10 * a + b, SITE.location);
            assert_eq!(sum, 10 * round + round + 1);
        }
    });
}

#[test]
fn loom_reductions_in_a_row_do_not_mix() {
    for shape in [BarrierShape::Flip, BarrierShape::Counter, BarrierShape::Tree] {
        explore(2, move || reductions(World::new(shape, 2, 1)));
    }
}

#[test]
#[should_panic(expected = "Causality violation")]
fn loom_reductions_through_one_slot_would_race() {
    explore(2, move || {
        reductions(World {
            alternates: false,
            ..World::new(BarrierShape::Flip, 2, 1)
        });
    });
}
