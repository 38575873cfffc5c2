//! More workers than units of work: the finisher waits for one that has none to report

use super::exhibit::*;

exhibit! {
    "finisher_without_work", "A9.10", "More workers than units of work: the finisher waits for one that has none to report",
    finds [Deadlock],
    GridKernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (me, units) = (acc.block_index(), 2);
    let done = words.atomic(0);
    if me < units {
        done.fetch_add(acc, 1, Ordering::AcqRel);
    }
    if me == 2 {
        let expected = if fixed { units } else { 3 };
        done.wait_until(acc, Ordering::Acquire, |now| now as usize == expected);
    }
}
