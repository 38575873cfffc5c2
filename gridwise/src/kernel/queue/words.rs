//! The words of a task queue: who writes which is in `README.md`.

use super::{Order, ring::LINE_WORDS};

/// Words that all blocks share, beside those of the ring.
pub(crate) mod control {
    use super::LINE_WORDS;
    /// Tasks in the ring, blocks that have any, and 1 as long as there are seeds that nobody has claimed.
    pub(crate) const OUTSTANDING: usize = 0;
    /// How many blocks wait for tasks, [`STOP`] and [`NO_ROOM`].
    pub(crate) const ATTENTION: usize = LINE_WORDS;
    /// Seeds claimed; more than there are once somebody has found none left.
    pub(crate) const SEEDS: usize = 2 * LINE_WORDS;
    /// The run ends early: it was cancelled, or there is no room for tasks.
    pub(crate) const STOP: u64 = 1 << 63;
    /// With [`STOP`]: there is no room.
    pub(crate) const NO_ROOM: u64 = 1 << 62;
    /// How many words.
    #[cfg(feature = "std")]
    pub(crate) const WORDS: usize = 3 * LINE_WORDS;
}

/// Words of each block, which it alone writes, and which tell the host how far it got.
pub(crate) mod record {
    use super::LINE_WORDS;
    /// Count of tasks that the block took out of its buffer at the old end.
    pub(crate) const FIRST: usize = 0;
    /// Count of tasks that stand before the new end.
    pub(crate) const END: usize = 1;
    /// [`END`] when the task under way began.
    pub(crate) const BASE: usize = 2;
    /// Which task is under way: [`NONE`], [`BEGUN`], or [`TAKEN`] and its count.
    pub(crate) const UNDER_WAY: usize = 3;
    /// There is none.
    pub(crate) const NONE: u64 = 0;
    /// It is not in the buffer any more.
    pub(crate) const BEGUN: u64 = 1;
    /// It is about to begin, and may still be in the buffer.
    pub(crate) const TAKEN: u64 = 2;
    /// By generations: count of tasks of this one; those from here to [`END`] belong to the next.
    pub(crate) const MARK: usize = 10;
    /// Tasks run to their end.
    pub(crate) const TASKS: usize = 4;
    /// Batches got from the ring.
    pub(crate) const CLAIMS: usize = 5;
    /// Attempts that found the ring empty.
    pub(crate) const FAILED_POPS: usize = 6;
    /// Tasks moved to the ring.
    pub(crate) const SPILLS: usize = 7;
    /// Nanoseconds spent waiting.
    pub(crate) const IDLE: usize = 8;
    /// Most tasks seen in the ring.
    pub(crate) const PEAK: usize = 9;
    /// How many words: a pair of lines, so that blocks do not disturb each other.
    pub(crate) const WORDS: usize = LINE_WORDS;
}

/// The block's buffer: the task under way, then a ring of its own.
pub(crate) mod local {
    /// Elements for a buffer of `capacity`, and a gap as long as a pair of lines: the next block's begin on other ones.
    pub(crate) const fn elements<T>(capacity: usize) -> usize {
        let element = if size_of::<T>() == 0 { 1 } else { size_of::<T>() };
        1 + capacity + (super::LINE_WORDS * 8).div_ceil(element)
    }
}

/// What a run of tasks is told.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Rules {
    /// Slots of a block's buffer, a power of two: at least `keep + most_spawns`.
    pub(crate) capacity: u64,
    /// Tasks that a block keeps to itself at most, where the ring has room for more.
    pub(crate) keep: u64,
    /// Tasks that a task makes at most.
    pub(crate) most_spawns: u64,
    /// Tickets of the ring below this are run, and seeds; tasks that are made wait for the next launch. `u64::MAX`: run until none is left.
    pub(crate) generation_end: u64,
    pub(crate) order: Order,
    /// Whether to count.
    pub(crate) counted: bool,
}
