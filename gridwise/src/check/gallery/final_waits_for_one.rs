//! Three contribute to a tile, and the one that finishes it waits for the first alone

use super::exhibit::*;

exhibit! {
    "final_waits_for_one", "A9.9", "Three contribute to a tile, and the one that finishes it waits for the first alone",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let me = acc.block_index();
    if me < 2 {
        data.set(acc, me, 1);
        words.atomic(me).store(acc, 1, Ordering::Release);
    } else {
        words.atomic(0).wait_until(acc, Ordering::Acquire, |now| now == 1);
        if fixed {
            words.atomic(1).wait_until(acc, Ordering::Acquire, |now| now == 1);
        }
        let _tile = data.get(acc, 0) + data.get(acc, 1);
    }
}
