//! A ticket lock is handed on by a relaxed store

use super::exhibit::*;

exhibit! {
    "ticket_lock_relaxed", "A4.4", "A ticket lock is handed on by a relaxed store",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (tickets, served) = (words.atomic(0), words.atomic(1));
    let mine = tickets.fetch_add(acc, 1, Ordering::Relaxed);
    served.wait_until(acc, Ordering::Acquire, |now| now == mine);
    data.set(acc, 0, data.get(acc, 0) + 1);
    let hand_on = if fixed { Ordering::Release } else { Ordering::Relaxed };
    served.store(acc, mine + 1, hand_on);
}
