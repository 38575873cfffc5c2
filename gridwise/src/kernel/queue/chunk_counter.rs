//! The chunk counter: blocks claim chunks of an index range.

use core::{iter::FusedIterator, ops::Range, panic::Location, sync::atomic::Ordering};

use bytemuck::{Pod, Zeroable};

use crate::kernel::{Acc, Span, SpanMut, collective};

/// A stretch of claims whose chunks are equally long, up to the first claim of the next level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Level {
    /// What the counter stands at when the first of them is made.
    pub first: u64,
    /// The first index of its chunk.
    pub start: u64,
    /// Indices in a chunk.
    pub chunk: u64,
}

// SAFETY: three integers; all zero is a value.
unsafe impl Zeroable for Level {}
// SAFETY: three integers of one size, without padding; every bit pattern is a value.
unsafe impl Pod for Level {}

/// Hands out an index range in chunks, each to one block, in ascending order.
///
/// A claim is one atomic addition, whatever the policy, and what the counter stood at says which chunk it is. Each claim adds the
/// length of the shortest chunks, and the counter begins so that it is the index itself where they begin: of equal chunks a
/// claim costs what it costs by hand. The longer ones before are looked up in a short table. Nobody compares and swaps, so no
/// claim is ever retried. A block that finds the range used up has added once too often, which is all that is wasted; only the
/// very last chunk may be shorter than its policy says.
///
/// Made by [`Chunks::fresh`](crate::host::tasks::Chunks::fresh). It waits for nobody, so it serves plain and cooperative
/// launches alike, with any number of blocks.
///
/// ```
/// use gridwise::prelude::*;
///
/// /// Row `i` of a triangle has `i` numbers to add up: rows are claimed, because some take longer than others.
/// #[repr(C)]
/// struct Rows<'a> {
///     rows: ChunkCounter<'a>,
///     sums: SpanMut<'a, u64>,
/// }
///
/// // SAFETY: a row is claimed by one block, and written by the one thread that owns it there.
/// unsafe impl Kernel for Rows<'_> {
///     const NAME: &'static str = "rows";
///     type Shared = ();
///
///     fn run<A: Acc>(self, acc: A, _: ()) {
///         for chunk in self.rows.claims(acc) {
///             for row in acc.threads_in_block(chunk) {
///                 self.sums.set(acc, row, (0..=row as u64).sum());
///             }
///         }
///     }
/// }
///
/// let device = Device::open("cpu:blocks=2")?;
/// let queue = device.queue();
/// let mut chunks = queue.chunks(100, Chunking::Guided { divisor: 2, minimum: 4 })?;
/// let mut sums = device.zeroed(100)?;
/// let kernel = Rows { rows: chunks.fresh(&queue), sums: sums.span_mut() };
/// queue.launch(Blocks::Resident, kernel)?;
/// assert_eq!(queue.download(&sums)?[99], 4950);
/// # Ok::<(), gridwise::Error>(())
/// ```
///
/// A counter is one launch's, and no kernel resets it:
///
/// ```compile_fail,E0382
/// # use gridwise::prelude::*;
/// # let queue = Device::open("cpu:blocks=1")?.queue();
/// let mut chunks = queue.chunks(100, Chunking::Fixed(10))?;
/// let counter = chunks.fresh(&queue);
/// let two_launches = (counter, counter);
/// # Ok::<(), gridwise::Error>(())
/// ```
///
/// # Memory ordering
/// Claims are relaxed: they order nothing between the blocks that claim. What is claimed was ready before the launch.
#[repr(C)]
pub struct ChunkCounter<'a> {
    next: SpanMut<'a, u64>,
    levels: Span<'a, Level>,
    plan: Plan,
}

/// How a counter is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Plan {
    /// What the counter begins at.
    pub(crate) first: u64,
    /// What each claim adds.
    pub(crate) step: u64,
    /// From here on the counter is the index, and chunks are as long as the step. `u64::MAX`: nowhere.
    pub(crate) direct: u64,
    /// From here on nothing is left.
    pub(crate) end: u64,
    /// Indices in the range.
    pub(crate) len: u64,
}

impl<'a> ChunkCounter<'a> {
    /// `next` is one word, at what the plan begins with; `levels` are those before the counter is the index.
    #[cfg(feature = "std")]
    pub(crate) fn new(next: SpanMut<'a, u64>, levels: Span<'a, Level>, plan: Plan) -> Self {
        Self { next, levels, plan }
    }

    /// Claims the next chunk for the block; `None` once the range is used up, and from then on.
    ///
    /// All threads of the block have to call it, and all get the same chunk. A block barrier.
    #[inline(always)]
    #[track_caller]
    pub fn claim<A: Acc>(&self, acc: A) -> Option<Range<usize>> {
        self.next.atomic(0).promise_drained(acc, Some(self.plan.end));
        self.claim_at(acc, Location::caller())
    }

    /// The chunks that the block claims, one after another: `for chunk in counter.claims(acc)`.
    ///
    /// All threads of the block have to walk it, and all get the same chunks. Each step is a block barrier.
    #[inline(always)]
    #[track_caller]
    pub fn claims<A: Acc>(&self, acc: A) -> Claims<'_, 'a, A> {
        self.next.atomic(0).promise_drained(acc, Some(self.plan.end));
        Claims {
            counter: self,
            acc,
            location: Location::caller(),
            done: false,
        }
    }

    /// Says that chunks which nobody has claimed stay unclaimed on purpose: what was searched for is found. Without it the checking
    /// device reports a launch that claims some and leaves others. Any thread may call it; elsewhere it does nothing.
    #[inline(always)]
    #[track_caller]
    pub fn leave_the_rest<A: Acc>(&self, acc: A) {
        self.next.atomic(0).promise_drained(acc, None);
    }

    #[inline(always)]
    fn claim_at<A: Acc>(&self, acc: A, location: &'static Location<'static>) -> Option<Range<usize>> {
        let draw = || self.next.atomic(0).fetch_add(acc, self.plan.step, Ordering::Relaxed);
        self.chunk(collective::broadcast(acc, draw, location))
    }

    /// The chunk of a claim that found the counter at `at`.
    #[inline(always)]
    pub(crate) fn chunk(&self, at: u64) -> Option<Range<usize>> {
        let plan = &self.plan;
        if at >= plan.end {
            return None;
        }
        let (start, chunk) = if at >= plan.direct {
            (at, plan.step)
        } else {
            self.of_level(at)
        };
        // Below `len`, because nothing begins at the end or past it.
        let end = start + chunk.min(plan.len - start);
        Some(start as usize..end as usize)
    }

    /// Where a chunk begins that is longer than the step, and how long it is.
    #[inline]
    fn of_level(&self, at: u64) -> (u64, u64) {
        let after = self.levels.partition_point(|level| level.first <= at);
        // The first level starts where the counter does.
        let level = self.levels[after - 1];
        (
            level.start + (at - level.first) / self.plan.step * level.chunk,
            level.chunk,
        )
    }
}

/// The chunks that a block claims; from [`ChunkCounter::claims`].
pub struct Claims<'c, 'a, A> {
    counter: &'c ChunkCounter<'a>,
    acc: A,
    location: &'static Location<'static>,
    done: bool,
}

impl<A: Acc> Iterator for Claims<'_, '_, A> {
    type Item = Range<usize>;

    #[inline(always)]
    fn next(&mut self) -> Option<Range<usize>> {
        if self.done {
            return None;
        }
        let chunk = self.counter.claim_at(self.acc, self.location);
        self.done = chunk.is_none();
        chunk
    }
}
impl<A: Acc> FusedIterator for Claims<'_, '_, A> {}
