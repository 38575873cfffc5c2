//! A lock that is a list is given back as free because nobody has linked himself to it yet, though one is in the list

use super::exhibit::*;

exhibit! {
    "successor_forgotten", "A9.18", "A lock that is a list is given back as free because nobody has linked himself to it yet, though one is in the list",
    finds [Deadlock, LostWakeUp],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let me = acc.block_index() as u32 + 1;
    let tail = words.atomic(0);
    let next = |of: u32| words.atomic(8 + of as usize);
    let free = |of: u32| words.atomic(16 + of as usize);
    let before = tail.swap(acc, me, Ordering::AcqRel);
    if before != 0 {
        next(before).store(acc, me, Ordering::Release);
        free(me).wait_until(acc, Ordering::Acquire, |free| free == 1);
    }
    data.set(acc, 0, data.get(acc, 0) + 1);
    if next(me).load(acc, Ordering::Acquire) == 0 {
        if !fixed {
            tail.store(acc, 0, Ordering::Release);
            return;
        }
        let last = tail.compare_exchange(acc, me, 0, Ordering::Release, Ordering::Relaxed);
        if last.is_ok() {
            return;
        }
    }
    let after = next(me).wait_until(acc, Ordering::Acquire, |after| after != 0);
    free(after).store(acc, 1, Ordering::Release);
}
