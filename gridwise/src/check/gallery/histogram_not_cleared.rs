//! A short cut skips the clearing of the histogram that the next item adds to

use super::exhibit::*;

exhibit! {
    "histogram_not_cleared", "A8.7", "A short cut skips the clearing of the histogram that the next item adds to",
    finds [Uninitialised],
    Kernel on |_| Blocks::Exactly(1).threads(2),
    shared SharedArray<u32, 2>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 2>) {
    let me = acc.thread_index();
    for item in 0..2 {
        let short_cut = item == 0;
        if !short_cut || fixed {
            if item == 0 {
                shared.set(acc, me, 0);
            }
            acc.sync_block();
            shared.set(acc, me, shared.get(acc, me) + 1);
            acc.sync_block();
        }
    }
}
