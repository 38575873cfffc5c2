//! In lock step, every lane of a warp takes the same spin lock

use super::exhibit::*;

exhibit! {
    "lock_by_every_lane", "A5.9", "In lock step, every lane of a warp takes the same spin lock",
    finds [Deadlock, EndlessSpin],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
    model |model| {
        model.warp_size = 4;
        model.lock_step = true;
    },
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let lock = words.atomic(0);
    if fixed {
        if acc.thread_index() == 0 {
            lock_word(acc, lock);
            data.set(acc, 0, data.get(acc, 0) + acc.thread_count() as u32);
            unlock_word(acc, lock);
        }
    } else {
        lock_word(acc, lock);
        data.set(acc, 0, data.get(acc, 0) + 1);
        unlock_word(acc, lock);
    }
}
