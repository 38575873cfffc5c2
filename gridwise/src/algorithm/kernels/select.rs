//! Compaction and partition in one pass: each block counts what it selects of the tiles it claims, and looks back for how much is selected
//! before them.

use core::ops::Range;

use bytemuck::Pod;

use super::tiles::{self, own};
use crate::{
    algorithm::operator::Predicate,
    kernel::{Acc, Kernel, LookBack, Span, SpanMut},
};

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
// the numbers of places that each thread has counted for itself once, whatever the predicate answers later. All threads of a block walk
// the same tiles. Predicates may be shared by threads.
unsafe impl<T: Pod, P: Predicate<T>> Kernel for Select<'_, T, P> {
    const NAME: &'static str = "select";
    type Shared = ();

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, (): ()) {
        let add = |a, b| a + b;
        // A tile is not counted anew: a predicate that is a closure may answer otherwise, and blocks would not agree on places.
        let others = |tile| self.look_back.wait_for(acc, tile);
        while let Some(tile) = self.look_back.claim(acc) {
            let count = self.count(acc, tile);
            let before = self.look_back.exclusive(acc, tile, count.in_tile, add, others);
            let before = before.unwrap_or(0);
            self.distribute(acc, own(acc, self.elements(tile)), before + count.before, count.own);
            if tile + 1 == self.look_back.tiles() && acc.thread_index() == 0 {
                self.count.set(acc, 0, before + count.in_tile);
            }
        }
    }
}

/// How many elements of a tile are selected.
struct Count {
    /// Of those before this thread's.
    before: u64,
    own: u64,
    in_tile: u64,
}

impl<T: Pod, P: Predicate<T>> Select<'_, T, P> {
    #[inline(always)]
    fn elements(&self, tile: usize) -> Range<usize> {
        tiles::elements(self.input.len(), self.tile, tile)
    }

    #[inline(always)]
    fn count<A: Acc>(&self, acc: A, tile: usize) -> Count {
        let mine = &self.input[own(acc, self.elements(tile))];
        let own = mine.iter().map(|&x| u64::from(self.predicate.holds(x))).sum();
        let (before, in_tile) = acc.exclusive_scan_block(own, 0, |a, b| a + b);
        Count { before, own, in_tile }
    }

    /// Moves elements to their places; `before` of all that precede them are selected, and `count` of them.
    #[inline(always)]
    fn distribute<A: Acc>(&self, acc: A, mine: Range<usize>, before: u64, count: u64) {
        let (before, count) = (before as usize, count as usize);
        let (rejected_before, rejected) = (mine.start - before, mine.len() - count);
        let elements = &self.input[mine];
        let is_in = |element| self.predicate.holds(element);
        store(acc, elements, is_in, &self.selected, before..before + count);
        store(
            acc,
            elements,
            |element| !is_in(element),
            &self.rejected,
            rejected_before..rejected_before + rejected,
        );
    }
}

/// Stores the elements for which `is_in` holds into `places`, which are as many, as far as there is room.
#[inline(always)]
fn store<A: Acc, T: Pod>(acc: A, elements: &[T], is_in: impl Fn(T) -> bool, to: &SpanMut<'_, T>, places: Range<usize>) {
    let room = to.len();
    let to = to.slice(acc, places.start.min(room)..places.end.min(room));
    let (mut at, mut elements) = (0, elements.iter());
    // Every element is stored, and the place moves on from those that stay: a branch would be taken at random.
    while at < to.len()
        && let Some(&element) = elements.next()
    {
        to.set(acc, at, element);
        at += usize::from(is_in(element));
    }
}
