//! A barrier of four counters in turn clears the next one before all have left it

use super::exhibit::*;

exhibit! {
    "slots_rotate_too_soon", "A2.13", "A barrier of four counters in turn clears the next one before all have left it",
    finds [Deadlock, LostWakeUp],
    Kernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let members = 3;
    for round in 0..6 {
        let (slot, drained) = (round % 4, 4 + round % 4);
        words.atomic(slot).fetch_add(acc, 1, Ordering::AcqRel);
        words
            .atomic(slot)
            .wait_until(acc, Ordering::Acquire, |arrived| arrived == members);
        if !fixed {
            words.atomic((round + 1) % 4).store(acc, 0, Ordering::Relaxed);
        } else if words.atomic(drained).fetch_add(acc, 1, Ordering::AcqRel) + 1 == members {
            words.atomic(slot).store(acc, 0, Ordering::Relaxed);
            words.atomic(drained).store(acc, 0, Ordering::Release);
        } else {
            words
                .atomic(drained)
                .wait_until(acc, Ordering::Acquire, |left| left == 0);
        }
    }
}
