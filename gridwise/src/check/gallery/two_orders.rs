//! Two blocks raise a flag each; with release and acquire, two others may see them raised in different orders

use super::exhibit::*;

exhibit! {
    "two_orders", "A4.6", "Two blocks raise a flag each; with release and acquire, two others may see them raised in different orders",
    finds [UnfinishedWork],
    Kernel on |_| Blocks::Exactly(4).threads(1),
    shared (),
    schedules 100,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (store, load) = match fixed {
        true => (Ordering::SeqCst, Ordering::SeqCst),
        false => (Ordering::Release, Ordering::Acquire),
    };
    // One for each that has seen its own flag first.
    let first = words.atomic(2);
    let both = words.atomic(3);
    both.promise_ends_at(acc, 0);
    let me = acc.block_index();
    if me < 2 {
        words.atomic(me).store(acc, 1, store);
        return;
    }
    let own = words.atomic(me - 2).load(acc, load);
    let other = words.atomic(3 - me).load(acc, load);
    if own == 1 && other == 0 && first.fetch_add(acc, 1, Ordering::AcqRel) == 1 {
        both.store(acc, 1, Ordering::Relaxed);
    }
}
