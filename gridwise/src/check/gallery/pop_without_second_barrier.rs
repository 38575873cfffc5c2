//! Thread 0 pops, all read, and it pops again before all have read

use super::exhibit::*;

exhibit! {
    "pop_without_second_barrier", "A8.8", "Thread 0 pops, all read, and it pops again before all have read",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 1>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, shared: SharedArray<u32, 1>) {
    for _ in 0..2 {
        if acc.thread_index() == 0 {
            shared.set(acc, 0, words.atomic(0).fetch_add(acc, 1, Ordering::Relaxed));
        }
        acc.sync_block();
        shared.get(acc, 0);
        if fixed {
            acc.sync_block();
        }
    }
}
