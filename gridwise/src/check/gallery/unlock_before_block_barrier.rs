//! Thread 0 gives the lock back while the rest of its block is still inside

use super::exhibit::*;

exhibit! {
    "unlock_before_block_barrier", "A4.11", "Thread 0 gives the lock back while the rest of its block is still inside",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let lock = words.atomic(0);
    if acc.thread_index() == 0 {
        lock_word(acc, lock);
    }
    acc.sync_block();
    let i = acc.thread_index();
    data.set(acc, i, data.get(acc, i) + 1);
    if fixed {
        acc.sync_block();
    }
    if acc.thread_index() == 0 {
        unlock_word(acc, lock);
    }
}
