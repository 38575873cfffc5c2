//! The last tile is read in full, though it is shorter

use super::exhibit::*;

exhibit! {
    "last_tile_in_full", "A5.7", "The last tile is read in full, though it is shorter",
    finds [OutOfBounds],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let (n, tile) = (30, 4);
    let input = data.slice(acc, ..n);
    for start in (0..n).step_by(tile) {
        let i = start + acc.thread_index();
        if i < n || !fixed {
            input.get(acc, i);
        }
    }
}
