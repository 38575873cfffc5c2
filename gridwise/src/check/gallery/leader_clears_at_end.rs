//! Block 0 clears the barrier at the end of the kernel, while a peer is still in its last wait

use super::exhibit::*;

exhibit! {
    "leader_clears_at_end", "A2.4", "Block 0 clears the barrier at the end of the kernel, while a peer is still in its last wait",
    finds [LostWakeUp],
    GridKernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let counter = words.atomic(0);
    counter.fetch_add(acc, 1, Ordering::AcqRel);
    counter.wait_until(acc, Ordering::Acquire, |now| now >= 3);
    if !fixed && acc.block_index() == 0 {
        counter.store(acc, 0, Ordering::Relaxed);
    }
}
