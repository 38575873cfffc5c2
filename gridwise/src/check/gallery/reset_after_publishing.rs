//! The last arriver publishes the round and resets the counter after: arrivals of the next round are lost

use super::exhibit::*;

exhibit! {
    "reset_after_publishing", "A2.1", "The last arriver publishes the round and resets the counter after: arrivals of the next round are lost",
    finds [GlobalRace, Deadlock, LostWakeUp],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 60,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (counter, generation) = (words.atomic(0), words.atomic(1));
    for round in 0..2 {
        if counter.fetch_add(acc, 1, Ordering::AcqRel) == 1 {
            if fixed {
                counter.store(acc, 0, Ordering::Relaxed);
            }
            generation.store(acc, round + 1, Ordering::Release);
            if !fixed {
                counter.store(acc, 0, Ordering::Relaxed);
            }
        } else {
            generation.wait_until(acc, Ordering::Acquire, |now| now == round + 1);
        }
    }
}
