//! Block 0 initialises the counter with a plain store, which nothing orders with the arrivals

use super::exhibit::*;

exhibit! {
    "initialised_by_plain_store", "A2.5", "Block 0 initialises the counter with a plain store, which nothing orders with the arrivals",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    if !fixed && acc.block_index() == 0 {
        words.set(acc, 0, 0);
    }
    acc.sync_grid();
    words.atomic(0).fetch_add(acc, 1, Ordering::AcqRel);
    if !fixed && acc.block_index() == 0 {
        words.set(acc, 0, 0);
    }
}
