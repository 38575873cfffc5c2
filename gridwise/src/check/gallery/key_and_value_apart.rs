//! A map's slot takes its key and its value by two compare-and-swaps: another key comes in between, and its value is lost

use super::exhibit::*;

exhibit! {
    "key_and_value_apart", "A9.15", "A map's slot takes its key and its value by two compare-and-swaps: another key comes in between, and its value is lost",
    finds [UnfinishedWork],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 100,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let (first, second) = ((1, 10), (2, 20));
    let swap = |word: usize, new| {
        let word = words.atomic(word);
        // An insertion into a slot that is taken comes to nothing.
        let _ = word.compare_exchange(acc, 0, new, Ordering::AcqRel, Ordering::Relaxed);
    };
    let both = |(key, value)| (key << 16) | value;
    let insert = |entry: (u32, u32)| {
        if fixed {
            swap(0, both(entry));
        } else {
            swap(0, entry.0);
            swap(1, entry.1);
        }
    };
    if acc.block_index() == 0 {
        insert(first);
        return;
    }
    let (key, value) = (words.atomic(0), words.atomic(1));
    if fixed {
        key.promise_ends_at(acc, both(second));
    } else {
        value.promise_ends_at(acc, second.1);
    }
    key.wait_until(acc, Ordering::Acquire, |now| now != 0);
    value.store(acc, 0, Ordering::Relaxed);
    key.store(acc, 0, Ordering::Release);
    insert(second);
}
