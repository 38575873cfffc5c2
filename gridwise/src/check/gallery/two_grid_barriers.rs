//! Two blocks meet at two different grid barriers: nobody hangs

use super::exhibit::*;

exhibit! {
    "two_grid_barriers", "A3.3", "Two blocks meet at two different grid barriers: nobody hangs",
    finds [BarrierDivergence],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

#[expect(clippy::if_same_then_else, reason = "that the arms look alike is the bug")]
fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    if fixed {
        acc.sync_grid();
    } else if acc.block_index() == 0 {
        acc.sync_grid();
    } else {
        acc.sync_grid();
    }
}
