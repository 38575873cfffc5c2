//! A push takes the queue for full while a pop has claimed its slot and not yet freed it: the task is dropped

use super::exhibit::*;

exhibit! {
    "full_for_a_moment", "A9.17", "A push takes the queue for full while a pop has claimed its slot and not yet freed it: the task is dropped",
    finds [NeverCovered],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 60,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    // A ring of one slot: 0 is free, 1 is full, 2 is closed.
    let (state, popped) = (words.atomic(0), words.atomic(1));
    let results = data.slice(acc, 1..3);
    if acc.block_index() == 0 {
        for task in 0..2 {
            // As many pushed as popped: the ring is empty.
            popped.wait_until(acc, Ordering::Relaxed, |popped| popped >= task);
            if fixed {
                state.wait_until(acc, Ordering::Acquire, |state| state == 0);
            } else if state.load(acc, Ordering::Acquire) != 0 {
                continue;
            }
            data.set(acc, 0, task);
            state.store(acc, 1, Ordering::Release);
        }
        state.wait_until(acc, Ordering::Acquire, |state| state == 0);
        state.store(acc, 2, Ordering::Release);
        return;
    }
    results.promise_stored_once(acc);
    while state.wait_until(acc, Ordering::Acquire, |state| state != 0) == 1 {
        popped.fetch_add(acc, 1, Ordering::Relaxed);
        let task = data.get(acc, 0);
        results.set(acc, task as usize, 1);
        state.store(acc, 0, Ordering::Release);
    }
}
