//! Decoupled look-back: prefixes over tiles in one launch, without a barrier and without waiting for anybody.
//!
//! A block that has combined its tile publishes the *aggregate*, looks back over the tiles before it until one has published the
//! *prefix* of everything up to itself, and combines what lies between. A tile that has published nothing, because its block was
//! held up, is combined anew by who needs it. The protocol is in the `README.md` beside this file. (Merrill and Garland, 2016; with the
//! fallback of Smith, Levien and Owens, 2025.)

use core::{marker::PhantomData, sync::atomic::Ordering};

use bytemuck::Pod;

use super::{Acc, Atomic, SpanMut, queue::LINE_WORDS};

#[cfg(all(test, not(loom), feature = "std"))]
mod test_check;

/// Nothing is published.
const NOTHING: u64 = 0;
/// What the elements of the tile combine to.
const AGGREGATE: u64 = 1;
/// What all elements up to the end of the tile combine to.
const PREFIX: u64 = 2;

/// Words of a value.
const fn value_words<T>() -> usize {
    size_of::<T>().div_ceil(size_of::<u64>())
}

/// Words of a tile: its state, aggregate and prefix, on lines of their own.
const fn tile_words<T>() -> usize {
    (1 + 2 * value_words::<T>()).next_multiple_of(LINE_WORDS / 2)
}

/// The most words a value has: as for block collectives.
const MOST_WORDS: usize = super::hardware::SLOT_BYTES / size_of::<u64>();

/// Prefixes over the tiles that blocks claim one after another.
///
/// Made by [`LookBackMemory::fresh`](crate::host::look_back::LookBackMemory::fresh), for one launch, and of values of at most
/// 64 bytes. It serves plain launches, with any number of blocks: nobody waits for a block that has not started, or that does not go on.
///
/// A kernel that stores, for each tile, how much lies before it:
///
/// ```
/// use gridwise::prelude::*;
///
/// const TILE: usize = 100;
///
/// #[repr(C)]
/// struct Before<'a> {
///     input: Span<'a, u64>,
///     before: SpanMut<'a, u64>,
///     look_back: LookBack<'a, u64>,
/// }
///
/// impl Before<'_> {
///     fn sum<A: Acc>(&self, acc: A, tile: usize) -> u64 {
///         let elements = &self.input[tile * TILE..self.input.len().min((tile + 1) * TILE)];
///         let mine = acc.threads_in_block(0..elements.len()).map(|i| elements[i]).sum();
///         acc.reduce_block(mine, |a, b| a + b)
///     }
/// }
///
/// // SAFETY: a tile is claimed by one block, whose first thread writes its element. All threads of a block walk the same tiles.
/// unsafe impl Kernel for Before<'_> {
///     const NAME: &'static str = "before";
///     type Shared = ();
///
///     fn run<A: Acc>(self, acc: A, _: ()) {
///         while let Some(tile) = self.look_back.claim(acc) {
///             let sum = self.sum(acc, tile);
///             let before = self.look_back.exclusive(acc, tile, sum, |a, b| a + b, |tile| self.sum(acc, tile));
///             if acc.thread_index() == 0 {
///                 self.before.set(acc, tile, before.unwrap_or(0));
///             }
///         }
///     }
/// }
///
/// let queue = Device::from_env()?.queue();
/// let input = queue.upload(&[1; 1000])?;
/// let mut before = queue.device().zeroed(10)?;
/// let mut memory = queue.look_back(10)?;
/// let kernel = Before { input: input.span(), before: before.span_mut(), look_back: memory.fresh(&queue) };
/// queue.launch(Blocks::Resident, kernel)?;
/// assert_eq!(queue.download(&before)?, [0, 100, 200, 300, 400, 500, 600, 700, 800, 900]);
/// # Ok::<(), gridwise::Error>(())
/// ```
#[repr(C)]
pub struct LookBack<'a, T> {
    /// The next tile to claim; a line further on, the tiles.
    words: SpanMut<'a, u64>,
    tiles: u64,
    _value: PhantomData<T>,
}

