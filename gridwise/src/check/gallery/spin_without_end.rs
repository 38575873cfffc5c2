//! A loop polls a word that nobody stores any more

use super::exhibit::*;

exhibit! {
    "spin_without_end", "A5.12", "A loop polls a word that nobody stores any more",
    finds [EndlessSpin],
    Kernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let flag = words.atomic(0);
    if acc.block_index() == 0 {
        if fixed {
            flag.store(acc, 1, Ordering::Release);
        }
    } else {
        while flag.load(acc, Ordering::Acquire) == 0 {}
    }
}
