//! Two grid reductions use one scratch array, and nothing orders the second after the first is read

use super::exhibit::*;

exhibit! {
    "scratch_shared_by_reductions", "A2.15", "Two grid reductions use one scratch array, and nothing orders the second after the first is read",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    for round in 0..2 {
        let scratch = if fixed { 2 * round } else { 0 };
        data.set(acc, scratch + acc.block_index(), 1);
        acc.sync_grid();
        let _sum = data.get(acc, scratch) + data.get(acc, scratch + 1);
    }
}
