//! Idle threads clear the accumulator that the workers have not read yet

use super::exhibit::*;

exhibit! {
    "idle_threads_clear", "A8.2", "Idle threads clear the accumulator that the workers have not read yet",
    finds [SharedRace],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared SharedArray<u32, 4>,
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, shared: SharedArray<u32, 4>) {
    let me = acc.thread_index();
    shared.set(acc, me, 1);
    acc.sync_block();
    if me < 2 {
        data.set(acc, me, shared.get(acc, me + 2));
    }
    if fixed {
        acc.sync_block();
    }
    if me >= 2 {
        shared.set(acc, me, 0);
    }
}
