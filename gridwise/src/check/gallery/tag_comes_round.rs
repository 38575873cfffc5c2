//! A pool's tag of one bit comes round: after two pops and a push a slow pop succeeds, and an element has two owners

use super::exhibit::*;

exhibit! {
    "tag_comes_round", "A9.16", "A pool's tag of one bit comes round: after two pops and a push a slow pop succeeds, and an element has two owners",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 300,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    // Word 0 is the head, words 1 and 2 are what follows each node.
    let list = FreeList {
        words,
        tags: if fixed { 1 << 24 } else { 2 },
    };
    if acc.block_index() == 0 {
        list.push(acc, 2);
        list.push(acc, 1);
    }
    acc.sync_grid();
    if acc.block_index() == 0 {
        let (a, b) = (list.pop(acc), list.pop(acc));
        if a != 0 {
            list.push(acc, a);
        }
        if b != 0 {
            data.set(acc, b as usize, 1);
        }
    } else {
        for _ in 0..2 {
            let node = list.pop(acc);
            if node != 0 {
                data.set(acc, node as usize, 2);
            }
        }
    }
}
