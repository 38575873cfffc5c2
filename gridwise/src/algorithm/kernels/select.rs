//! Compaction and partition in one pass: each block counts what it selects of the tiles it claims, and looks back for how much is selected
//! before them.

use core::ops::Range;

use bytemuck::Pod;

use super::scan::own;
use crate::{
    algorithm::operator::Predicate,
    kernel::{Acc, Kernel, LookBack, Span, SpanMut},
};

/// Elements that are sorted out in registers and cache before they go to memory.
const BATCH: usize = 64;

/// See the module.
#[repr(C)]
pub struct Select<'a, T, P> {
    pub(crate) input: Span<'a, T>,
    /// What is selected, in order. What does not fit is counted only.
    pub(crate) selected: SpanMut<'a, T>,
    /// What is not, in order; as `selected`.
    pub(crate) rejected: SpanMut<'a, T>,
    /// One element: how many are selected.
    pub(crate) count: SpanMut<'a, u64>,
    pub(crate) look_back: LookBack<'a, u64>,
    /// Elements of a tile; of the last, what is left.
    pub(crate) tile: u64,
    pub(crate) predicate: P,
}

// SAFETY: a tile is claimed by one block. The places that threads write to follow one another without overlap, because they are sums of
// the numbers of elements that are written. All threads of a block walk the same tiles. Predicates may be shared by threads.
unsafe impl<T: Pod, P: Predicate<T>> Kernel for Select<'_, T, P> {
    const NAME: &'static str = "select";
    type Shared = ();

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, (): ()) {
        let add = |a, b| a + b;
        let recompute = |tile| self.count(acc, tile).1;
        while let Some(tile) = self.look_back.claim(acc) {
            let (before_in_tile, in_tile) = self.count(acc, tile);
            let before = self.look_back.exclusive(acc, tile, in_tile, add, recompute);
            let before = before.unwrap_or(0);
            self.distribute(acc, own(acc, self.elements(tile)), (before + before_in_tile) as usize);
            if tile + 1 == self.look_back.tiles() && acc.thread_index() == 0 {
                self.count.set(acc, 0, before + in_tile);
            }
        }
    }
}

impl<T: Pod, P: Predicate<T>> Select<'_, T, P> {
    #[inline(always)]
    fn elements(&self, tile: usize) -> Range<usize> {
        let (len, each) = (self.input.len(), self.tile as usize);
        // Less than `len`, because there is such a tile.
        let start = tile * each;
        start..start + each.min(len - start)
    }

    /// How many are selected of the tile's elements before this thread's, and of all.
    #[inline(always)]
    fn count<A: Acc>(&self, acc: A, tile: usize) -> (u64, u64) {
        let mine = &self.input[own(acc, self.elements(tile))];
        let count = mine.iter().map(|&x| u64::from(self.predicate.holds(x))).sum();
        acc.exclusive_scan_block(count, 0, |a, b| a + b)
    }

    /// Moves elements to their places; `before` is how many are selected of all that precede them.
    #[inline(always)]
    fn distribute<A: Acc>(&self, acc: A, mine: Range<usize>, before: usize) {
        let (mut selected, mut rejected) = (before, mine.start - before);
        // One more than there are: the place after the last is written in vain, which costs less than not to write.
        let mut batch = [[T::zeroed(); BATCH + 1]; 2];
        for elements in self.input[mine].chunks(BATCH) {
            let (mut ins, mut outs) = (0, 0);
            for &element in elements {
                let is_in = self.predicate.holds(element);
                batch[0][ins] = element;
                batch[1][outs] = element;
                ins += usize::from(is_in);
                outs += usize::from(!is_in);
            }
            store(acc, &self.selected, selected, &batch[0][..ins]);
            store(acc, &self.rejected, rejected, &batch[1][..outs]);
            selected += ins;
            rejected += outs;
        }
    }
}

/// Stores elements from `start` on, as far as there is room.
#[inline(always)]
fn store<A: Acc, T: Pod>(acc: A, to: &SpanMut<'_, T>, start: usize, elements: &[T]) {
    let room = to.len().saturating_sub(start).min(elements.len());
    let start = start.min(to.len());
    let to = to.slice(acc, start..start + room);
    for (i, &element) in elements[..room].iter().enumerate() {
        to.set(acc, i, element);
    }
}
