//! What the driver of a GPU has to say when something goes wrong.

use thiserror::Error;

/// The driver of a GPU refused a call, or the GPU failed.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DriverError {
    /// A call failed.
    #[error("{device}: {call} failed: {text}, {code}")]
    Call {
        /// The device.
        device: Box<str>,
        /// The function of the driver.
        call: &'static str,
        /// The driver's number for what happened.
        code: i32,
        /// The driver's words for it, and its name.
        text: Box<str>,
    },
    /// A kernel that failed has taken the device with it: nothing that was in its memory can be had back.
    #[error(
        "{device} was lost when kernel `{kernel}` failed; drop what there is of it (its devices, queues and buffers), and open it anew"
    )]
    Lost {
        /// The device.
        device: Box<str>,
        /// The kernel, or the last one that ran where it is not known which failed.
        kernel: &'static str,
    },
    /// A view is of memory of a device that the queue's device cannot reach.
    #[error("{device} cannot reach memory of {owner}; copy it with a queue of that device, by way of the host")]
    OutOfReach {
        /// The queue's device.
        device: Box<str>,
        /// The device whose memory it is.
        owner: Box<str>,
    },
}

crate::host::error::debug_as_display!(DriverError);
