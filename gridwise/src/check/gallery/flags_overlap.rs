//! Where flags lie depends on a size that changes, so they overlap what the call before still uses

use super::exhibit::*;

exhibit! {
    "flags_overlap", "A2.11", "Where flags lie depends on a size that changes, so they overlap what the call before still uses",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let me = acc.block_index();
    for n in [4, 2] {
        let base = if fixed { 16 } else { n };
        data.set(acc, me, 1);
        data.set(acc, 2 + me, 1);
        words.atomic(base + me).store(acc, 1, Ordering::Release);
        // The payload of the call with 4 elements lies where the flags of the call with 2 are.
        words.set(acc, 2 + me, 7);
        words
            .atomic(base + (1 - me))
            .wait_until(acc, Ordering::Acquire, |now| now != 0);
    }
}
