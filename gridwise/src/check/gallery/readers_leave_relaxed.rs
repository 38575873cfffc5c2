//! A reader gives back its share of a lock by a relaxed subtraction: the writer comes in while it still reads

use super::exhibit::*;

exhibit! {
    "readers_leave_relaxed", "A4.11", "A reader gives back its share of a lock by a relaxed subtraction: the writer comes in while it still reads",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    const WRITER: u32 = 1 << 31;
    let lock = words.atomic(0);
    let (acquire, relaxed) = (Ordering::Acquire, Ordering::Relaxed);
    if acc.block_index() == 0 {
        while lock.compare_exchange(acc, 0, WRITER, acquire, relaxed).is_err() {}
        data.set(acc, 0, 1);
        lock.store(acc, 0, Ordering::Release);
        return;
    }
    loop {
        let readers = lock.load(acc, relaxed) & !WRITER;
        if lock
            .compare_exchange(acc, readers, readers + 1, acquire, relaxed)
            .is_ok()
        {
            break;
        }
    }
    data.get(acc, 0);
    lock.fetch_sub(acc, 1, if fixed { Ordering::Release } else { relaxed });
}
