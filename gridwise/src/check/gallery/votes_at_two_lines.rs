//! Lanes of a warp vote at two different lines

use super::exhibit::*;

exhibit! {
    "votes_at_two_lines", "A5.10", "Lanes of a warp vote at two different lines",
    finds [BarrierDivergence],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
    model |model| model.warp_size = 4,
}

#[expect(clippy::if_same_then_else, reason = "that the arms look alike is the bug")]
fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    if fixed {
        acc.warp_ballot(true);
    } else if acc.lane() < 2 {
        acc.warp_ballot(true);
    } else {
        acc.warp_ballot(false);
    }
}
