//! In lock step, every lane of a warp spins on the same compare-and-swap

use super::exhibit::*;

exhibit! {
    "spin_lock_by_every_lane", "A5.9", "In lock step, every lane of a warp spins on the same compare-and-swap",
    finds [EndlessSpin, Deadlock],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
    model |model| {
        model.warp_size = 4;
        model.lock_step = true;
    },
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let lock = words.atomic(0);
    let take = || {
        while lock
            .compare_exchange(acc, 0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
        {}
    };
    if !fixed || acc.lane() == 0 {
        take();
        data.set(acc, 0, data.get(acc, 0) + 1);
        unlock_word(acc, lock);
    }
}
