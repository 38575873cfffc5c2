//! The next tile is loaded while the last is still read: one tile works, two do not

use super::exhibit::*;

exhibit! {
    "second_tile_too_early", "A8.3", "The next tile is loaded while the last is still read: one tile works, two do not",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 4>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 4>) {
    let me = acc.thread_index();
    for tile in 0..2 {
        shared.set(acc, me, tile);
        acc.sync_block();
        shared.get(acc, (me + 1) % 4);
        if fixed {
            acc.sync_block();
        }
    }
}
