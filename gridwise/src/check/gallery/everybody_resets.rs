//! Every block resets the shared flag as it starts: a late one clears what a fast one has set

use super::exhibit::*;

exhibit! {
    "everybody_resets", "A2.19", "Every block resets the shared flag as it starts: a late one clears what a fast one has set",
    finds [Deadlock, LostWakeUp],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let flag = words.atomic(0);
    if !fixed {
        flag.store(acc, 0, Ordering::Relaxed);
    }
    if acc.block_index() == 0 {
        flag.store(acc, 1, Ordering::Release);
    } else {
        flag.wait_until(acc, Ordering::Acquire, |now| now == 1);
    }
}
