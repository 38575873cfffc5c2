//! A fence of block scope before a flag that another block reads

use super::exhibit::*;

exhibit! {
    "fence_at_block_scope", "A4.4", "A fence of block scope before a flag that another block reads",
    finds [ScopeTooNarrow],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let flag = words.atomic(0);
    if acc.block_index() == 0 {
        data.set(acc, 0, 7);
        acc.fence(Ordering::Release, if fixed { Scope::Device } else { Scope::Block });
        flag.store(acc, 1, Ordering::Relaxed);
    } else {
        flag.wait_until(acc, Ordering::Acquire, |now| now == 1);
        data.get(acc, 0);
    }
}