impl<'a, T: Pod> LookBack<'a, T> {
    /// Words for so many tiles, all 0 when a launch begins; `None` if they cannot be counted.
    #[cfg(feature = "std")]
    pub(crate) fn words(tiles: usize) -> Option<usize> {
        tiles.checked_mul(tile_words::<T>())?.checked_add(LINE_WORDS)
    }

    /// `words` are as many as [`words`](Self::words) says, and 0.
    #[cfg(feature = "std")]
    pub(crate) fn new(words: SpanMut<'a, u64>, tiles: usize) -> Self {
        Self {
            words,
            tiles: tiles as u64,
            _value: PhantomData,
        }
    }

    /// How many tiles there are.
    #[inline(always)]
    pub fn tiles(&self) -> usize {
        self.tiles as usize
    }

    /// Claims the next tile for the block, in ascending order; `None` once all are claimed, and from then on.
    ///
    /// All threads of the block have to call it, and all get the same tile. A block barrier.
    #[inline(always)]
    #[track_caller]
    pub fn claim<A: Acc>(&self, acc: A) -> Option<usize> {
        acc.check_in();
        let next = self.words.atomic(0);
        next.promise_drained(acc, Some(self.tiles));
        let tile = acc.broadcast(|| next.fetch_add(acc, 1, Ordering::Relaxed));
        (tile < self.tiles).then_some(tile as usize)
    }

    /// What the tiles before this one combine to; `None` for the first.
    ///
    /// `aggregate` is what the elements of the tile combine to, by `op`, which has to be associative and need not be commutative. If a
    /// block before this one does not publish its aggregate in time, `recompute` is called with the number of that tile, by all
    /// threads of this block: it has to give the same bits, whenever it is called.
    ///
    /// All threads of the block have to call it, once for each tile that the block claims. A block barrier.
    ///
    /// # Determinism
    /// Aggregates are combined from the left, one after another, whoever combines them and however far a block looks back. So the
    /// result has the same bits at every run, also where `op` is associative up to rounding only.
    ///
    /// # Memory ordering
    /// The values of tiles are handed over with release and acquire at device scope. No other memory is ordered by it.
    #[inline(always)]
    #[track_caller]
    pub fn exclusive<A: Acc>(
        &self,
        acc: A,
        tile: usize,
        aggregate: T,
        op: impl Fn(T, T) -> T,
        recompute: impl Fn(usize) -> T,
    ) -> Option<T> {
        let leads = acc.thread_index() == 0;
        if tile == 0 {
            if leads {
                self.publish(acc, 0, PREFIX, aggregate);
            }
            return None;
        }
        if leads {
            self.publish(acc, tile, AGGREGATE, aggregate);
        }
        let first = self.first_prefix(acc, tile, recompute);
        let before = acc.broadcast(|| {
            let mut before = self.value(acc, first, PREFIX);
            for between in first + 1..tile {
                before = op(before, self.value(acc, between, AGGREGATE));
            }
            self.publish(acc, tile, PREFIX, op(before, aggregate));
            before
        });
        Some(before)
    }

    /// The nearest tile before `tile` that has published its prefix; all between have published their aggregates, by themselves or by
    /// this block. The same for all threads of the block.
    #[inline(always)]
    fn first_prefix<A: Acc>(&self, acc: A, tile: usize, recompute: impl Fn(usize) -> T) -> usize {
        let mut end = tile;
        loop {
            // The first warp looks, the others are told.
            let seen = if acc.warp_index() == 0 {
                self.look(acc, end)
            } else {
                [0; 2]
            };
            let [tile, state] = acc.broadcast(|| seen);
            let tile = tile as usize;
            if state == PREFIX {
                return tile;
            }
            let value = recompute(tile);
            // What the first tile combines to is what everything up to its end does.
            let state = if tile == 0 { PREFIX } else { AGGREGATE };
            if acc.thread_index() == 0 {
                self.publish(acc, tile, state, value);
            }
            if tile == 0 {
                return 0;
            }
            end = tile;
        }
    }

