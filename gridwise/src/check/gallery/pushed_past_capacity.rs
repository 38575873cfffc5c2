//! The overflow test comes after the counter grew

use super::exhibit::*;

exhibit! {
    "pushed_past_capacity", "A9.7", "The overflow test comes after the counter grew",
    finds [OutOfBounds],
    Kernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let capacity = 3;
    let queue = data.slice(acc, ..capacity);
    let slot = words.atomic(0).fetch_add(acc, 1, Ordering::Relaxed) as usize;
    if slot < capacity || !fixed {
        queue.set(acc, slot, 1);
    }
}
