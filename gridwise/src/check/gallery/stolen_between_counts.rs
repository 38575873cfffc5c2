//! A consumer looks at the counter of the work, and reads work that was not handed over

use super::exhibit::*;

exhibit! {
    "stolen_between_counts", "A9.3", "A consumer looks at the counter of the work, and reads work that was not handed over",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let count = words.atomic(0);
    if acc.block_index() == 0 {
        if !fixed {
            count.store(acc, 1, Ordering::Release);
        }
        data.set(acc, 0, 7);
        if fixed {
            count.store(acc, 1, Ordering::Release);
        }
    } else if count.load(acc, Ordering::Acquire) == 1 {
        data.get(acc, 0);
    }
}
