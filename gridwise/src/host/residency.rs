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
    /// Blocks: a multiprocessor holds no more of them.
    BlocksPerMultiprocessor,
    /// Threads: a multiprocessor holds no more of them.
    ThreadsPerMultiprocessor,
    /// Other work that holds a part of the device.
    OtherWork,
    /// Registers: a multiprocessor has no more of them for threads of this kernel.
    Registers,
    /// The device takes no cooperative launches.
    NoCooperativeLaunch,
    /// The kernel is in no module that the device has loaded.
    NotLoaded,
}

impl fmt::Display for LimitedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Workers => "the device's workers",
            Self::SharedMemory => "shared memory",
            Self::ThreadsPerBlock => "the threads of a block",
            Self::Headroom => "the queue's headroom",
            Self::BlocksPerMultiprocessor => "the blocks of a multiprocessor",
            Self::ThreadsPerMultiprocessor => "the threads of a multiprocessor",
            Self::OtherWork => "other work on the device",
            Self::Registers => "the registers of a multiprocessor",
            Self::NoCooperativeLaunch => "a device that takes no cooperative launches",
            Self::NotLoaded => "a kernel that no loaded module has",
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

/// What runs blocks.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Capacity {
    /// That many workers, any of which may form a block.
    Workers(usize),
    /// Multiprocessors, each of which holds several blocks.
    Multiprocessors(Multiprocessors),
    /// Multiprocessors whose driver was asked, for the very kernel, threads and shared memory of the launch.
    Asked {
        multiprocessors: usize,
        /// Blocks of the launch that one holds.
        blocks: usize,
        limited_by: LimitedBy,
        /// Threads that a block of the kernel can have.
        threads_per_block: usize,
    },
}

/// Multiprocessors, all alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Multiprocessors {
    pub(crate) count: usize,
    /// Blocks that one holds.
    pub(crate) blocks: usize,
    /// Threads that one holds.
    pub(crate) threads: usize,
    /// Bytes of shared memory that one has for all its blocks.
    pub(crate) shared_bytes: usize,
    /// Threads that a block can have.
    pub(crate) threads_per_block: usize,
}

/// How many teams of `threads` there are among `workers`. Most have one thread, and a division is a tenth of an empty launch.
#[inline(always)]
pub(crate) fn teams(workers: usize, threads: usize) -> usize {
    if threads == 1 { workers } else { workers / threads }
}

/// What a device has, for the checks of launches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) capacity: Capacity,
    /// Bytes of shared memory that a block can have.
    pub(crate) shared_bytes: usize,
    /// Blocks that a grid can have.
    pub(crate) blocks: usize,
    /// Blocks that a grid gets at most which leaves their number to the device, however many are resident together.
    pub(crate) offered: usize,
    /// Blocks' worth of the device that other work holds, which a cooperative launch cannot have.
    pub(crate) taken: usize,
}

impl Limits {
    /// Of a kernel that is in no module of its device.
    pub(crate) fn not_loaded() -> Self {
        Self {
            capacity: Capacity::Asked {
                multiprocessors: 0,
                blocks: 0,
                limited_by: LimitedBy::NotLoaded,
                threads_per_block: usize::MAX,
            },
            shared_bytes: usize::MAX,
            blocks: 0,
            offered: 0,
            taken: 0,
        }
    }

    #[inline]
    pub(crate) fn threads_per_block(self) -> usize {
        match self.capacity {
            Capacity::Workers(workers) => workers,
            Capacity::Multiprocessors(each) => each.threads_per_block,
            Capacity::Asked { threads_per_block, .. } => threads_per_block,
        }
    }

    #[inline]
    pub(crate) fn residency(self, threads_per_block: usize, shared_bytes: usize) -> Residency {
        let (multiprocessors, blocks_per_multiprocessor, limited_by) = if shared_bytes > self.shared_bytes {
            (0, 1, LimitedBy::SharedMemory)
        } else if threads_per_block > self.threads_per_block() {
            (0, 1, LimitedBy::ThreadsPerBlock)
        } else {
            match self.capacity {
                Capacity::Workers(workers) => (teams(workers, threads_per_block), 1, LimitedBy::Workers),
                Capacity::Multiprocessors(each) => {
                    let (blocks, limited_by) = each.occupancy(threads_per_block, shared_bytes);
                    (each.count, blocks, limited_by)
                }
                Capacity::Asked {
                    multiprocessors,
                    blocks,
                    limited_by,
                    ..
                } => (multiprocessors, blocks, limited_by),
            }
        };
        Residency {
            multiprocessors,
            blocks_per_multiprocessor,
            threads_per_block,
            shared_bytes,
            limited_by,
        }
    }
}

impl Multiprocessors {
    /// Blocks of this shape that one multiprocessor holds, and what keeps it from holding more.
    fn occupancy(self, threads_per_block: usize, shared_bytes: usize) -> (usize, LimitedBy) {
        let by_threads = (self.threads / threads_per_block, LimitedBy::ThreadsPerMultiprocessor);
        let by_shared = match shared_bytes {
            0 => (usize::MAX, LimitedBy::SharedMemory),
            bytes => (self.shared_bytes / bytes, LimitedBy::SharedMemory),
        };
        let by_blocks = (self.blocks, LimitedBy::BlocksPerMultiprocessor);
        [by_blocks, by_threads, by_shared]
            .into_iter()
            .min_by_key(|(blocks, _)| *blocks)
            .unwrap_or(by_blocks)
    }
}
