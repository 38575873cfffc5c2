//! The bin is computed so that the largest sample falls one past the end

use super::exhibit::*;

exhibit! {
    "more_bins_than_values", "A10.4", "The bin is computed so that the largest sample falls one past the end",
    finds [OutOfBounds, Panic],
    Kernel on |_| Blocks::Exactly(1).threads(4),
    shared (),
}

fn kernel<A: Acc>(acc: A, fixed: bool, data: &Words<'_>, _words: &Words<'_>, _shared: ()) {
    let (bins, most) = (4, 3);
    let histogram = data.slice(acc, ..bins);
    let sample = acc.thread_index();
    let bin = if fixed {
        sample * bins / (most + 1)
    } else {
        sample * bins / most
    };
    histogram
        .atomic(bin.min(bins - usize::from(fixed)))
        .fetch_add(acc, 1, Ordering::Relaxed);
}
