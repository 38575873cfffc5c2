//! A barrier object is initialised by one thread and used by others before that is ordered

use super::exhibit::*;

exhibit! {
    "used_before_initialised", "A8.6", "A barrier object is initialised by one thread and used by others before that is ordered",
    finds [SharedRace, Uninitialised],
    Kernel on |_| Blocks::Exactly(1).threads(2),
    shared SharedArray<u32, 1>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 1>) {
    let counter = shared.atomic(0);
    if acc.thread_index() == 0 {
        shared.set(acc, 0, 0);
    }
    if fixed {
        acc.sync_block();
    }
    counter.fetch_add(acc, 1, Ordering::AcqRel);
}
