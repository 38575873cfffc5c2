//! The waiting side polls with a plain load

use super::exhibit::*;

exhibit! {
    "plain_poll", "A2.21", "The waiting side polls with a plain load",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    if acc.block_index() == 0 {
        words.atomic(0).store(acc, 1, Ordering::Release);
    } else if fixed {
        words.atomic(0).wait_until(acc, Ordering::Acquire, |now| now == 1);
    } else {
        for _ in 0..100 {
            if words.get(acc, 0) == 1 {
                break;
            }
        }
    }
}
