//! Waiters wait for the full count, which the last arriver at once takes back to zero

use super::exhibit::*;

exhibit! {
    "counter_back_to_zero", "A2.2", "Waiters wait for the full count, which the last arriver at once takes back to zero",
    finds [LostWakeUp, Deadlock],
    GridKernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let counter = words.atomic(0);
    for _ in 0..2 {
        if fixed {
            sound_barrier(acc, words, 0, 3);
        } else if counter.fetch_add(acc, 1, Ordering::AcqRel) == 2 {
            counter.store(acc, 0, Ordering::Release);
        } else {
            counter.wait_until(acc, Ordering::Acquire, |now| now == 3);
        }
    }
}
