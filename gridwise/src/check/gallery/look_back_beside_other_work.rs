//! A grid of a fixed size looks back by block index, and works until other work holds a part of the device

use super::exhibit::*;

exhibit! {
    "look_back_beside_other_work", "A5.2", "A grid of a fixed size looks back by block index, and works until other work holds a part of the device",
    finds [NeverStarted],
    Kernel on |_| Blocks::Exactly(4).threads(1),
    shared (),
    schedules 60,
    model |model| {
        model.held = 2;
        model.block_order = BlockOrder::Random;
    },
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let tile = match fixed {
        true => words.atomic(8).fetch_add(acc, 1, Ordering::Relaxed) as usize,
        false => acc.block_index(),
    };
    data.set(acc, tile, 1);
    for before in (0..tile).rev() {
        words
            .atomic(before)
            .wait_until(acc, Ordering::Acquire, |state| state == 1);
        data.get(acc, before);
    }
    words.atomic(tile).store(acc, 1, Ordering::Release);
}
