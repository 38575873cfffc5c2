//! A push reserves its slot first and writes it then; a pop believes the index

use super::exhibit::*;

exhibit! {
    "popped_before_written", "A9.2", "A push reserves its slot first and writes it then; a pop believes the index",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (tail, full) = (words.atomic(0), words.atomic(1));
    if acc.block_index() == 0 {
        let slot = tail.fetch_add(acc, 1, Ordering::AcqRel) as usize;
        data.set(acc, slot, 7);
        full.store(acc, 1, Ordering::Release);
    } else {
        if fixed {
            full.wait_until(acc, Ordering::Acquire, |now| now == 1);
        } else {
            tail.wait_until(acc, Ordering::Acquire, |now| now == 1);
        }
        data.get(acc, 0);
    }
}
