//! The owner of a deque takes from one end and a thief from the other; without sequentially consistent fences both take the last task

use super::exhibit::*;

exhibit! {
    "deque_without_fences", "A9.3", "The owner of a deque takes from one end and a thief from the other; without sequentially consistent fences both take the last task",
    finds [CoveredTwice, GlobalRace],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 200,
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let tasks = data.slice(acc, 0..2);
    tasks.promise_stored_once(acc);
    let (top, bottom) = (words.atomic(0), words.atomic(1));
    let fence = || {
        if fixed {
            acc.fence(Ordering::SeqCst, Scope::Device);
        }
    };
    let takes_top = |at| {
        top.compare_exchange(acc, at, at + 1, Ordering::SeqCst, Ordering::Relaxed)
            .is_ok()
    };
    if acc.block_index() == 1 {
        for _ in 0..2 {
            let at = top.load(acc, Ordering::Acquire);
            fence();
            if at < bottom.load(acc, Ordering::Acquire) && takes_top(at) {
                tasks.set(acc, at as usize, 1);
            }
        }
        return;
    }
    bottom.store(acc, 2, Ordering::Release);
    for at in [1, 0] {
        bottom.store(acc, at, Ordering::Relaxed);
        fence();
        let first = top.load(acc, Ordering::Relaxed);
        if first < at || (first == at && takes_top(at)) {
            tasks.set(acc, at as usize, 1);
        }
        if first >= at {
            // Nothing is left: the indices meet.
            bottom.store(acc, at + 1, Ordering::Relaxed);
            return;
        }
    }
}
