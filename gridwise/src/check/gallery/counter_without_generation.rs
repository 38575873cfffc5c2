//! One counter and no generation: a fast block arrives again before a slow one has seen the release

use super::exhibit::*;

exhibit! {
    "counter_without_generation", "A2.1", "One counter and no generation: a fast block arrives again before a slow one has seen the release",
    finds [LostWakeUp, Deadlock, GlobalRace],
    GridKernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let counter = words.atomic(0);
    for _ in 0..3 {
        if fixed {
            sound_barrier(acc, words, 0, 3);
        } else if counter.fetch_add(acc, 1, Ordering::AcqRel) == 2 {
            counter.store(acc, 0, Ordering::Release);
        } else {
            counter.wait_until(acc, Ordering::Acquire, |now| now == 0);
        }
    }
}
