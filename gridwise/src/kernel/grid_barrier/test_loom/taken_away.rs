//! Each order, and the reset before the publication, taken away: the models have to fail, or they would show nothing.

use super::*;

/// Two blocks write, meet, read what the other wrote, meet, and write again.
fn two_blocks<B: GridBarrier>(shape: BarrierShape, protocol: Protocol) {
    explore(3, move || {
        World::new(shape, 2, 1).run(move |acc| {
            acc.write(1);
            acc.meet::<B>(protocol);
            acc.read_all(1);
            acc.meet::<B>(protocol);
            acc.write(2);
        });
    });
}

/// Three blocks, so that a tree has two levels.
fn three_blocks<B: GridBarrier>(shape: BarrierShape, protocol: Protocol) {
    explore(2, move || {
        World::new(shape, 3, 1).run(move |acc| {
            acc.write(1);
            acc.meet::<B>(protocol);
            acc.read_all(1);
        });
    });
}

macro_rules! fails {
    ($($name:ident: $model:ident::<$shape:ident>($field:ident: $value:expr), $how:literal;)*) => { $(
        #[test]
        #[should_panic(expected = $how)]
        fn $name() {
            $model::<shapes::$shape>(BarrierShape::$shape, Protocol { $field: $value, ..Protocol::SOUND });
        }
    )* };
}

/// The types of the shapes, by the names of the shapes.
mod shapes {
    pub(super) use super::super::{CounterBarrier as Counter, FlipBarrier as Flip, TreeBarrier as Tree};
}

// An arrival that does not release: nobody sees what was written before. One that does not acquire: the last to arrive, which
// does not wait, does not see what the others wrote. (It is the observation that orders the others.) A reset after the
// publication takes away arrivals of the next round: the counter then never reaches the number of members, and the node of the
// tree, which compares by order, lets the next through too early.
fails! {
    loom_flip_without_release_on_arrival: two_blocks::<Flip>(arrive: Ordering::Acquire), "Causality violation";
    loom_flip_without_acquire_on_arrival: two_blocks::<Flip>(arrive: Ordering::Release), "Causality violation";
    loom_flip_without_acquire_on_observation: two_blocks::<Flip>(observe: Ordering::Relaxed), "Causality violation";

    loom_counter_without_release_on_arrival: two_blocks::<Counter>(arrive: Ordering::Acquire), "Causality violation";
    loom_counter_without_acquire_on_arrival: two_blocks::<Counter>(arrive: Ordering::Release), "Causality violation";
    loom_counter_without_acquire_on_observation: two_blocks::<Counter>(observe: Ordering::Relaxed), "Causality violation";
    loom_counter_without_release_on_publication: two_blocks::<Counter>(publish: Ordering::Relaxed), "Causality violation";
    loom_counter_reset_after_publication: two_blocks::<Counter>(reset_first: false), "deadlock";

    loom_tree_without_release_on_arrival: three_blocks::<Tree>(arrive: Ordering::Acquire), "Causality violation";
    loom_tree_without_acquire_on_arrival: three_blocks::<Tree>(arrive: Ordering::Release), "Causality violation";
    loom_tree_without_acquire_on_observation: three_blocks::<Tree>(observe: Ordering::Relaxed), "Causality violation";
    loom_tree_without_release_on_publication: three_blocks::<Tree>(publish: Ordering::Relaxed), "Causality violation";
    loom_tree_reset_after_publication: two_blocks::<Tree>(reset_first: false), "Causality violation";
}
