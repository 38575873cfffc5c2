//! Release and acquire between two blocks, at the scope of a block

use super::exhibit::*;

exhibit! {
    "flag_at_block_scope", "A4.1", "Release and acquire between two blocks, at the scope of a block",
    finds [ScopeTooNarrow],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let flag = words.atomic(0);
    if acc.block_index() == 0 {
        data.set(acc, 0, 7);
        if fixed {
            flag.store(acc, 1, Ordering::Release);
        } else {
            flag.scoped::<scope::Block>().store(acc, 1, Ordering::Release);
        }
    } else {
        flag.wait_until(acc, Ordering::Acquire, |now| now == 1);
        data.get(acc, 0);
    }
}
