//! What was written before a barrier is visible after it, and what is written after it disturbs nobody before it.

use super::*;

/// Each thread writes its cell and reads everybody's, with `meet` between: writes are ordered before the reads of the round,
/// and reads before the writes of the next.
fn rounds(acc: LoomAcc<'_>, rounds: u32, meet: impl Fn(LoomAcc<'_>)) {
    for round in 1..=rounds {
        acc.write(round);
        meet(acc);
        acc.read_all(round);
        if round < rounds {
            meet(acc);
        }
    }
}

/// Two blocks, three rounds of the barrier.
fn two_blocks<B: GridBarrier>(shape: BarrierShape) {
    explore(4, move || {
        World::new(shape, 2, 1).run(|acc| rounds(acc, 2, |acc| acc.meet::<B>()));
    });
}

/// Three blocks, one round of the barrier.
fn three_blocks<B: GridBarrier>(shape: BarrierShape) {
    explore(2, move || {
        World::new(shape, 3, 1).run(|acc| rounds(acc, 1, |acc| acc.meet::<B>()));
    });
}

/// Three blocks, two rounds of the barrier.
fn three_blocks_twice<B: GridBarrier>(shape: BarrierShape) {
    explore(1, move || {
        World::new(shape, 3, 1).run(|acc| {
            acc.write(1);
            acc.meet::<B>();
            acc.read_all(1);
            acc.meet::<B>();
            acc.write(2);
        });
    });
}

#[test]
fn loom_flip_barrier_orders_memory_of_two_blocks() {
    two_blocks::<FlipBarrier>(BarrierShape::Flip);
}

#[test]
fn loom_flip_barrier_orders_memory_of_three_blocks() {
    three_blocks::<FlipBarrier>(BarrierShape::Flip);
}

#[test]
fn loom_flip_barrier_orders_memory_of_three_blocks_twice() {
    three_blocks_twice::<FlipBarrier>(BarrierShape::Flip);
}

#[test]
fn loom_counter_barrier_orders_memory_of_two_blocks() {
    two_blocks::<CounterBarrier>(BarrierShape::Counter);
}

#[test]
fn loom_counter_barrier_orders_memory_of_three_blocks() {
    three_blocks::<CounterBarrier>(BarrierShape::Counter);
}

#[test]
fn loom_counter_barrier_orders_memory_of_three_blocks_twice() {
    three_blocks_twice::<CounterBarrier>(BarrierShape::Counter);
}

#[test]
fn loom_tree_barrier_orders_memory_of_two_blocks() {
    two_blocks::<TreeBarrier>(BarrierShape::Tree);
}

#[test]
fn loom_tree_barrier_orders_memory_of_three_blocks() {
    three_blocks::<TreeBarrier>(BarrierShape::Tree);
}

#[test]
fn loom_tree_barrier_orders_memory_of_three_blocks_twice() {
    three_blocks_twice::<TreeBarrier>(BarrierShape::Tree);
}

/// The word, or the generation, wraps in the first round: the flip bit is set, the generation is the largest.
fn wraps<B: GridBarrier>(shape: BarrierShape, word: usize, start: u32) {
    explore(3, move || {
        World::new(shape, 2, 1)
            .starting_at(word, start)
            .run(|acc| rounds(acc, 2, |acc| acc.meet::<B>()));
    });
}

#[test]
fn loom_flip_barrier_wraps_around() {
    wraps::<FlipBarrier>(BarrierShape::Flip, 0, 1 << 31);
}

#[test]
fn loom_counter_barrier_wraps_around() {
    wraps::<CounterBarrier>(BarrierShape::Counter, 1, u32::MAX);
}

#[test]
fn loom_tree_barrier_wraps_around() {
    wraps::<TreeBarrier>(BarrierShape::Tree, 0, u32::MAX);
}

/// Two blocks of two threads: the second thread of a block takes part through the block barrier alone.
#[test]
fn loom_grid_barrier_orders_memory_of_all_threads_of_a_block() {
    explore(1, || {
        World::new(BarrierShape::Flip, 2, 2).run(|acc| rounds(acc, 1, |acc| sync_grid(acc, SITE.location)));
    });
}
