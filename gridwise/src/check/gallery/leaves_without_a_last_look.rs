//! A worker finds the queue empty, then that the producer is done, and leaves: what came in between stays in the queue

use super::exhibit::*;

exhibit! {
    "leaves_without_a_last_look", "A9.4", "A worker finds the queue empty, then that the producer is done, and leaves: what came in between stays in the queue",
    finds [UnfinishedWork],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 100,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (head, tail, done) = (words.atomic(0), words.atomic(1), words.atomic(2));
    let tasks = 3;
    if acc.block_index() == 0 {
        for task in 0..tasks {
            data.set(acc, task as usize, task);
            tail.store(acc, task + 1, Ordering::Release);
        }
        done.store(acc, 1, Ordering::Release);
        return;
    }
    head.promise_ends_at(acc, tasks);
    let mut popped = 0;
    loop {
        let is_last = fixed && done.load(acc, Ordering::Acquire) == 1;
        if popped < tail.load(acc, Ordering::Acquire) {
            data.get(acc, popped as usize);
            popped += 1;
            head.store(acc, popped, Ordering::Relaxed);
        } else if is_last || (!fixed && done.load(acc, Ordering::Acquire) == 1) {
            break;
        }
    }
}
