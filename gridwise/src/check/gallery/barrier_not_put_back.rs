//! A semaphore has to be back at zero when the launch ends; the next one starts where it was left

use super::exhibit::*;

exhibit! {
    "barrier_not_put_back", "A2.20", "A semaphore has to be back at zero when the launch ends; the next one starts where it was left",
    finds [StaleState],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    launches 2,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (arrived, gone) = (words.atomic(0), words.atomic(1));
    arrived.promise_began_at(acc, 0);
    arrived.fetch_add(acc, 1, Ordering::AcqRel);
    arrived.wait_until(acc, Ordering::Acquire, |now| now >= 2);
    let is_last = gone.fetch_add(acc, 1, Ordering::AcqRel) == 1;
    if is_last && fixed {
        gone.store(acc, 0, Ordering::Relaxed);
        arrived.store(acc, 0, Ordering::Relaxed);
    }
}
