//! What a launch asks for, the checks it has to pass, and how it can fail.

use std::{num::NonZeroU32, time::Duration};

use thiserror::Error;

use super::{
    driver::DriverError,
    load::LoadError,
    report::HangReport,
    residency::{LimitedBy, Limits},
};
#[cfg(feature = "cuda")]
use crate::backend::cuda::exports::{Entry, Exports, Form};
use crate::check::finding::Findings;
use crate::kernel::{GridKernel, Kernel, SharedLayout, grid_barrier::BarrierShape, shared::SharedCursor};

/// A grid by the frames of its index domain: at most one block a frame, and as many as the device can run together. The kernel
/// is right for any number of blocks.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// `None` for a frame without extent.
    count: Option<usize>,
    threads: Option<usize>,
}

impl Frames {
    /// `len` indices in frames of `frame`. Of several dimensions: [`of`](Self::of).
    pub fn new(len: usize, frame: usize) -> Self {
        Self::of([len], [frame])
    }

    /// A domain of several dimensions, in frames with these extents.
    pub fn of<const N: usize>(extents: [usize; N], frame: [usize; N]) -> Self {
        let count = extents
            .into_iter()
            .zip(frame)
            .try_fold(1_usize, |frames, (extent, frame)| {
                (frame > 0).then(|| frames.saturating_mul(extent.div_ceil(frame)))
            });
        Self { count, threads: None }
    }

    /// With that many threads in each block, instead of the device's own choice.
    pub fn threads(self, threads: usize) -> Grid {
        Grid {
            threads: Some(threads),
            ..self.into()
        }
    }
}

/// A grid by the number of its blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blocks {
    /// As many as are resident together.
    Resident,
    /// Exactly that many.
    Exactly(usize),
}

impl Blocks {
    /// With that many threads in each block, instead of the device's own choice.
    pub fn threads(self, threads: usize) -> Grid {
        Grid {
            threads: Some(threads),
            ..self.into()
        }
    }
}

/// The shape of a launch: made from [`Frames`] or [`Blocks`].
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    size: Size,
    pub(crate) threads: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Size {
    Frames(Option<usize>),
    Blocks(Blocks),
}

impl Grid {
    /// One block, of as many threads.
    pub(super) fn of_one_block(self) -> Self {
        Self {
            size: Size::Blocks(Blocks::Exactly(1)),
            ..self
        }
    }
}

impl From<Frames> for Grid {
    fn from(frames: Frames) -> Self {
        Self {
            size: Size::Frames(frames.count),
            threads: frames.threads,
        }
    }
}

impl From<Blocks> for Grid {
    fn from(blocks: Blocks) -> Self {
        Self {
            size: Size::Blocks(blocks),
            threads: None,
        }
    }
}

