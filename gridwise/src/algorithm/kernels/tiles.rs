//! Tiles of an input, for kernels that look back.

use core::ops::Range;

use crate::kernel::{Acc, hardware::contiguous};

/// The elements of a tile that there is: `each`, or what is left.
#[inline(always)]
pub(super) fn elements(len: usize, each: u64, tile: usize) -> Range<usize> {
    let each = each as usize;
    // Less than `len`, because there is such a tile.
    let start = tile * each;
    start..start + each.min(len - start)
}

/// The part of a range that is this thread's: one stretch, so that the order of threads is that of elements.
#[inline(always)]
pub(super) fn own<A: Acc>(acc: A, range: Range<usize>) -> Range<usize> {
    contiguous(range, acc.thread_index(), acc.thread_count()).range()
}
