//! One block rewrites the table of work while others still decode the ticket before

use super::exhibit::*;

exhibit! {
    "table_rewritten", "A3.6", "One block rewrites the table of work while others still decode the ticket before",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    for step in 0..2 {
        if acc.block_index() == 0 {
            data.set(acc, 0, step);
        }
        acc.sync_grid();
        data.get(acc, 0);
        if fixed {
            acc.sync_grid();
        }
    }
}
