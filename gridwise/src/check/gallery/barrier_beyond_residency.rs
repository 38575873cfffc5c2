//! A software barrier in a plain launch of more blocks than are resident

use super::exhibit::*;

exhibit! {
    "barrier_beyond_residency", "A1.1", "A software barrier in a plain launch of more blocks than are resident",
    finds [NeverStarted],
    Kernel on |fixed| Blocks::Exactly(if fixed { 4 } else { 5 }).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, _fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let members = acc.block_count() as u32;
    sound_barrier(acc, words, 0, members);
}
