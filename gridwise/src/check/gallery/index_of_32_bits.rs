//! An index is computed in a type that is too narrow

use super::exhibit::*;

exhibit! {
    "index_of_32_bits", "A10.1", "An index is computed in a type that is too narrow",
    finds [OutOfBounds],
    Kernel on |_| Blocks::Exactly(1).threads(2),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let stride = 200_u8;
    let i = if fixed {
        usize::from(stride) * acc.thread_index() % data.len()
    } else {
        usize::from(stride.wrapping_mul(acc.thread_index() as u8))
    };
    data.set(acc, i, 1);
}