/// Why a launch was refused, or how it failed while it ran. Every variant names the kernel.
///
/// After a failure while it ran, the buffers lent to the launch hold whatever the kernel had stored; the device and the queue
/// stay usable. A GPU does not survive it: everything that is asked of it after that ends with [`DriverError::Lost`].
///
/// Threads of the host leave a launch that has failed elsewhere by unwinding. In a program that is compiled with
/// `panic = "abort"`, not only a panic but also a deadlock, a timeout or a fault ends the program.
#[derive(Error)]
#[non_exhaustive]
pub enum LaunchError {
    /// A grid without blocks was asked for.
    #[error("kernel `{kernel}`: no blocks, but a grid has at least one; ask for Frames, of which there may be none")]
    ZeroBlocks {
        /// The kernel.
        kernel: &'static str,
    },
    /// Blocks without threads were asked for.
    #[error("kernel `{kernel}`: a block has at least one thread")]
    ZeroThreads {
        /// The kernel.
        kernel: &'static str,
    },
    /// Frames without extent were asked for.
    #[error("kernel `{kernel}`: a frame has at least one index along each axis")]
    ZeroFrame {
        /// The kernel.
        kernel: &'static str,
    },
    /// More blocks than a grid can have.
    #[error(
        "kernel `{kernel}`: {requested} blocks, but a grid has at most {limit}; let each block loop over several frames"
    )]
    TooManyBlocks {
        /// The kernel.
        kernel: &'static str,
        /// Blocks asked for.
        requested: usize,
        /// Blocks that a grid can have.
        limit: usize,
    },
    /// More threads in a block than can run together.
    #[error(
        "kernel `{kernel}`: blocks of {requested} threads, but the device runs at most {limit} together; ask for fewer"
    )]
    ThreadsPerBlock {
        /// The kernel.
        kernel: &'static str,
        /// Threads asked for.
        requested: usize,
        /// Threads that a block can have here.
        limit: usize,
    },
    /// More shared memory than a block can have.
    #[error(
        "kernel `{kernel}`: {requested} bytes of shared memory a block, but the device has {limit}; work on smaller parts at a time"
    )]
    SharedMemory {
        /// The kernel.
        kernel: &'static str,
        /// Bytes the kernel needs.
        requested: usize,
        /// Bytes a block can have here.
        limit: usize,
    },
    /// A grid that synchronises does not fit on the device.
    #[error(
        "kernel `{kernel}`: {requested} blocks cannot be resident together, at most {capacity} can, limited by {limited_by}; \
         ask for Blocks::Resident, or run phases by relaunch"
    )]
    NotResident {
        /// The kernel.
        kernel: &'static str,
        /// Blocks asked for.
        requested: usize,
        /// Blocks that fit.
        capacity: usize,
        /// What keeps more from fitting.
        limited_by: LimitedBy,
    },
    /// There is no memory for the shared memory of the blocks.
    #[error("kernel `{kernel}`: no memory for {bytes} bytes of shared memory of all blocks together")]
    OutOfMemory {
        /// The kernel.
        kernel: &'static str,
        /// Bytes of all blocks that run together.
        bytes: usize,
    },
    /// The system has no stacks for all threads that a checking device would run at a time.
    #[error(
        "kernel `{kernel}`: the system has no stacks for {threads} threads at a time, and on a checking device each has one; a \
         model with fewer multiprocessors needs fewer, as check:h100,mps=4"
    )]
    NoStacks {
        /// The kernel.
        kernel: &'static str,
        /// Threads of all blocks that run together.
        threads: usize,
    },
    /// A kernel of a device asked for a launch on the same device.
    #[error("kernel `{kernel}`: launched from inside a kernel of the same device, which would wait for itself")]
    Nested {
        /// The kernel.
        kernel: &'static str,
    },
    /// The queue's turn, which the launch waited for, was another thread's, which waited in turn for work of this one.
    #[error("kernel `{kernel}`: {}", crate::Error::WaitsForItself)]
    WaitsForItself {
        /// The kernel.
        kernel: &'static str,
    },
    /// A thread of the kernel panicked. The others were released.
    #[error("kernel `{kernel}` panicked in block {block}, thread {thread}: {message}")]
    Panicked {
        /// The kernel.
        kernel: &'static str,
        /// The block.
        block: usize,
        /// The thread in it.
        thread: usize,
        /// What it panicked with.
        message: String,
    },
    /// The launch ran longer than the queue allows, and was given up.
    #[error("kernel `{kernel}` was given up after {after:?}: {report}")]
    TimedOut {
        /// The kernel.
        kernel: &'static str,
        /// The time it had.
        after: Duration,
        /// Where its threads stood.
        report: HangReport,
    },
    /// Every thread waited for something that nobody was left to do.
    #[error("kernel `{kernel}` deadlocked: {report}")]
    Deadlock {
        /// The kernel.
        kernel: &'static str,
        /// Where its threads stood.
        report: HangReport,
    },
    /// A GPU runs kernels that were compiled for it, and this one is in no module that it has loaded.
    #[error(
        "kernel `{kernel}` is in no module that {device} has loaded: add `{type_name}` to `export!` in the crate of kernels, and \
         load its module with Device::load"
    )]
    NotExported {
        /// The kernel.
        kernel: &'static str,
        /// Its type.
        type_name: &'static str,
        /// The device.
        device: String,
    },
    /// The module that the library brings along for this kernel could not be loaded.
    #[error("kernel `{kernel}`: {source}")]
    Load {
        /// The kernel.
        kernel: &'static str,
        /// Why.
        source: Box<LoadError>,
    },
    /// A thread accessed memory of a GPU that is nobody's: a view of another device's memory, or an index that went unchecked.
    #[error(
        "kernel `{kernel}` accessed memory that is not the device's: is each of its views of a buffer of this device, and are \
         unchecked indices inside?"
    )]
    IllegalAddress {
        /// The kernel.
        kernel: &'static str,
    },
    /// The driver of a GPU refused the launch, or the GPU failed.
    #[error("kernel `{kernel}`: {source}")]
    Driver {
        /// The kernel.
        kernel: &'static str,
        /// What the driver says.
        source: DriverError,
    },
    /// The checking device found faults.
    #[error("kernel `{kernel}` is faulty:{findings}")]
    Faults {
        /// The kernel.
        kernel: &'static str,
        /// What was found.
        findings: Findings,
    },
}

