//! A scan adds to what others still read: there is a barrier after each step, and none between reading and writing

use super::exhibit::*;

exhibit! {
    "scan_in_place", "A8.3", "A scan adds to what others still read: there is a barrier after each step, and none between reading and writing",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 4>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 4>) {
    let me = acc.thread_index();
    shared.set(acc, me, 1);
    acc.sync_block();
    let mut by = 1;
    while by < 4 {
        let before = if me >= by { shared.get(acc, me - by) } else { 0 };
        if fixed {
            acc.sync_block();
        }
        if me >= by {
            let own = shared.get(acc, me);
            shared.set(acc, me, own + before);
        }
        acc.sync_block();
        by *= 2;
    }
}
