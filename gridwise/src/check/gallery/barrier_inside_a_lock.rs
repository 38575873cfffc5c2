//! Two threads of a block take a lock in turn, and meet a block barrier inside

use super::exhibit::*;

exhibit! {
    "barrier_inside_a_lock", "A5.11", "Two threads of a block take a lock in turn, and meet a block barrier inside",
    finds [Deadlock],
    Kernel on |_| Blocks::Exactly(1).threads(2),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let lock = words.atomic(0);
    lock_word(acc, lock);
    if !fixed {
        acc.sync_block();
    }
    data.set(acc, 0, data.get(acc, 0) + 1);
    unlock_word(acc, lock);
}
