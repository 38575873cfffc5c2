//! How a run of tasks fails.

use std::{error::Error as StdError, fmt};

use thiserror::Error;

use crate::host::{
    buffer::{AllocationError, CopyError},
    error::Error,
    launch::LaunchError,
};

/// Why a run of tasks ended early.
#[derive(Error)]
#[non_exhaustive]
pub enum TaskFailure {
    /// A block had no room for what its next task may spawn, and the ring was full.
    #[error("there is no room for more tasks: the ring holds {capacity}; ask for a larger capacity in the TaskOptions")]
    Overflow {
        /// Tasks that the ring holds.
        capacity: usize,
    },
    /// It was [cancelled](super::Cancellation).
    #[error("the run was cancelled")]
    Cancelled,
    /// The launch was refused, or failed while it ran: a task panicked, or time ran out.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// There is no memory for the queue.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// The queue could not be written or read by the host.
    #[error(transparent)]
    Copy(#[from] CopyError),
}

crate::host::error::debug_as_display!(TaskFailure);

/// A run of tasks ended early. Every task that was made is run to its end, or here, once; unless they are [lost](Self::lost).
///
/// A run that fails does not go on with what it could still do: blocks leave before their next task, and what they have not begun
/// is in [`unfinished`](Self::unfinished), so that the program decides. A task that makes others and then panics has made them.
///
/// `Debug` is `Display`, which counts the tasks: there may be thousands.
#[non_exhaustive]
pub struct TaskError<T> {
    /// The kernel.
    pub kernel: &'static str,
    /// Why. Boxed, to keep the error small.
    pub cause: Box<TaskFailure>,
    /// The task that panicked.
    pub panicked: Option<T>,
    /// Tasks that were begun and not ended, because another panicked or time ran out while they waited at a barrier.
    pub interrupted: Vec<T>,
    /// Tasks that were not begun: seeds for another run. Those that a task made before it panicked are among them.
    pub unfinished: Vec<T>,
    /// Whether no task could be had back, because a GPU was lost together with its memory.
    pub lost: bool,
}

impl<T: Clone> TaskError<T> {
    /// Nothing was run.
    pub(in crate::host) fn before(kernel: &'static str, cause: TaskFailure, seeds: &[T]) -> Self {
        Self {
            kernel,
            cause: cause.into(),
            panicked: None,
            interrupted: Vec::new(),
            unfinished: seeds.to_vec(),
            lost: false,
        }
    }
}

impl<T: fmt::Debug> fmt::Display for TaskError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "tasks of `{}`: {}", self.kernel, self.cause)?;
        if let Some(task) = &self.panicked {
            write!(f, "; in task {task:?}")?;
        }
        if self.lost {
            return f.write_str("; its tasks were lost with the device");
        }
        let (interrupted, unfinished) = (self.interrupted.len(), self.unfinished.len());
        write!(f, "; {unfinished} tasks were not begun, {interrupted} were interrupted")
    }
}

impl<T: fmt::Debug> fmt::Debug for TaskError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl<T: fmt::Debug> StdError for TaskError<T> {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.cause.source()
    }
}

impl<T: fmt::Debug + Send + Sync + 'static> From<TaskError<T>> for Error {
    fn from(error: TaskError<T>) -> Self {
        Self::other(error)
    }
}

impl From<TaskFailure> for Error {
    fn from(failure: TaskFailure) -> Self {
        match failure {
            TaskFailure::Launch(error) => error.into(),
            TaskFailure::Allocation(error) => error.into(),
            TaskFailure::Copy(error) => error.into(),
            failure => Self::other(failure),
        }
    }
}
