//! Queues are refilled in rounds, and a neighbour steals before the owner has refilled

use super::exhibit::*;

exhibit! {
    "refill_without_barrier", "A9.5", "Queues are refilled in rounds, and a neighbour steals before the owner has refilled",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    for round in 0..2 {
        data.set(acc, acc.block_index(), round);
        if fixed {
            acc.sync_grid();
        }
        data.get(acc, 1 - acc.block_index());
        acc.sync_grid();
    }
}
