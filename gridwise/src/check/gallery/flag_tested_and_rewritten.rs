//! The loop condition is shared, and a fast thread rewrites it while others still test it

use super::exhibit::*;

exhibit! {
    "flag_tested_and_rewritten", "A3.3", "The loop condition is shared, and a fast thread rewrites it while others still test it",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(2),
    shared SharedArray<u32, 1>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 1>) {
    if acc.thread_index() == 0 {
        shared.set(acc, 0, 0);
    }
    acc.sync_block();
    while shared.get(acc, 0) == 0 {
        if fixed {
            acc.sync_block();
        }
        if acc.thread_index() == 0 {
            shared.set(acc, 0, 1);
        }
        acc.sync_block();
    }
}
