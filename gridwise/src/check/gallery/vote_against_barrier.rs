//! Part of a warp votes while the rest waits at the block barrier

use super::exhibit::*;

exhibit! {
    "vote_against_barrier", "A6.15", "Part of a warp votes while the rest waits at the block barrier",
    finds [BarrierDivergence],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
    model |model| model.warp_size = 4,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    if fixed || acc.lane() < 2 {
        acc.warp_any(true);
    }
    acc.sync_block();
}
