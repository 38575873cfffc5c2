//! Blocks add to one histogram with atomics of block scope

use super::exhibit::*;

exhibit! {
    "histogram_at_block_scope", "A4.1", "Blocks add to one histogram with atomics of block scope",
    finds [ScopeTooNarrow],
    Kernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let bin = data.atomic(0);
    if fixed {
        bin.fetch_add(acc, 1, Ordering::Relaxed);
    } else {
        bin.scoped::<scope::Block>().fetch_add(acc, 1, Ordering::Relaxed);
    }
}
