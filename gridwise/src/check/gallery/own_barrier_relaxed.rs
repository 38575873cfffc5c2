//! Threads of a block meet at a barrier of their own making, whose flag is relaxed

use super::exhibit::*;

exhibit! {
    "own_barrier_relaxed", "A4.10", "Threads of a block meet at a barrier of their own making, whose flag is relaxed",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(3),
    shared (SharedArray<u32, 3>, SharedArray<u32, 1>),
}

fn kernel<A: Acc>(
    acc: A,
    fixed: bool,
    _data: &Words<'_>,
    _words: &Words<'_>,
    shared: (SharedArray<u32, 3>, SharedArray<u32, 1>),
) {
    let (values, count) = shared;
    let (me, all) = (acc.thread_index(), acc.thread_count());
    if me == 0 {
        count.set(acc, 0, 0);
    }
    acc.sync_block();
    values.set(acc, me, 1);
    let (arrive, observe) = match fixed {
        true => (Ordering::AcqRel, Ordering::Acquire),
        false => (Ordering::Relaxed, Ordering::Relaxed),
    };
    count.atomic(0).fetch_add(acc, 1, arrive);
    count
        .atomic(0)
        .wait_until(acc, observe, |arrived| arrived as usize == all);
    values.get(acc, (me + 1) % all);
}
