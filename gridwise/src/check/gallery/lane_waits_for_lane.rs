//! In lock step, a lane waits for a value that another lane of its warp would store

use super::exhibit::*;

exhibit! {
    "lane_waits_for_lane", "A5.8", "In lock step, a lane waits for a value that another lane of its warp would store",
    finds [Deadlock],
    Kernel on |_| Blocks::Exactly(1).threads(2),
    shared (),
    model |model| {
        model.warp_size = 2;
        model.lock_step = true;
    },
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    if fixed {
        if acc.thread_index() == 1 {
            words.atomic(0).store(acc, 1, Ordering::Release);
        }
        acc.sync_block();
    }
    if acc.thread_index() == 0 {
        words.atomic(0).wait_until(acc, Ordering::Acquire, |now| now == 1);
    } else {
        acc.warp_index();
        words.atomic(0).store(acc, 1, Ordering::Release);
    }
}
