//! Block 0 initialises the counter inside the kernel; a peer may have arrived before

use super::exhibit::*;

exhibit! {
    "cleared_in_the_kernel", "A2.5", "Block 0 initialises the counter inside the kernel; a peer may have arrived before",
    finds [Deadlock, LostWakeUp],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let counter = words.atomic(0);
    if !fixed && acc.block_index() == 0 {
        counter.store(acc, 0, Ordering::Relaxed);
    }
    counter.fetch_add(acc, 1, Ordering::AcqRel);
    counter.wait_until(acc, Ordering::Acquire, |now| now >= 2);
}
