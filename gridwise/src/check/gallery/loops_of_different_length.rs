//! A loop reads what another has stored, with nothing between: right where index maps deal out in turn, but not where they deal out contiguous parts, which depend on the length

use super::exhibit::*;

exhibit! {
    "loops_of_different_length", "A3.5", "A loop reads what another has stored, with nothing between: right where index maps deal out in turn, but not where they deal out contiguous parts, which depend on the length",
    finds [GlobalRace],
    Kernel on |_| Blocks::Exactly(2).threads(2),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    for i in acc.threads_in_grid(0..16) {
        data.set(acc, i, 1);
    }
    // Of loops that are alike, every thread gets the same indices.
    for i in acc.threads_in_grid(0..if fixed { 16 } else { 12 }) {
        if i < 12 {
            data.set(acc, 16 + i, data.get(acc, i));
        }
    }
}
