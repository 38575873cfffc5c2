//! In a halving reduction the upper threads return after they have written

use super::exhibit::*;

exhibit! {
    "halving_with_returns", "A6.5", "In a halving reduction the upper threads return after they have written",
    finds [LeftBeforeBarrier],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 4>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 4>) {
    let me = acc.thread_index();
    shared.set(acc, me, 1);
    let mut half = 2;
    while half > 0 {
        acc.sync_block();
        if me < half {
            shared.set(acc, me, shared.get(acc, me) + shared.get(acc, me + half));
        } else if !fixed {
            return;
        }
        half /= 2;
    }
}
