//! A ticket is drawn by a load and a store

use super::exhibit::*;

exhibit! {
    "ticket_without_atomics", "A7.8", "A ticket is drawn by a load and a store",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let ticket = if fixed {
        words.atomic(0).fetch_add(acc, 1, Ordering::Relaxed)
    } else {
        let ticket = words.get(acc, 0);
        words.set(acc, 0, ticket + 1);
        ticket
    };
    data.set(acc, ticket as usize, 1);
}
