//! Where all atomics are relaxed, a state and its value need to be one word: in two, the state is seen before the value

use super::exhibit::*;

exhibit! {
    "state_in_two_words", "A4.6", "Where all atomics are relaxed, a state and its value need to be one word: in two, the state is seen before the value",
    finds [UnfinishedWork],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 60,
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (state, value, seen) = (words.atomic(0), words.atomic(1), words.atomic(2));
    seen.promise_ends_at(acc, 5);
    if acc.block_index() == 0 {
        if fixed {
            state.store(acc, (5 << 1) | 1, Ordering::Relaxed);
        } else {
            value.store(acc, 5, Ordering::Relaxed);
            state.store(acc, 1, Ordering::Relaxed);
        }
        return;
    }
    let found = state.wait_until(acc, Ordering::Relaxed, |state| state & 1 == 1);
    let found = if fixed {
        found >> 1
    } else {
        value.load(acc, Ordering::Relaxed)
    };
    seen.store(acc, found, Ordering::Relaxed);
}
