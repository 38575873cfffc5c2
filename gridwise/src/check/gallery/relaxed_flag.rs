//! Plain data, then a relaxed flag; a relaxed look at the flag, then the data

use super::exhibit::*;

exhibit! {
    "relaxed_flag", "A4.4", "Plain data, then a relaxed flag; a relaxed look at the flag, then the data",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (release, acquire) = if fixed {
        (Ordering::Release, Ordering::Acquire)
    } else {
        (Ordering::Relaxed, Ordering::Relaxed)
    };
    if acc.block_index() == 0 {
        data.set(acc, 0, 7);
        words.atomic(0).store(acc, 1, release);
    } else {
        words.atomic(0).wait_until(acc, acquire, |now| now == 1);
        data.get(acc, 0);
    }
}
