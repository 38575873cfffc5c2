//! A neighbour across the edge of the block is read after a block barrier

use super::exhibit::*;

exhibit! {
    "block_barrier_for_grid", "A3.5", "A neighbour across the edge of the block is read after a block barrier",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let me = acc.thread_index_in_grid();
    data.set(acc, me, 1);
    if fixed {
        acc.sync_grid();
    } else {
        acc.sync_block();
    }
    data.get(acc, (me + 1) % 4);
}