crate::host::error::debug_as_display!(LaunchError);

impl LaunchError {
    /// Where the threads stood, if the launch ended because they could not go on, on whichever device.
    pub fn hang_report(&self) -> Option<&HangReport> {
        match self {
            Self::TimedOut { report, .. } | Self::Deadlock { report, .. } => Some(report),
            Self::Faults { findings, .. } => findings.0.iter().find_map(|finding| finding.hang.as_ref()),
            _ => None,
        }
    }
}

/// A launch that has passed all checks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaunchPlan {
    pub(crate) kernel: &'static str,
    pub(crate) blocks: usize,
    pub(crate) threads: usize,
    pub(crate) shared_bytes: usize,
    pub(crate) dynamic_len: usize,
    pub(crate) barrier: BarrierShape,
    pub(crate) timeout: Option<Duration>,
    pub(crate) run: Option<RunId>,
}

/// Names a run that consists of several launches, on a device that looks at it as a whole.
pub(crate) type RunId = NonZeroU32;

/// What a kernel needs of a device, whatever its kind.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    pub(crate) kernel: &'static str,
    dynamic_len: usize,
    /// How to find the kernel in a table of compiled ones, and what to call it if it is not there.
    #[cfg(feature = "cuda")]
    pub(crate) entry: fn(&Exports) -> Option<&'static Entry>,
    #[cfg(feature = "cuda")]
    pub(crate) type_name: &'static str,
    shared_after: fn(reserved: usize, dynamic_len: usize) -> usize,
}

fn shared_after<S: SharedLayout>(reserved: usize, dynamic_len: usize) -> usize {
    let mut cursor = SharedCursor::new(reserved, dynamic_len);
    S::place(&mut cursor);
    cursor.used()
}

impl Demand {
    pub(crate) fn of<K: Kernel>(kernel: &K) -> Self {
        Self {
            kernel: K::NAME,
            dynamic_len: kernel.dynamic_len(),
            shared_after: shared_after::<K::Shared>,
            #[cfg(feature = "cuda")]
            entry: |exports| exports.entry::<K>(Form::Plain),
            #[cfg(feature = "cuda")]
            type_name: std::any::type_name::<K>(),
        }
    }

    pub(crate) fn of_grid<K: GridKernel>(kernel: &K) -> Self {
        Self {
            kernel: K::NAME,
            dynamic_len: kernel.dynamic_len(),
            shared_after: shared_after::<K::Shared>,
            #[cfg(feature = "cuda")]
            entry: |exports| exports.entry::<K>(Form::Cooperative),
            #[cfg(feature = "cuda")]
            type_name: std::any::type_name::<K>(),
        }
    }

