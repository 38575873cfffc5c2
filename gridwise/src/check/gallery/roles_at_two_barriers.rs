//! Two roles of a block call the barrier from two lines

use super::exhibit::*;

exhibit! {
    "roles_at_two_barriers", "A6.16", "Two roles of a block call the barrier from two lines",
    finds [BarrierDivergence],
    Kernel on |_| Blocks::Exactly(1).threads(2),
    shared SharedArray<u32, 1>,
}

#[expect(clippy::if_same_then_else, reason = "that the arms look alike is the bug")]
fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 1>) {
    let producer = acc.thread_index() == 0;
    if producer {
        shared.set(acc, 0, 1);
    }
    if fixed {
        acc.sync_block();
    } else if producer {
        acc.sync_block();
    } else {
        acc.sync_block();
    }
    shared.get(acc, 0);
}
