//! A barrier under a condition on the index of the thread

use super::exhibit::*;

exhibit! {
    "barrier_under_an_index", "A6.11", "A barrier under a condition on the index of the thread",
    finds [LeftBeforeBarrier],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    if acc.thread_index() < 2 || fixed {
        acc.sync_block();
    }
}