    /// Looks back from the tile before `end`, a lane a tile, to one that has published its prefix, or has published nothing though it
    /// was waited for. Returns that tile and its state. All lanes of one warp, which all see the same.
    #[inline(always)]
    fn look<A: Acc>(&self, acc: A, mut end: usize) -> [u64; 2] {
        loop {
            let state = match end.checked_sub(1 + acc.lane()) {
                Some(tile) => self
                    .state(tile)
                    .wait_briefly(acc, Ordering::Acquire, |state| state != NOTHING),
                // Before the first tile, at which all looking ends.
                None => AGGREGATE,
            };
            let prefix = acc.warp_ballot(state == PREFIX).trailing_zeros() as usize;
            let missing = acc.warp_ballot(state == NOTHING).trailing_zeros() as usize;
            let nearest = prefix.min(missing);
            if nearest < acc.lane_count() {
                let state = if prefix < missing { PREFIX } else { NOTHING };
                return [(end - 1 - nearest) as u64, state];
            }
            end -= acc.lane_count();
        }
    }

    /// Publishes a value of a tile: its block does, and others do that have missed its aggregate. By then it may have published its
    /// prefix; who then looks finds the aggregate, looks further, and comes to the same.
    #[inline(always)]
    fn publish<A: Acc>(&self, acc: A, tile: usize, state: u64, value: T) {
        self.set_value(acc, tile, state, value);
        self.state(tile).store(acc, state, Ordering::Release);
    }

    #[inline(always)]
    fn state(&self, tile: usize) -> Atomic<'_, u64> {
        self.words.atomic(LINE_WORDS + tile * tile_words::<T>())
    }

    /// A word of the value that belongs to a state.
    #[inline(always)]
    fn word(&self, tile: usize, state: u64, word: usize) -> Atomic<'_, u64> {
        let value = if state == AGGREGATE { 0 } else { value_words::<T>() };
        self.words
            .atomic(LINE_WORDS + tile * tile_words::<T>() + 1 + value + word)
    }

    /// The words are atomic, because two may store them at once; both store the same.
    #[inline(always)]
    fn set_value<A: Acc>(&self, acc: A, tile: usize, state: u64, value: T) {
        let words = words_of(value);
        for (i, &word) in words[..value_words::<T>()].iter().enumerate() {
            self.word(tile, state, i).store(acc, word, Ordering::Relaxed);
        }
    }

    /// The value that was published with a state, which this thread has seen, or another before a barrier of the block.
    #[inline(always)]
    fn value<A: Acc>(&self, acc: A, tile: usize, state: u64) -> T {
        let mut words = [0; MOST_WORDS];
        for (i, word) in words[..value_words::<T>()].iter_mut().enumerate() {
            *word = self.word(tile, state, i).load(acc, Ordering::Relaxed);
        }
        bytemuck::pod_read_unaligned(&bytemuck::bytes_of(&words)[..size_of::<T>()])
    }

    /// What the block of a tile has published as its aggregate, once it has: to be given to [`exclusive`](Self::exclusive) in the place of
    /// combining the tile anew, by who cannot be sure to get the same. The tile is one that is looked back at, so its block has started.
    ///
    /// All threads of the block have to call it. A block barrier.
    #[inline(always)]
    pub(crate) fn wait_for<A: Acc>(&self, acc: A, tile: usize) -> T {
        acc.broadcast(|| {
            self.state(tile)
                .wait_until(acc, Ordering::Acquire, |state| state != NOTHING);
            self.value(acc, tile, if tile == 0 { PREFIX } else { AGGREGATE })
        })
    }
}

/// The bytes of a value, in words.
///
/// Checks at compile time that they fit.
#[inline(always)]
fn words_of<T: Pod>(value: T) -> [u64; MOST_WORDS] {
    const {
        assert!(
            value_words::<T>() <= MOST_WORDS,
            "look-back takes values of at most 64 bytes"
        )
    };
    let mut words = [0; MOST_WORDS];
    bytemuck::bytes_of_mut(&mut words)[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    words
}
