//! A value is read by all while thread 0 overwrites it for the next stage

use super::exhibit::*;

exhibit! {
    "broadcast_overwritten", "A8.1", "A value is read by all while thread 0 overwrites it for the next stage",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 1>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 1>) {
    for stage in 0..2 {
        if acc.thread_index() == 0 {
            shared.set(acc, 0, stage);
        }
        acc.sync_block();
        shared.get(acc, 0);
        if fixed {
            acc.sync_block();
        }
    }
}
