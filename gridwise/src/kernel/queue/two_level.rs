//! The two-level queue: large pieces, cut into small ones that any block may take.

use core::{iter::FusedIterator, ops::Range, panic::Location, sync::atomic::Ordering};

use super::LINE_WORDS;
use crate::kernel::{Acc, Atomic, SpanMut, collective};

/// Hands out an index range so that a block mostly stays in a piece of its own, and the grid still drains evenly.
///
/// A block claims a large piece and works through it small piece by small piece. When there is no large piece left, it takes
/// small pieces of those that other blocks still work on, the last begun first. So no block ends more than about one small
/// piece of work after the first one ran dry.
///
/// Each large piece has its own counter, and a small piece is claimed by one atomic addition to it, by owner and helper alike.
/// Nobody waits for anybody: it serves plain and cooperative launches, with any number of blocks.
///
/// Made by [`Pieces::fresh`](crate::host::tasks::Pieces::fresh).
///
/// # Memory ordering
/// As for [`ChunkCounter`](super::ChunkCounter): claims are relaxed.
#[repr(C)]
pub struct TwoLevelQueue<'a> {
    /// A line for the counter of large pieces, then one for each of them.
    words: SpanMut<'a, u64>,
    len: u64,
    large: u64,
    small: u64,
    pieces: u64,
}

impl<'a> TwoLevelQueue<'a> {
    /// Lines of words, all 0, for `pieces` large pieces.
    #[cfg(feature = "std")]
    pub(crate) const fn words(pieces: usize) -> Option<usize> {
        match pieces.checked_add(1) {
            Some(lines) => lines.checked_mul(LINE_WORDS),
            None => None,
        }
    }

    /// `words` are as [`words`](Self::words) says; `pieces` large ones of `large` indices cover `0..len`; `small` is at least 1.
    #[cfg(feature = "std")]
    pub(crate) fn new(words: SpanMut<'a, u64>, len: u64, large: u64, small: u64) -> Self {
        let pieces = len.div_ceil(large);
        Self {
            words,
            len,
            large,
            small,
            pieces,
        }
    }

    /// The small pieces that the block claims, one after another.
    ///
    /// All threads of the block have to walk it, and all get the same pieces. Each step is a block barrier.
    #[inline(always)]
    #[track_caller]
    pub fn claims<A: Acc>(&self, acc: A) -> PieceClaims<'_, 'a, A> {
        if A::LOOKS_AT_PROMISES {
            for piece in 0..self.pieces {
                self.counter(piece).promise_drained(acc, Some(self.small_in(piece)));
            }
        }
        PieceClaims {
            queue: self,
            acc,
            location: Location::caller(),
            place: Place::Next,
        }
    }

    /// Says that pieces which nobody has claimed stay unclaimed on purpose; see
    /// [`ChunkCounter::leave_the_rest`](super::ChunkCounter::leave_the_rest).
    #[inline(always)]
    #[track_caller]
    pub fn leave_the_rest<A: Acc>(&self, acc: A) {
        if A::LOOKS_AT_PROMISES {
            for piece in 0..self.pieces {
                self.counter(piece).promise_drained(acc, None);
            }
        }
    }

    /// Counts the small pieces of a large one that were claimed.
    #[inline(always)]
    fn counter(&self, piece: u64) -> Atomic<'_, u64> {
        self.words.atomic((piece as usize + 1) * LINE_WORDS)
    }

    /// Indices in a large piece.
    #[inline(always)]
    fn len_of(&self, piece: u64) -> u64 {
        self.large.min(self.len - piece * self.large)
    }

    /// Small pieces in a large one.
    #[inline(always)]
    fn small_in(&self, piece: u64) -> u64 {
        self.len_of(piece).div_ceil(self.small)
    }

    /// Claims a small piece of a large one.
    #[inline(always)]
    fn claim_in<A: Acc>(&self, acc: A, piece: u64) -> Option<[u64; 2]> {
        let (start, len) = (piece * self.large, self.len_of(piece));
        let (counter, all) = (self.counter(piece), self.small_in(piece));
        // Looking first keeps those that run dry from writing every line.
        if counter.load(acc, Ordering::Relaxed) >= all {
            return None;
        }
        let ticket = counter.fetch_add(acc, 1, Ordering::Relaxed);
        (ticket < all).then(|| {
            let offset = ticket * self.small;
            [start + offset, start + offset + self.small.min(len - offset)]
        })
    }

    /// Claims a small piece for the block whose place is `place`: called by its first thread.
    #[inline(always)]
    fn claim<A: Acc>(&self, acc: A, place: &mut Place) -> Option<[u64; 2]> {
        loop {
            match *place {
                Place::Next => {
                    let piece = self.words.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
                    *place = if piece < self.pieces {
                        Place::Own(piece)
                    } else {
                        Place::Helping(self.pieces)
                    };
                }
                Place::Own(piece) => match self.claim_in(acc, piece) {
                    None => *place = Place::Next,
                    claimed => return claimed,
                },
                Place::Helping(0) => return None,
                Place::Helping(above) => match self.claim_in(acc, above - 1) {
                    None => *place = Place::Helping(above - 1),
                    claimed => return claimed,
                },
            }
        }
    }
}

/// Where a block looks for its next small piece.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// In a large piece that it has yet to claim.
    Next,
    /// In its own large piece.
    Own(u64),
    /// In anybody's piece below this one.
    Helping(u64),
}

/// The small pieces that a block claims; from [`TwoLevelQueue::claims`].
pub struct PieceClaims<'c, 'a, A> {
    queue: &'c TwoLevelQueue<'a>,
    acc: A,
    location: &'static Location<'static>,
    /// Known to the block's first thread alone.
    place: Place,
}

impl<A: Acc> Iterator for PieceClaims<'_, '_, A> {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        let place = &mut self.place;
        // An empty range says that there is nothing left.
        let claim = || self.queue.claim(self.acc, place).unwrap_or([0; 2]);
        let [start, end] = collective::broadcast(self.acc, claim, self.location);
        (start < end).then_some(start as usize..end as usize)
    }
}
impl<A: Acc> FusedIterator for PieceClaims<'_, '_, A> {}
