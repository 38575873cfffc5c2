//! A reduction in shared memory without a barrier between its steps

use super::exhibit::*;

exhibit! {
    "reduction_without_barrier", "A8.4", "A reduction in shared memory without a barrier between its steps",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 4>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 4>) {
    let me = acc.thread_index();
    shared.set(acc, me, 1);
    let mut half = 2;
    acc.sync_block();
    while half > 0 {
        if me < half {
            shared.set(acc, me, shared.get(acc, me) + shared.get(acc, me + half));
        }
        if fixed {
            acc.sync_block();
        }
        half /= 2;
    }
}
