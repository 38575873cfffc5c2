//! A grid sized to the whole machine while other work holds a part of it

use super::exhibit::*;

exhibit! {
    "co_running_kernel", "A1.7", "A grid sized to the whole machine while other work holds a part of it",
    finds [NeverStarted],
    Kernel on |fixed| Blocks::Exactly(if fixed { 3 } else { 4 }).threads(1),
    shared (),
    model |model| model.held = 1,
}

fn kernel<A: Acc>(acc: A, _fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    sound_barrier(acc, words, 0, acc.block_count() as u32);
}
