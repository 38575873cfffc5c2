//! Thread 0 releases, but the other threads of its block were never ordered before it

use super::exhibit::*;

exhibit! {
    "release_before_block_barrier", "A4.2", "Thread 0 releases, but the other threads of its block were never ordered before it",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    data.set(acc, acc.thread_index_in_grid(), 1);
    if fixed {
        acc.sync_block();
    }
    if acc.thread_index() == 0 {
        words.atomic(0).fetch_add(acc, 1, Ordering::AcqRel);
        words.atomic(0).wait_until(acc, Ordering::Acquire, |now| now == 2);
    }
    acc.sync_block();
    data.get(acc, (1 - acc.block_index()) * 2 + 1);
}
