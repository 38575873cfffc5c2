//! The last arriver sets the release word and clears it at once, for the next use

use super::exhibit::*;

exhibit! {
    "release_then_clear", "A2.3", "The last arriver sets the release word and clears it at once, for the next use",
    finds [LostWakeUp],
    GridKernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (counter, release) = (words.atomic(0), words.atomic(1));
    if counter.fetch_add(acc, 1, Ordering::AcqRel) == 2 {
        release.store(acc, 1, Ordering::Release);
        if !fixed {
            release.store(acc, 0, Ordering::Release);
        }
    } else {
        release.wait_until(acc, Ordering::Acquire, |now| now == 1);
    }
}
