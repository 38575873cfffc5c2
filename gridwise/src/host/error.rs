//! All errors of the host side under one roof, for `?`.

use thiserror::Error;

use super::{
    buffer::{AllocationError, CopyError},
    device::DeviceError,
    launch::LaunchError,
};

/// Any error of this library.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A device could not be opened.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// A buffer could not be allocated.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// A copy does not fit.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// A launch was refused, or failed while it ran.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A closure that was enqueued panicked.
    #[error("a closure on the queue panicked: {message}")]
    ClosurePanicked {
        /// What it panicked with.
        message: String,
    },
    /// Work on a queue was not begun, because work before it failed.
    #[error("not run, because earlier work on the same queue failed")]
    Skipped,
    /// The thread of a queue could not be started.
    #[error("the thread of a queue could not be started: {source}")]
    QueueThread {
        /// What the system said.
        source: std::io::Error,
    },
    /// An error of the program itself, from a closure on a queue.
    #[error(transparent)]
    Other(Box<dyn std::error::Error + Send + Sync>),
}

impl Error {
    /// Wraps an error of the program, to return it from a closure on a queue.
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

/// The text of a panic, for reports.
pub(crate) fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    if let Some(message) = payload.downcast_ref::<&str>() {
        (*message).to_owned()
    } else if let Some(message) = payload.downcast_ref::<String>() {
        message.clone()
    } else {
        "(a panic without a message)".to_owned()
    }
}
