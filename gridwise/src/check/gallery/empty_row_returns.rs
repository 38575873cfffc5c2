//! A block whose row is empty returns before the grid barrier

use super::exhibit::*;

exhibit! {
    "empty_row_returns", "A3.2", "A block whose row is empty returns before the grid barrier",
    finds [GridBarrierUneven],
    GridKernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let length = acc.block_index();
    if length == 0 && !fixed {
        return;
    }
    acc.sync_grid();
}
