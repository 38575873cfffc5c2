//! A worker publishes its address, then clears its own flag: a signal that came in between is gone

use super::exhibit::*;

exhibit! {
    "flag_erased", "A2.6", "A worker publishes its address, then clears its own flag: a signal that came in between is gone",
    finds [Deadlock, LostWakeUp],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (me, peer) = (acc.block_index(), 1 - acc.block_index());
    let (address, flag) = (|of: usize| words.atomic(of), |of: usize| words.atomic(2 + of));
    if fixed {
        flag(me).store(acc, 0, Ordering::Relaxed);
    }
    address(me).store(acc, 1, Ordering::Release);
    if !fixed {
        flag(me).store(acc, 0, Ordering::Relaxed);
    }
    address(peer).wait_until(acc, Ordering::Acquire, |now| now == 1);
    flag(peer).store(acc, 1, Ordering::Release);
    flag(me).wait_until(acc, Ordering::Acquire, |now| now == 1);
}
