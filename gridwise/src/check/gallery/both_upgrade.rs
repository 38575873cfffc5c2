//! Two who read want to write, and each waits for the other to stop reading

use super::exhibit::*;

exhibit! {
    "both_upgrade", "A5.11", "Two who read want to write, and each waits for the other to stop reading",
    finds [Deadlock, LostWakeUp],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 50,
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (readers, writer) = (words.atomic(0), words.atomic(1));
    readers.fetch_add(acc, 1, Ordering::Acquire);
    // One of those who want to write may wait; the others stop reading, and come again.
    while fixed
        && writer
            .compare_exchange(acc, 0, 1, Ordering::Acquire, Ordering::Relaxed)
            .is_err()
    {
        readers.fetch_sub(acc, 1, Ordering::Release);
        writer.wait_until(acc, Ordering::Relaxed, |writer| writer == 0);
        readers.fetch_add(acc, 1, Ordering::Acquire);
    }
    readers.wait_until(acc, Ordering::Acquire, |readers| readers == 1);
    data.set(acc, 0, data.get(acc, 0) + 1);
    readers.fetch_sub(acc, 1, Ordering::Release);
    writer.store(acc, 0, Ordering::Release);
}
