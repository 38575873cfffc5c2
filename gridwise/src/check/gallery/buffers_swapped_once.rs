//! Two buffers are meant to take turns, but the step writes where it reads

use super::exhibit::*;

exhibit! {
    "buffers_swapped_once", "A2.15", "Two buffers are meant to take turns, but the step writes where it reads",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let me = acc.thread_index_in_grid();
    for step in 0..3 {
        let from = step % 2 * 4;
        let to = if fixed { 4 - from } else { 0 };
        let neighbour = data.get(acc, from + (me + 1) % 4);
        data.set(acc, to + me, neighbour + 1);
        acc.sync_grid();
    }
}
