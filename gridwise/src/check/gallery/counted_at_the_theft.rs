//! A stolen task is counted when it is stolen and again when it is done: all leave while one is left

use super::exhibit::*;

exhibit! {
    "counted_at_the_theft", "A9.6", "A stolen task is counted when it is stolen and again when it is done: all leave while one is left",
    finds [NeverCovered],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 100,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    // All tasks are block 0's: what block 1 takes is stolen.
    let (taken, done, tasks) = (words.atomic(0), words.atomic(1), 4);
    let results = data.slice(acc, ..tasks as usize);
    results.promise_stored_once(acc);
    while done.load(acc, Ordering::Relaxed) < tasks {
        let is_empty = taken.load(acc, Ordering::Relaxed) >= tasks;
        let task = if is_empty {
            tasks
        } else {
            taken.fetch_add(acc, 1, Ordering::Relaxed)
        };
        if task >= tasks {
            continue;
        }
        if acc.block_index() == 1 && !fixed {
            done.fetch_add(acc, 1, Ordering::Relaxed);
        }
        results.set(acc, task as usize, 1);
        done.fetch_add(acc, 1, Ordering::Relaxed);
    }
}
