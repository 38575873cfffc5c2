//! A stage is filled again once its consumers have counted up together, though one of them may have counted twice

use super::exhibit::*;

exhibit! {
    "round_told_by_a_sum", "A9.9", "A stage is filled again once its consumers have counted up together, though one of them may have counted twice",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(3),
    shared (SharedArray<u32, 4>, SharedArray<u32, 3>),
}

fn kernel<A: Acc>(
    acc: A,
    fixed: bool,
    _data: &Words<'_>,
    _words: &Words<'_>,
    shared: (SharedArray<u32, 4>, SharedArray<u32, 3>),
) {
    let (stages, counts) = shared;
    let me = acc.thread_index();
    counts.set(acc, me, 0);
    acc.sync_block();
    let full = counts.atomic(0);
    // Thread 0 fills the two stages in turn; thread 1 and thread 2 read an element each.
    for round in 0..4_u32 {
        let stage = round as usize % 2 * 2;
        if me == 0 {
            let emptied = round.saturating_sub(1);
            let wait_for = |counter: usize, count: u32| {
                counts
                    .atomic(counter)
                    .wait_until(acc, Ordering::Acquire, |now| now >= count);
            };
            if fixed {
                wait_for(1, emptied);
                wait_for(2, emptied);
            } else {
                wait_for(1, 2 * emptied);
            }
            stages.set(acc, stage, round);
            stages.set(acc, stage + 1, round);
            full.store(acc, round + 1, Ordering::Release);
        } else {
            full.wait_until(acc, Ordering::Acquire, |filled| filled > round);
            stages.get(acc, stage + me - 1);
            let own = if fixed { me } else { 1 };
            counts.atomic(own).fetch_add(acc, 1, Ordering::AcqRel);
        }
    }
}
