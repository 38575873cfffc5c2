//! A flag and a value are stored as the halves of a word that is loaded as a whole

use super::exhibit::*;

exhibit! {
    "halves_of_a_word", "A4.3", "A flag and a value are stored as the halves of a word that is loaded as a whole",
    finds [MixedSize],
    GridKernel on |_| Blocks::Exactly(2).threads(1),
    shared (),
}

fn kernel<A: GridAcc>(acc: A, fixed: bool, _data: &Words<'_>, words: &Words<'_>, _shared: ()) {
    let whole = words.cast::<A, u64>(acc);
    if acc.block_index() == 1 {
        whole.atomic(0).load(acc, Ordering::Acquire);
    } else if fixed {
        whole.atomic(0).store(acc, (7 << 32) | 1, Ordering::Release);
    } else {
        words.atomic(1).store(acc, 7, Ordering::Relaxed);
        words.atomic(0).store(acc, 1, Ordering::Release);
    }
}
