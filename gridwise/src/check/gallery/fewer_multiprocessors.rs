//! A grid size from a table, on a device of the same make with fewer multiprocessors

use super::exhibit::*;

exhibit! {
    "fewer_multiprocessors", "A1.5", "A grid size from a table, on a device of the same make with fewer multiprocessors",
    finds [NeverStarted],
    Kernel on |fixed| Blocks::Exactly(if fixed { 2 } else { 4 }).threads(1),
    shared (),
    model |model| model.multiprocessors = 2,
}

fn kernel<A: Acc>(acc: A, _fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    sound_barrier(acc, words, 0, acc.block_count() as u32);
}
