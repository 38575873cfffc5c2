//! Schedulers: who runs next, and which value a load returns. See `README.md`.

use super::memory::{Extent, clock::ThreadId};

mod exhaustive;
mod pct;
mod random;
mod replay;
mod round_robin;
#[cfg(test)]
mod test;

pub(crate) use exhaustive::Exhaustive;
pub(crate) use pct::Pct;
pub(crate) use random::Random;
pub(crate) use replay::{Replay, from_token, replay_token};
pub(crate) use round_robin::RoundRobin;

/// What a thread is about to do, as far as it matters to others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing that others notice.
    Local,
    /// Loads an atomic word.
    Read(Extent),
    /// Stores to an atomic word, or may.
    Write(Extent),
    /// A sequentially consistent fence.
    Fence,
}

impl Step {
    /// Whether the order of two steps of different threads matters.
    pub(crate) fn conflicts(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Read(a) | Self::Write(a), Self::Write(b)) | (Self::Write(a), Self::Read(b)) => a.overlaps(b),
            (Self::Fence, Self::Fence) => true,
            _ => false,
        }
    }
}

/// A thread that can run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Candidate {
    /// Where the engine keeps it.
    pub(crate) slot: u32,
    /// Which thread of the grid it is.
    pub(crate) id: ThreadId,
    /// What it does when it runs.
    pub(crate) step: Step,
}

/// Decides everything that a device leaves open. The same decisions give the same run.
pub(crate) trait Scheduler: Send {
    /// Starts the next schedule; `false` if there is nothing left to explore.
    fn begin(&mut self) -> bool;

    /// A launch starts: nothing before it matters to the order of what follows.
    fn begin_launch(&mut self) {}

    /// Whether to let others run before a plain access of this thread. Races are judged by order, so this changes what values
    /// racing threads see, not which races are found.
    fn interrupts(&mut self) -> bool {
        false
    }

    /// Which of `runnable` (at least one) does its step. `current` is the thread that ran last.
    fn thread(&mut self, current: ThreadId, runnable: &[Candidate]) -> usize;

    /// One of `options` (at least two); 0 is the ordinary one: the newest value, the lowest block.
    fn value(&mut self, options: usize) -> usize;

    /// These threads met: what they did before comes before what any of them does next.
    fn met(&mut self, _threads: &mut dyn Iterator<Item = ThreadId>) {}

    /// Nobody can run; these threads wait for a word.
    fn stuck(&mut self, _waiting: &[Candidate]) {}

    /// Whether index maps deal out contiguous parts in the schedule that is running, where the model leaves it open. Asked when one
    /// deals out indices that others would get else.
    fn deals_contiguously(&mut self) -> bool {
        false
    }

    /// Text that [`from_token`] makes the same decisions from, for the schedule that is running.
    fn token(&self) -> String;
}

/// A small generator of random numbers, the same everywhere.
#[derive(Clone, Debug)]
pub(crate) struct Dice {
    state: u64,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        // The upper half of a product: as even as anybody needs here, and without a division.
        ((u128::from(self.next()) * n as u128) >> 64) as usize
    }
}
