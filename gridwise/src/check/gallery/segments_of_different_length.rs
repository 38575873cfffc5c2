//! The grid barrier stands in a loop whose length differs from block to block

use super::exhibit::*;

exhibit! {
    "segments_of_different_length", "A3.1", "The grid barrier stands in a loop whose length differs from block to block",
    finds [GridBarrierUneven],
    GridKernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let rounds = if fixed { 2 } else { 1 + acc.block_index() };
    for _ in 0..rounds {
        acc.sync_grid();
    }
}
