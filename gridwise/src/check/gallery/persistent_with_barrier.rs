//! A persistent kernel that needs no residency, until somebody adds a barrier

use super::exhibit::*;

exhibit! {
    "persistent_with_barrier", "A1.17", "A persistent kernel that needs no residency, until somebody adds a barrier",
    finds [NeverStarted],
    Kernel on |_| Blocks::Exactly(8).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    for i in acc.threads_in_grid(0..data.len()) {
        data.set(acc, i, 1);
    }
    if !fixed {
        sound_barrier(acc, words, 0, acc.block_count() as u32);
    }
}
