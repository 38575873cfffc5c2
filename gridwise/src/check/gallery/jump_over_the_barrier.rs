//! Half of the block takes the error branch, which jumps over the barrier

use super::exhibit::*;

exhibit! {
    "jump_over_the_barrier", "A6.3", "Half of the block takes the error branch, which jumps over the barrier",
    finds [LeftBeforeBarrier, BarrierDivergence],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let error = acc.thread_index() >= 2;
    if fixed || !error {
        acc.sync_block();
    }
    if !error {
        data.set(acc, acc.thread_index(), 1);
    }
}
