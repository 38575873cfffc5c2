//! Two blocks take two locks in opposite order

use super::exhibit::*;

exhibit! {
    "locks_in_opposite_order", "A5.11", "Two blocks take two locks in opposite order",
    finds [Deadlock],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let me = if fixed { 0 } else { acc.block_index() };
    let (first, second) = (words.atomic(me), words.atomic(1 - me));
    lock_word(acc, first);
    lock_word(acc, second);
    data.set(acc, 0, 1);
    unlock_word(acc, second);
    unlock_word(acc, first);
}
