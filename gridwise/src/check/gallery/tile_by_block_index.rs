//! Look-back by block index: a block waits for a lower one that has not started

use super::exhibit::*;

exhibit! {
    "tile_by_block_index", "A5.1", "Look-back by block index: a block waits for a lower one that has not started",
    finds [NeverStarted],
    Kernel on |_| Blocks::Exactly(4).threads(1),
    shared (),
    model |model| {
        model.multiprocessors = 1;
        model.block_order = BlockOrder::Descending;
    },
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let tile = if fixed {
        words.atomic(8).fetch_add(acc, 1, Ordering::Relaxed) as usize
    } else {
        acc.block_index()
    };
    if tile > 0 {
        words
            .atomic(tile - 1)
            .wait_until(acc, Ordering::Acquire, |now| now == 1);
    }
    words.atomic(tile).store(acc, 1, Ordering::Release);
}
