//! A counter is put back by a store that nothing orders before the next round: it lands late, and an arrival is lost

use super::exhibit::*;

exhibit! {
    "reset_lands_late", "A2.12", "A counter is put back by a store that nothing orders before the next round: it lands late, and an arrival is lost",
    finds [Deadlock],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 100,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (arrived, generation) = (words.atomic(0), words.atomic(1));
    let (publish, observe) = match fixed {
        true => (Ordering::Release, Ordering::Acquire),
        false => (Ordering::Relaxed, Ordering::Relaxed),
    };
    for round in 0..3 {
        if arrived.fetch_add(acc, 1, Ordering::AcqRel) == 1 {
            arrived.store(acc, 0, Ordering::Relaxed);
            generation.store(acc, round + 1, publish);
        } else {
            generation.wait_until(acc, observe, |now| now > round);
        }
    }
}
