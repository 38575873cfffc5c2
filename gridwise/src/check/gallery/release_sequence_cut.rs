//! A second block passes the flag on with a plain atomic store instead of a read-modify-write

use super::exhibit::*;

exhibit! {
    "release_sequence_cut", "A4.4", "A second block passes the flag on with a plain atomic store instead of a read-modify-write",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let flag = words.atomic(0);
    match acc.block_index() {
        0 => {
            data.set(acc, 0, 7);
            flag.store(acc, 1, Ordering::Release);
        }
        1 => {
            flag.wait_until(acc, Ordering::Relaxed, |now| now == 1);
            if fixed {
                flag.fetch_add(acc, 1, Ordering::Relaxed);
            } else {
                flag.store(acc, 2, Ordering::Relaxed);
            }
        }
        _ => {
            flag.wait_until(acc, Ordering::Acquire, |now| now == 2);
            data.get(acc, 0);
        }
    }
}
