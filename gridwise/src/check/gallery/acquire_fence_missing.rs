//! A relaxed wait, and no acquire fence after it

use super::exhibit::*;

exhibit! {
    "acquire_fence_missing", "A4.4", "A relaxed wait, and no acquire fence after it",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let flag = words.atomic(0);
    if acc.block_index() == 0 {
        data.set(acc, 0, 7);
        flag.store(acc, 1, Ordering::Release);
    } else {
        flag.wait_until(acc, Ordering::Relaxed, |now| now == 1);
        if fixed {
            acc.fence(Ordering::Acquire, Scope::Device);
        }
        data.get(acc, 0);
    }
}
