//! The last steps of a reduction are inside one warp, and have no barrier: lanes are not in step by themselves

use super::exhibit::*;

exhibit! {
    "warp_synchronous", "A8.4", "The last steps of a reduction are inside one warp, and have no barrier: lanes are not in step by themselves",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(8),
    shared SharedArray<u32, 8>,
    model |model| model.warp_size = 4,
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 8>) {
    let me = acc.thread_index();
    shared.set(acc, me, 1);
    acc.sync_block();
    let mut half = 4;
    while half > 0 {
        if me < half {
            let sum = shared.get(acc, me) + shared.get(acc, me + half);
            shared.set(acc, me, sum);
        }
        if fixed || half >= acc.lane_count() {
            acc.sync_block();
        }
        half /= 2;
    }
    if me == 0 {
        data.set(acc, 0, shared.get(acc, 0));
    }
}