    /// Bytes of shared memory a block, `reserved` of them for the library.
    #[inline]
    pub(crate) fn shared_bytes(&self, reserved: usize) -> usize {
        (self.shared_after)(reserved, self.dynamic_len)
    }
}

/// Whether the blocks of a launch have to be resident together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Placement {
    /// In any order, at the same time or one after another.
    Anyhow,
    /// All together, or the launch is refused.
    Together,
    /// In any order, on a grid of the size that it would have together: a launch of a run that may go either way.
    AsIfTogether,
}

/// What the queue adds to a launch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    pub(crate) headroom: usize,
    pub(crate) barrier: Option<BarrierShape>,
    pub(crate) timeout: Option<Duration>,
    /// The run that this launch is a part of.
    pub(crate) run: Option<RunId>,
}

/// Checks a launch. `Ok(None)` is a launch with nothing to do.
///
/// Pure, so that every rule is tested without a device.
#[inline]
pub(crate) fn plan(
    limits: Limits,
    default_threads: usize,
    reserved: impl Fn(usize) -> usize,
    demand: Demand,
    grid: Grid,
    placement: Placement,
    terms: Terms,
) -> Result<Option<LaunchPlan>, LaunchError> {
    let kernel = demand.kernel;
    let threads = grid.threads.unwrap_or(default_threads);
    if threads == 0 {
        return Err(LaunchError::ZeroThreads { kernel });
    }
    if threads > limits.threads_per_block() {
        return Err(LaunchError::ThreadsPerBlock {
            kernel,
            requested: threads,
            limit: limits.threads_per_block(),
        });
    }
    let shared_bytes = demand.shared_bytes(reserved(threads));
    if shared_bytes > limits.shared_bytes {
        return Err(LaunchError::SharedMemory {
            kernel,
            requested: shared_bytes,
            limit: limits.shared_bytes,
        });
    }
    let residency = limits.residency(threads, shared_bytes);
    let (capacity, limited_by) = match (placement, terms.headroom, limits.taken) {
        (Placement::Anyhow, ..) | (_, 0, 0) => (residency.blocks(), residency.limited_by),
        (_, headroom, 0) => (residency.blocks().saturating_sub(headroom), LimitedBy::Headroom),
        (_, headroom, taken) => (
            residency.blocks().saturating_sub(headroom.saturating_add(taken)),
            LimitedBy::OtherWork,
        ),
    };
    let offered = capacity.min(limits.offered).max(1);
    let blocks = match grid.size {
        Size::Frames(None) => return Err(LaunchError::ZeroFrame { kernel }),
        Size::Frames(Some(0)) => return Ok(None),
        Size::Frames(Some(frames)) => frames.min(offered),
        Size::Blocks(Blocks::Resident) => offered,
        Size::Blocks(Blocks::Exactly(0)) => return Err(LaunchError::ZeroBlocks { kernel }),
        Size::Blocks(Blocks::Exactly(blocks)) => blocks,
    };
    // Their threads are counted, too; where addresses are short that is the tighter limit.
    if blocks > limits.blocks || blocks.checked_mul(threads).is_none() {
        return Err(LaunchError::TooManyBlocks {
            kernel,
            requested: blocks,
            limit: limits.blocks.min(usize::MAX / threads),
        });
    }
    if placement == Placement::Together && blocks > capacity {
        return Err(LaunchError::NotResident {
            kernel,
            requested: blocks,
            capacity,
            limited_by,
        });
    }
    Ok(Some(LaunchPlan {
        kernel,
        blocks,
        threads,
        shared_bytes,
        dynamic_len: demand.dynamic_len,
        barrier: terms.barrier.unwrap_or(BarrierShape::for_blocks(blocks)),
        timeout: terms.timeout,
        run: terms.run,
    }))
}
