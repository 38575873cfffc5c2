//! The last block to arrive sums what the others left, but its arrival only released

use super::exhibit::*;

exhibit! {
    "last_block_without_acquire", "A4.1", "The last block to arrive sums what the others left, but its arrival only released",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let order = if fixed { Ordering::AcqRel } else { Ordering::Release };
    data.set(acc, acc.block_index(), 1);
    if words.atomic(0).fetch_add(acc, 1, order) == 2 {
        let _sum: u32 = (0..3).map(|i| data.get(acc, i)).sum();
    }
}
