//! A bounds check that somebody generated wraps code that holds a barrier

use super::exhibit::*;

exhibit! {
    "guard_around_the_barrier", "A6.6", "A bounds check that somebody generated wraps code that holds a barrier",
    finds [LeftBeforeBarrier],
    Kernel on |_| Blocks::Exactly(2).threads(4),
    shared SharedArray<u32, 4>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 4>) {
    let n = 6;
    let i = acc.thread_index_in_grid();
    if i < n || fixed {
        shared.set(acc, acc.thread_index(), 1);
        acc.sync_block();
        shared.get(acc, 0);
    }
}
