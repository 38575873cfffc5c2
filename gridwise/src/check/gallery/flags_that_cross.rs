//! Each raises its flag and looks at the other: without sequential consistency both may go ahead

use super::exhibit::*;

exhibit! {
    "flags_that_cross", "A4.12", "Each raises its flag and looks at the other: without sequential consistency both may go ahead",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (me, peer) = (acc.block_index(), 1 - acc.block_index());
    words.atomic(me).store(acc, 1, Ordering::Relaxed);
    acc.fence(if fixed { Ordering::SeqCst } else { Ordering::AcqRel }, Scope::Device);
    if words.atomic(peer).load(acc, Ordering::Relaxed) == 0 {
        data.set(acc, 0, me as u32);
    }
}
