//! Prefix sums in one pass: each block scans the tiles it claims, and looks back for what lies before them.

use core::ops::Range;

use bytemuck::Pod;

use super::tiles::{self, own};
use crate::{
    algorithm::operator::Operator,
    kernel::{Acc, Kernel, LookBack, Span, SpanMut},
};

/// See the module.
#[repr(C)]
pub struct Scan<'a, T, O> {
    pub(crate) input: Span<'a, T>,
    /// As long as the input.
    pub(crate) out: SpanMut<'a, T>,
    pub(crate) look_back: LookBack<'a, T>,
    /// Elements of a tile; of the last, what is left.
    pub(crate) tile: u64,
    /// Whether an element's own value is in its prefix.
    pub(crate) is_inclusive: bool,
    pub(crate) identity: T,
    pub(crate) op: O,
}

// SAFETY: a tile is claimed by one block, and a stretch of it belongs to one thread, the only one to write these elements of `out`. All
// threads of a block walk the same tiles. Operators may be shared by threads.
unsafe impl<T: Pod, O: Operator<T>> Kernel for Scan<'_, T, O> {
    const NAME: &'static str = "scan";
    type Shared = ();

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, (): ()) {
        if acc.block_count() == 1 && acc.thread_count() == 1 {
            return self.alone(acc);
        }
        let op = |left, right| self.op.apply(left, right);
        let recompute = |tile| self.aggregate(acc, self.elements(tile)).1;
        while let Some(tile) = self.look_back.claim(acc) {
            let (before_in_tile, aggregate) = self.aggregate(acc, self.elements(tile));
            let before = self.look_back.exclusive(acc, tile, aggregate, op, recompute);
            let before = before.map_or(before_in_tile, |before| op(before, before_in_tile));
            let mine = own(acc, self.elements(tile));
            self.store(acc, mine, before, |sum, _| sum);
        }
    }
}

impl<T: Pod, O: Operator<T>> Scan<'_, T, O> {
    #[inline(always)]
    fn elements(&self, tile: usize) -> Range<usize> {
        tiles::elements(self.input.len(), self.tile, tile)
    }

    /// What the elements before this thread's combine to, and all of the tile's.
    #[inline(always)]
    fn aggregate<A: Acc>(&self, acc: A, tile: Range<usize>) -> (T, T) {
        let mine = &self.input[own(acc, tile)];
        let sum = mine.iter().fold(self.identity, |sum, &x| self.op.apply(sum, x));
        acc.exclusive_scan_block(sum, self.identity, |left, right| self.op.apply(left, right))
    }

    /// Stores the prefixes of some elements, `before` being what lies before them. Returns `beside`, folded over the elements.
    #[inline(always)]
    fn store<A: Acc>(&self, acc: A, range: Range<usize>, before: T, beside: impl Fn(T, T) -> T) -> T {
        let (input, out) = (&self.input[range.clone()], self.out.slice(acc, range));
        // SAFETY: the elements are this thread's alone.
        let out = unsafe { out.as_mut_slice(acc) };
        let (mut sum, mut other) = (before, self.identity);
        let mut step = |element: T| {
            let before = sum;
            sum = self.op.apply(sum, element);
            other = beside(other, element);
            (before, sum)
        };
        // The choice once, and not for each element.
        if self.is_inclusive {
            out.iter_mut().zip(input).for_each(|(out, &x)| *out = step(x).1);
        } else {
            out.iter_mut().zip(input).for_each(|(out, &x)| *out = step(x).0);
        }
        other
    }

    /// Nobody else is there: every element is read once. Tiles are combined all the same, so that the bits are those of any grid.
    #[inline(always)]
    fn alone<A: Acc>(&self, acc: A) {
        let mut before = None;
        for tile in 0..self.look_back.tiles() {
            acc.check_in();
            let start = before.unwrap_or(self.identity);
            let aggregate = self.store(acc, self.elements(tile), start, |sum, x| self.op.apply(sum, x));
            before = Some(before.map_or(aggregate, |before| self.op.apply(before, aggregate)));
        }
    }
}
