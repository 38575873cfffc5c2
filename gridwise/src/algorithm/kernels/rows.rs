//! What the kernels of the solvers share: the matrix cut into rows of blocks, its product with a vector, and sums over the grid.
//!
//! Each block owns a stretch of rows of about the same work, rows plus entries, and the same stretch in every phase, so a core
//! finds its part of the vectors where it left it. The cut depends on the matrix and the number of blocks alone. Sums are
//! made by each thread over its rows, by each block over its threads, and by everybody over the blocks, always in the same order:
//! a grid of a given size gives the same bits every time.

use core::ops::Range;

use super::entries::Entries;
use crate::kernel::{Acc, Span, SpanMut};

/// Sums that a block hands to the others, at most: they fill a cache line, so that blocks do not disturb each other.
pub(crate) const SUMS: usize = 8;

/// Accumulators that a long sum is spread over: an addition need not wait for the one before, and a vector unit can do several.
pub(crate) const LANES: usize = 4;

/// A kernel's view of [`DeviceRows`].
#[repr(C)]
pub(crate) struct Rows<'a> {
    pub(crate) entries: Entries<'a>,
    pub(crate) cuts: Span<'a, u64>,
    pub(crate) sums: SpanMut<'a, f64>,
}

impl Rows<'_> {
    /// The rows of this block.
    #[inline(always)]
    pub(crate) fn of_block<A: Acc>(&self, acc: A) -> Range<usize> {
        let block = acc.block_index();
        self.cuts[block] as usize..self.cuts[block + 1] as usize
    }

    /// Calls `each(i, product)` with the product of the matrix's row `run.start + i` and `x`, for every row of `run`.
    ///
    /// # Safety
    /// `x` has an element for each column of the matrix.
    #[inline(always)]
    pub(crate) unsafe fn multiply<A: Acc>(
        &self,
        acc: A,
        run: Range<usize>,
        x: &SpanMut<'_, f64>,
        each: impl FnMut(usize, f64),
    ) {
        // SAFETY: the entries ask for columns of the matrix, and the caller vouches for `x`.
        let element = |column| unsafe { x.get_unchecked(acc, column) };
        self.entries.multiply(run, element, each);
    }

    /// Adds up `parts` over the threads of the block and stores the sums from number `first` on. Every thread of the block calls
    /// it; the sums are there for everybody after the end of the phase.
    #[inline(always)]
    pub(crate) fn store_sums<A: Acc, const N: usize>(&self, acc: A, first: usize, parts: [f64; N])
    where
        [f64; N]: bytemuck::Pod,
    {
        let sums = acc.reduce_block(parts, |a, b| core::array::from_fn(|k| a[k] + b[k]));
        if acc.thread_index() == 0 {
            let own = self
                .sums
                .slice(acc, acc.block_index() * SUMS..(acc.block_index() + 1) * SUMS);
            for (k, sum) in sums.into_iter().enumerate() {
                own.set(acc, first + k, sum);
            }
        }
    }

    /// The sum over all blocks of what they stored as number `which` in an earlier phase: the same bits in every thread.
    #[inline(always)]
    pub(crate) fn sum<A: Acc>(&self, acc: A, which: usize) -> f64 {
        let mut sum = 0.0;
        for block in 0..acc.block_count() {
            sum += self.sums.get(acc, block * SUMS + which);
        }
        sum
    }
}

/// The start of each full group of [`LANES`] indices below `n`.
#[inline(always)]
pub(crate) fn groups(n: usize) -> impl Iterator<Item = usize> {
    (0..n / LANES).map(|group| group * LANES)
}

/// The indices below `n` that [`groups`] leaves.
#[inline(always)]
pub(crate) fn rest(n: usize) -> Range<usize> {
    n - n % LANES..n
}

/// The accumulator that [`rest`] adds to.
#[inline(always)]
pub(crate) fn first(lanes: &mut [f64; LANES]) -> &mut [f64; 1] {
    lanes.first_chunk_mut().expect("there is at least one lane")
}

/// Copies from one view to another of the same rows.
#[inline(always)]
pub(crate) fn copy<A: Acc>(acc: A, from: &SpanMut<'_, f64>, to: &SpanMut<'_, f64>) {
    for i in 0..from.len() {
        to.set(acc, i, from.get(acc, i));
    }
}

/// `N` elements from `at` on.
///
/// # Safety
/// They are inside the span.
#[inline(always)]
pub(crate) unsafe fn load<A: Acc, const N: usize>(acc: A, span: &SpanMut<'_, f64>, at: usize) -> [f64; N] {
    // SAFETY: by the caller.
    core::array::from_fn(|lane| unsafe { span.get_unchecked(acc, at + lane) })
}

/// Stores `N` elements from `at` on.
///
/// # Safety
/// They are inside the span.
#[inline(always)]
pub(crate) unsafe fn store<A: Acc, const N: usize>(acc: A, span: &SpanMut<'_, f64>, at: usize, values: [f64; N]) {
    for (lane, value) in values.into_iter().enumerate() {
        // SAFETY: by the caller.
        unsafe { span.set_unchecked(acc, at + lane, value) }
    }
}
