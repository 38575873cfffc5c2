//! The barrier lies behind scratch in one buffer, and the last block writes one element too many

use super::exhibit::*;

exhibit! {
    "scratch_over_the_barrier", "A2.18", "The barrier lies behind scratch in one buffer, and the last block writes one element too many",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let per_block = if fixed { 4 } else { 5 };
    let first = acc.block_index() * 4;
    for i in first..first + per_block {
        words.set(acc, i, 0);
    }
    // The barrier is behind the scratch of both blocks.
    sound_barrier(acc, words, 8, 2);
}
