//! The counter has to be zero at the start, but the launch before left it full

use super::exhibit::*;

exhibit! {
    "count_left_over", "A2.7", "The counter has to be zero at the start, but the launch before left it full",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    launches 2,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let counter = words.atomic(0);
    data.set(acc, acc.block_index(), 1);
    let before = counter.fetch_add(acc, 1, Ordering::AcqRel);
    let full = if fixed { (before / 2 + 1) * 2 } else { 2 };
    counter.wait_until(acc, Ordering::Acquire, |now| now >= full);
    data.get(acc, 1 - acc.block_index());
}
