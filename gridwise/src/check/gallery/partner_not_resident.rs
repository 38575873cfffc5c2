//! A block waits for the block half a grid further on, which cannot start

use super::exhibit::*;

exhibit! {
    "partner_not_resident", "A5.12", "A block waits for the block half a grid further on, which cannot start",
    finds [NeverStarted],
    Kernel on |fixed| Blocks::Exactly(if fixed { 4 } else { 8 }).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, _fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (me, half) = (acc.block_index(), acc.block_count() / 2);
    words.atomic(me).store(acc, 1, Ordering::Release);
    if me < half {
        words
            .atomic(me + half)
            .wait_until(acc, Ordering::Acquire, |now| now == 1);
    }
}
