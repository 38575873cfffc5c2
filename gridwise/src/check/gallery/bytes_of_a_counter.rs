//! Counters are added to without atomics

use super::exhibit::*;

exhibit! {
    "bytes_of_a_counter", "A4.3", "Counters are added to without atomics",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    if fixed {
        data.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
    } else {
        data.set(acc, 0, data.get(acc, 0) + 1);
    }
}
