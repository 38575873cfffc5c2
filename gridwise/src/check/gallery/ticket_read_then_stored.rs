//! A chunk is claimed by a load and a store: two blocks get the same one

use super::exhibit::*;

exhibit! {
    "ticket_read_then_stored", "A9.1", "A chunk is claimed by a load and a store: two blocks get the same one",
    finds [CoveredTwice],
    Kernel on |_| Blocks::Exactly(3).threads(1),
    shared (),
    schedules 60,
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let chunks = 8;
    data.promise_stored_once(acc);
    let next = words.atomic(0);
    loop {
        let chunk = if fixed {
            next.fetch_add(acc, 1, Ordering::Relaxed)
        } else {
            let chunk = next.load(acc, Ordering::Relaxed);
            next.store(acc, chunk + 1, Ordering::Relaxed);
            chunk
        };
        if chunk >= chunks {
            break;
        }
        let len = data.len() / chunks as usize;
        for i in 0..len {
            // Atomic, so that it is no race: the tile is done twice all the same.
            data.atomic(chunk as usize * len + i).store(acc, 1, Ordering::Relaxed);
        }
    }
}
