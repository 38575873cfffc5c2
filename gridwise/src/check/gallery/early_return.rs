//! Threads past the end return before the block barrier

use super::exhibit::*;

exhibit! {
    "early_return", "A6.1", "Threads past the end return before the block barrier",
    finds [LeftBeforeBarrier],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let n = 3;
    let inside = acc.thread_index() < n;
    if !inside && !fixed {
        return;
    }
    acc.sync_block();
    if inside {
        data.set(acc, acc.thread_index(), 1);
    }
}
