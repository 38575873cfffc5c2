//! "There is something" is published before the tail moves: who sees the flag and the old tail takes the queue for empty

use super::exhibit::*;

exhibit! {
    "flag_before_the_tail", "A9.18", "\"There is something\" is published before the tail moves: who sees the flag and the old tail takes the queue for empty",
    finds [NeverCovered],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 60,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (flag, tail) = (words.atomic(0), words.atomic(1));
    if acc.block_index() == 0 {
        data.set(acc, 0, 7);
        let (before, after) = if fixed { (tail, flag) } else { (flag, tail) };
        before.store(acc, 1, Ordering::Release);
        after.store(acc, 1, Ordering::Release);
        return;
    }
    let results = data.slice(acc, 1..2);
    results.promise_stored_once(acc);
    flag.wait_until(acc, Ordering::Acquire, |flag| flag == 1);
    if tail.load(acc, Ordering::Acquire) == 1 {
        results.set(acc, 0, data.get(acc, 0));
    }
}
