//! A fence stands where a block barrier is needed

use super::exhibit::*;

exhibit! {
    "fence_instead_of_barrier", "A4.13", "A fence stands where a block barrier is needed",
    finds [SharedRace, Uninitialised],
    Kernel on |_| Blocks::Exactly(1).threads(2),
    shared SharedArray<u32, 2>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 2>) {
    let me = acc.thread_index();
    shared.set(acc, me, 1);
    if fixed {
        acc.sync_block();
    } else {
        acc.fence(Ordering::AcqRel, Scope::Block);
    }
    shared.get(acc, 1 - me);
}
