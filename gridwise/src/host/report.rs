//! Where every thread of a launch stood when it was given up.

use std::{fmt, panic::Location};

pub use crate::kernel::hardware::WaitFor;

/// What a thread was doing.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ThreadState {
    /// It was running, or had not waited for long.
    Running,
    /// It was waiting.
    Waiting {
        /// What for.
        what: WaitFor,
        /// Where in the kernel.
        location: &'static Location<'static>,
    },
    /// It had left the kernel.
    Left,
}

/// One thread of a [`HangReport`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ThreadReport {
    /// Its block: the one it ran, or the last one it ran.
    pub block: usize,
    /// Its index in the block.
    pub thread: usize,
    /// What it was doing.
    pub state: ThreadState,
    /// Grid barriers it had entered.
    pub grid_barriers: u64,
}

impl ThreadReport {
    pub(crate) fn new(block: usize, thread: usize, state: ThreadState, grid_barriers: u64) -> Self {
        Self {
            block,
            thread,
            state,
            grid_barriers,
        }
    }
}

/// The fault that a hang shows, as far as it can be told from where the threads stood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HangCause {
    /// Some threads of a block left the kernel, others wait for them at a block barrier.
    LeftBeforeBlockBarrier {
        /// The block.
        block: usize,
    },
    /// Some blocks left the kernel, others wait for them at a grid barrier.
    LeftBeforeGridBarrier {
        /// Blocks that had arrived.
        arrived: usize,
        /// Blocks in the grid.
        expected: usize,
    },
    /// All threads that run wait, and the blocks they might wait for cannot start before one of them ends.
    BlocksNeverStarted {
        /// Blocks that had not started.
        blocks: usize,
    },
    /// Threads wait for words that nobody is left to store.
    NobodyStores,
    /// Threads were still running.
    StillRunning,
    /// The run consists of several launches, and none was under way.
    BetweenLaunches,
    /// The device does not tell where its threads stood.
    NotTold,
}

/// Where every thread of a launch stood when it was given up. `Debug` is `Display`: there may be thousands of threads, and a
/// program that hands its error to `main` shows that.
#[derive(Clone)]
#[non_exhaustive]
pub struct HangReport {
    /// The threads that had started, by block and thread.
    pub threads: Vec<ThreadReport>,
    /// Blocks in the grid.
    pub blocks: usize,
    /// Threads in each block.
    pub threads_per_block: usize,
    /// Blocks that had not started.
    pub not_started: usize,
    /// Whether the device tells where its threads stood.
    told: bool,
}

/// Threads that a report prints in full.
const PRINTED: usize = 16;

impl HangReport {
    pub(crate) fn new(
        mut threads: Vec<ThreadReport>,
        blocks: usize,
        threads_per_block: usize,
        not_started: usize,
    ) -> Self {
        threads.sort_by_key(|thread| (thread.block, thread.thread));
        Self {
            threads,
            blocks,
            threads_per_block,
            not_started,
            told: true,
        }
    }

    /// A report of a device that does not tell where its threads stood.
    #[cfg(feature = "cuda")]
    pub(crate) fn not_told(blocks: usize, threads_per_block: usize) -> Self {
        Self {
            told: false,
            ..Self::new(Vec::new(), blocks, threads_per_block, 0)
        }
    }

    /// The fault that this shows.
    pub fn cause(&self) -> HangCause {
        let waits =
            |thread: &ThreadReport, what| matches!(thread.state, ThreadState::Waiting { what: w, .. } if w == what);
        if !self.told {
            return HangCause::NotTold;
        }
        if self.threads.is_empty() {
            return HangCause::BetweenLaunches;
        }
        if self
            .threads
            .iter()
            .any(|thread| matches!(thread.state, ThreadState::Running))
        {
            return HangCause::StillRunning;
        }
        for block in self.threads.chunk_by(|a, b| a.block == b.block) {
            let left = block.iter().any(|thread| matches!(thread.state, ThreadState::Left));
            if let Some(waiting) = block.iter().find(|thread| waits(thread, WaitFor::BlockBarrier))
                && left
            {
                return HangCause::LeftBeforeBlockBarrier { block: waiting.block };
            }
        }
        let arrived = self
            .threads
            .iter()
            .filter(|thread| waits(thread, WaitFor::GridBarrier))
            .count();
        if arrived > 0
            && self
                .threads
                .iter()
                .any(|thread| matches!(thread.state, ThreadState::Left))
        {
            return HangCause::LeftBeforeGridBarrier {
                arrived,
                expected: self.blocks,
            };
        }
        if self.not_started > 0 {
            return HangCause::BlocksNeverStarted {
                blocks: self.not_started,
            };
        }
        HangCause::NobodyStores
    }
}

impl fmt::Debug for HangReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for HangCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LeftBeforeBlockBarrier { block } => {
                write!(
                    f,
                    "threads of block {block} left the kernel while others wait for them at a block barrier"
                )
            }
            Self::LeftBeforeGridBarrier { arrived, expected } => {
                write!(
                    f,
                    "blocks left the kernel while others wait at a grid barrier ({arrived} of {expected} arrived)"
                )
            }
            Self::BlocksNeverStarted { blocks } => {
                write!(
                    f,
                    "all blocks that run wait, and {blocks} cannot start before one of them ends"
                )
            }
            Self::NobodyStores => f.write_str("everybody waits, and nobody is left to store what they wait for"),
            Self::StillRunning => f.write_str("some threads were still running"),
            Self::BetweenLaunches => f.write_str("it was between two launches of its run"),
            Self::NotTold => {
                f.write_str("a GPU does not tell where its threads stood, and is lost when they are stopped")
            }
        }
    }
}

impl fmt::Display for ThreadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            block,
            thread,
            state,
            grid_barriers,
        } = self;
        write!(f, "block {block}, thread {thread}: ")?;
        match state {
            ThreadState::Running => f.write_str("running")?,
            ThreadState::Left => f.write_str("left the kernel")?,
            ThreadState::Waiting { what, location } => {
                let what = match what {
                    WaitFor::GridBarrier => "at the grid barrier",
                    WaitFor::BlockBarrier => "at the block barrier",
                    WaitFor::Word => "for an atomic word",
                    WaitFor::BlockEnd => "for the end of the block",
                    WaitFor::Warp => "for the lanes of its warp",
                    WaitFor::Spin => "in a spin",
                };
                write!(f, "waits {what} of {location}")?;
            }
        }
        if *grid_barriers > 0 {
            write!(f, ", grid barriers entered: {grid_barriers}")?;
        }
        Ok(())
    }
}

impl fmt::Display for HangReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.cause())?;
        for thread in self.threads.iter().take(PRINTED) {
            write!(f, "\n  {thread}")?;
        }
        if self.threads.len() > PRINTED {
            write!(f, "\n  and {} more threads", self.threads.len() - PRINTED)?;
        }
        if self.not_started > 0 {
            write!(f, "\n  blocks not started: {}", self.not_started)?;
        }
        Ok(())
    }
}
