//! A reader looks at the version, at two values and at the version again, with nothing that keeps the second look behind the values

use super::exhibit::*;

exhibit! {
    "torn_read", "A4.4", "A reader looks at the version, at two values and at the version again, with nothing that keeps the second look behind the values",
    finds [UnfinishedWork],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 200,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (version, a, b, torn) = (words.atomic(0), words.atomic(1), words.atomic(2), words.atomic(3));
    torn.promise_ends_at(acc, 0);
    if acc.block_index() == 0 {
        for i in 1..3 {
            version.store(acc, 2 * i - 1, Ordering::Relaxed);
            acc.fence(Ordering::Release, Scope::Device);
            a.store(acc, i, Ordering::Relaxed);
            b.store(acc, i, Ordering::Relaxed);
            version.store(acc, 2 * i, Ordering::Release);
        }
        return;
    }
    for _ in 0..2 {
        let before = version.load(acc, Ordering::Acquire);
        let values = (a.load(acc, Ordering::Relaxed), b.load(acc, Ordering::Relaxed));
        if fixed {
            acc.fence(Ordering::Acquire, Scope::Device);
        }
        let after = version.load(acc, Ordering::Relaxed);
        if before == after && before % 2 == 0 && values.0 != values.1 {
            torn.store(acc, 1, Ordering::Relaxed);
        }
    }
}
