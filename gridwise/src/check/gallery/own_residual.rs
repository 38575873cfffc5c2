//! Each block leaves the loop by its own residual instead of the reduced one

use super::exhibit::*;

exhibit! {
    "own_residual", "A3.4", "Each block leaves the loop by its own residual instead of the reduced one",
    finds [GridBarrierUneven],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let mut residual = 1 + acc.block_index() as u32;
    loop {
        residual = residual.saturating_sub(1);
        let all = acc.reduce_grid(residual, |a, b| a.max(b));
        if (if fixed { all } else { residual }) == 0 {
            break;
        }
    }
}
