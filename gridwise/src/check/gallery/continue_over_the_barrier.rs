//! A continue on a test of the thread skips the barrier in one round

use super::exhibit::*;

exhibit! {
    "continue_over_the_barrier", "A6.14", "A continue on a test of the thread skips the barrier in one round",
    finds [LeftBeforeBarrier, BarrierDivergence],
    Kernel on |_| Blocks::Exactly(1).threads(2),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    for round in 0..2 {
        let skip = round == 0 && acc.thread_index() == 1;
        if skip && !fixed {
            continue;
        }
        acc.sync_block();
    }
}
