//! A counter is reset, the warp votes, the counter is read: a vote orders no memory

use super::exhibit::*;

exhibit! {
    "vote_orders_no_memory", "A8.5", "A counter is reset, the warp votes, the counter is read: a vote orders no memory",
    finds [SharedRace, Uninitialised],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 1>,
    model |model| model.warp_size = 4,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 1>) {
    if acc.lane() == 0 {
        shared.set(acc, 0, 0);
    }
    if fixed {
        acc.sync_block();
    } else {
        acc.warp_any(true);
    }
    shared.get(acc, 0);
}
