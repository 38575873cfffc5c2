//! The operator of a scan is handed the padding of the last tile, which nobody wrote

use super::exhibit::*;

exhibit! {
    "operator_on_padding", "A5.6", "The operator of a scan is handed the padding of the last tile, which nobody wrote",
    finds [Uninitialised],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 4>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 4>) {
    let (i, n) = (acc.thread_index(), 3);
    if i < n || fixed {
        shared.set(acc, i, 1);
    }
    acc.sync_block();
    shared.get(acc, (i + 1) % 4);
}
