//! Both arms of a branch have a block barrier of their own: nobody hangs, and results are right by luck

use super::exhibit::*;

exhibit! {
    "barrier_in_both_arms", "A6.2", "Both arms of a branch have a block barrier of their own: nobody hangs, and results are right by luck",
    finds [BarrierDivergence],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
}

#[expect(clippy::if_same_then_else, reason = "that the arms look alike is the bug")]
fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    if fixed {
        acc.sync_block();
    } else if acc.thread_index() < 2 {
        acc.sync_block();
    } else {
        acc.sync_block();
    }
}
