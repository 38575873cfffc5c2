//! How many blocks of a kernel fit on a device together.

use std::fmt;

/// What keeps more blocks from being resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitedBy {
    /// Workers: each thread of a block needs one to itself.
    Workers,
    /// Shared memory: one block needs more than there is.
    SharedMemory,
    /// Threads: one block has more than can run together.
    ThreadsPerBlock,
    /// Headroom that the queue was told to leave.
    Headroom,
}

impl fmt::Display for LimitedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Workers => "the device's workers",
            Self::SharedMemory => "shared memory",
            Self::ThreadsPerBlock => "the threads of a block",
            Self::Headroom => "the queue's headroom",
        })
    }
}

/// The answer to how many blocks of a kernel fit: for that kernel, that many threads a block, and that device, now. It is asked
/// again at every launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Residency {
    /// Multiprocessors: on a CPU, the groups of workers that run a block of this size.
    pub multiprocessors: usize,
    /// Blocks that are resident on each of them.
    pub blocks_per_multiprocessor: usize,
    /// Threads in each block.
    pub threads_per_block: usize,
    /// Bytes of shared memory that each block holds.
    pub shared_bytes: usize,
    /// What keeps more blocks from being resident.
    pub limited_by: LimitedBy,
}

impl Residency {
    /// Blocks that are resident together.
    pub fn blocks(&self) -> usize {
        self.multiprocessors * self.blocks_per_multiprocessor
    }
}

/// How many teams of `threads` there are among `workers`. Most have one thread, and a division is a tenth of an empty launch.
#[inline(always)]
pub(crate) fn teams(workers: usize, threads: usize) -> usize {
    if threads == 1 { workers } else { workers / threads }
}

/// What a device has, for the checks of launches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) workers: usize,
    pub(crate) shared_bytes: usize,
    pub(crate) blocks: usize,
}

impl Limits {
    pub(crate) fn residency(self, threads_per_block: usize, shared_bytes: usize) -> Residency {
        let (multiprocessors, limited_by) = if shared_bytes > self.shared_bytes {
            (0, LimitedBy::SharedMemory)
        } else if threads_per_block > self.workers {
            (0, LimitedBy::ThreadsPerBlock)
        } else {
            (teams(self.workers, threads_per_block), LimitedBy::Workers)
        };
        Residency {
            multiprocessors,
            blocks_per_multiprocessor: 1,
            threads_per_block,
            shared_bytes,
            limited_by,
        }
    }
}
