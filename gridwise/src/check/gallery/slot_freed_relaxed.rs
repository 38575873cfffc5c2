//! The consumer of a ring gives its slot back by a relaxed store: the producer writes it while it is still read

use super::exhibit::*;

exhibit! {
    "slot_freed_relaxed", "A9.2", "The consumer of a ring gives its slot back by a relaxed store: the producer writes it while it is still read",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (head, tail) = (words.atomic(0), words.atomic(1));
    let give_back = if fixed { Ordering::Release } else { Ordering::Relaxed };
    for i in 0..4 {
        let slot = i as usize % 2;
        if acc.block_index() == 0 {
            head.wait_until(acc, Ordering::Acquire, |head| i - head < 2);
            data.set(acc, slot, i);
            tail.store(acc, i + 1, Ordering::Release);
        } else {
            tail.wait_until(acc, Ordering::Acquire, |tail| tail > i);
            data.get(acc, slot);
            head.store(acc, i + 1, give_back);
        }
    }
}
