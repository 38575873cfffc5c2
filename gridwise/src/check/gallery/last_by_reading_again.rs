//! Who is last is decided by reading the counter again, so two blocks may both be

use super::exhibit::*;

exhibit! {
    "last_by_reading_again", "A2.14", "Who is last is decided by reading the counter again, so two blocks may both be",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let counter = words.atomic(0);
    let before = counter.fetch_add(acc, 1, Ordering::AcqRel);
    let now = if fixed {
        before + 1
    } else {
        counter.load(acc, Ordering::Acquire)
    };
    if now == 2 {
        data.set(acc, 0, 1);
    }
}
