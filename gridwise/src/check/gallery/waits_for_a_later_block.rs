//! The first block waits for what the last one stores, and there is room for one

use super::exhibit::*;

exhibit! {
    "waits_for_a_later_block", "A5.1", "The first block waits for what the last one stores, and there is room for one",
    finds [NeverStarted],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    model |model| model.multiprocessors = 1,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let last = acc.block_count() - 1;
    if acc.block_index() == last {
        words.atomic(0).store(acc, 1, Ordering::Release);
    } else if !fixed {
        words.atomic(0).wait_until(acc, Ordering::Acquire, |now| now == 1);
    }
}
