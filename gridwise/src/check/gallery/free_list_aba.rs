//! A stack without tags: a pop succeeds although the list has changed and changed back

use super::exhibit::*;

exhibit! {
    "free_list_aba", "A9.14", "A stack without tags: a pop succeeds although the list has changed and changed back",
    finds [GlobalRace],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
    schedules 300,
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    // Nodes 1 and 2; word 0 is the head with a tag above 8 bits, words 1 and 2 are what follows each node.
    let (head, next) = (words.atomic(0), |node: u32| words.atomic(node as usize));
    let bump = |tag: u32| if fixed { (tag + 1) << 8 } else { 0 };
    let pop = || loop {
        let top = head.load(acc, Ordering::Acquire);
        let node = top & 255;
        if node == 0 {
            return 0;
        }
        let below = next(node).load(acc, Ordering::Relaxed);
        let new = below | bump(top >> 8);
        if head
            .compare_exchange(acc, top, new, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
        {
            return node;
        }
    };
    let push = |node: u32| loop {
        let top = head.load(acc, Ordering::Acquire);
        next(node).store(acc, top & 255, Ordering::Relaxed);
        let new = node | bump(top >> 8);
        if head
            .compare_exchange(acc, top, new, Ordering::AcqRel, Ordering::Relaxed)
            .is_ok()
        {
            return;
        }
    };
    if acc.block_index() == 0 {
        push(2);
        push(1);
    }
    acc.sync_grid();
    if acc.block_index() == 0 {
        let (a, b) = (pop(), pop());
        if a != 0 {
            push(a);
        }
        if b != 0 {
            data.set(acc, b as usize, 1);
        }
    } else {
        for _ in 0..2 {
            let node = pop();
            if node != 0 {
                data.set(acc, node as usize, 2);
            }
        }
    }
}
