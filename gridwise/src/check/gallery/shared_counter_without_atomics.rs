//! Threads count in shared memory without atomics

use super::exhibit::*;

exhibit! {
    "shared_counter_without_atomics", "A8.2", "Threads count in shared memory without atomics",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 1>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 1>) {
    let counter = shared.atomic(0);
    if acc.thread_index() == 0 {
        shared.set(acc, 0, 0);
    }
    acc.sync_block();
    if fixed {
        counter.fetch_add(acc, 1, Ordering::Relaxed);
    } else {
        shared.set(acc, 0, shared.get(acc, 0) + 1);
    }
}
