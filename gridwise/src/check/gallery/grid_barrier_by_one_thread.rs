//! One thread of each block goes to the grid barrier, the others to block barriers

use super::exhibit::*;

exhibit! {
    "grid_barrier_by_one_thread", "A6.16", "One thread of each block goes to the grid barrier, the others to block barriers",
    finds [BarrierDivergence],
    GridKernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    if fixed || acc.thread_index() == 0 {
        acc.sync_grid();
    } else {
        acc.sync_block();
        acc.sync_block();
    }
}
