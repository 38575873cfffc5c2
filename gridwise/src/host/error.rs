//! All errors of the host side under one roof, for `?`; and what becomes of panics.

use std::{
    any::Any,
    mem,
    panic::{AssertUnwindSafe, catch_unwind},
};

use thiserror::Error;

use super::{
    buffer::{AllocationError, CopyError},
    device::DeviceError,
    driver::DriverError,
    launch::LaunchError,
    load::LoadError,
};

/// `Debug` as `Display`, of errors: what `unwrap` shows, and a program whose `main` returns one.
macro_rules! debug_as_display {
    ($error:ty) => {
        impl std::fmt::Debug for $error {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(self, f)
            }
        }
    };
}
pub(crate) use debug_as_display;

/// Any error of this library. `Debug` is `Display`, as of each of them, which is what a program shows whose `main` returns it.
#[derive(Error)]
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
    /// A module of kernels could not be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The driver of a GPU refused a call, or the GPU failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A closure that was enqueued panicked.
    #[error("a closure on the queue panicked: {message}")]
    ClosurePanicked {
        /// What it panicked with.
        message: String,
    },
    /// Work on a queue was not begun, because work before it failed.
    #[error("not run, because earlier work on the same queue failed")]
    Skipped,
    /// Work on a queue waited for work behind it, which begins only once it has ended; or a kernel did, for work of its device; or
    /// several threads and queues waited for each other in a circle.
    #[error(
        "work on a queue, or a kernel of its device, waited for what comes after it, if by way of other queues, and would have waited \
         for ever; wait outside the work, or enqueue what it needs in a scope that it opens itself"
    )]
    WaitsForItself,
    /// A scope was opened from inside a kernel of the queue's own device.
    #[error(
        "a scope was opened from inside a kernel of the same device, and would have waited for itself; open it outside"
    )]
    InsideKernel,
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

debug_as_display!(Error);

impl Error {
    /// Wraps an error of the program, to return it from a closure on a queue.
    pub fn other(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Other(error.into())
    }
}

/// The text of a panic, for reports.
pub(crate) fn panic_message(payload: &(dyn Any + Send)) -> String {
    if let Some(message) = payload.downcast_ref::<&str>() {
        (*message).to_owned()
    } else if let Some(message) = payload.downcast_ref::<String>() {
        message.clone()
    } else {
        "(a panic without a message)".to_owned()
    }
}

/// Lets go of what a panic left: it may be anything, and panic in turn when it is dropped.
pub(crate) fn discard(payload: Box<dyn Any + Send>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        mem::forget(payload);
    }
}

/// Runs a program's own code, where a panic must not pass: its message is the error.
pub(crate) fn caught<R>(run: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| {
        let message = panic_message(&*payload);
        discard(payload);
        message
    })
}

#[cfg(all(test, not(loom)))]
mod test {
    use super::*;
    use crate::{
        host::tasks::{TaskError, TaskFailure},
        prelude::*,
    };

    /// As `main` shows it.
    #[test]
    fn an_error_that_main_returns_says_what_to_do() {
        let shown = format!("{:?}", Error::from(Device::open("gpu").unwrap_err()));
        assert!(
            shown.starts_with("there is no device `gpu`; there are `cpu`"),
            "{shown}"
        );
    }

    #[test]
    fn an_error_that_is_unwrapped_says_what_to_do() {
        let refused = Device::open("gpu").unwrap_err();
        assert_eq!(format!("{refused:?}"), refused.to_string());
        let nested = LaunchError::Nested { kernel: "inner" };
        assert_eq!(format!("{nested:?}"), nested.to_string());
    }

    #[test]
    fn an_error_of_many_tasks_is_one_line() {
        let error = TaskError::before("walk", TaskFailure::Overflow { capacity: 2 }, &[7_u32; 10_000]);
        let text = format!("{error:?}");
        assert!(text.contains("TaskOptions") && text.contains("10000 tasks"), "{text}");
        assert!(text.len() < 200, "{text}");
    }
}
