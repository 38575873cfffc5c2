//! A block writes, and its first thread arrives at the barrier with a relaxed addition

use super::exhibit::*;

exhibit! {
    "relaxed_arrival", "A4.1", "A block writes, and its first thread arrives at the barrier with a relaxed addition",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let order = if fixed { Ordering::AcqRel } else { Ordering::Relaxed };
    data.set(acc, acc.block_index(), 1);
    words.atomic(0).fetch_add(acc, 1, order);
    words.atomic(0).wait_until(acc, Ordering::Acquire, |now| now == 2);
    data.get(acc, 1 - acc.block_index());
}
