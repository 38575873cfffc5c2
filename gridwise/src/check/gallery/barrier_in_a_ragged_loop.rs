//! A barrier in a loop that some threads run once more than others

use super::exhibit::*;

exhibit! {
    "barrier_in_a_ragged_loop", "A6.13", "A barrier in a loop that some threads run once more than others",
    finds [LeftBeforeBarrier],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let n = 6;
    let rounds = if fixed { 2 } else { (n - acc.thread_index()).div_ceil(4) };
    for _ in 0..rounds {
        acc.sync_block();
    }
}
