//! Some lanes of a warp take part in a vote, and others never come

use super::exhibit::*;

exhibit! {
    "vote_of_half_a_warp", "A6.15", "Some lanes of a warp take part in a vote, and others never come",
    finds [LeftBeforeBarrier],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
    model |model| model.warp_size = 4,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    if fixed || acc.lane() < 2 {
        acc.warp_any(true);
    }
}
