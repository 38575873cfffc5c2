//! Each thread does one index, as if the grid were as large as the data; the launcher has made it smaller

use super::exhibit::*;

exhibit! {
    "grid_without_stride", "A1.11", "Each thread does one index, as if the grid were as large as the data; the launcher has made it smaller",
    finds [NeverCovered],
    Kernel on |_| Blocks::Exactly(2).threads(4),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    data.promise_stored_once(acc);
    let (threads, n) = (acc.thread_count() * acc.block_count(), data.len());
    let first = acc.thread_index_in_grid();
    let end = if fixed { n } else { first + 1 };
    for i in (first..end).step_by(threads) {
        data.set(acc, i, 1);
    }
}
