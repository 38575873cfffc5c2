//! The host side: what a program sees.
//!
//! A [`Device`](device::Device) has [queues](queue::Queue) and [buffers](buffer::Buffer). A launch takes a
//! [grid](launch::Grid) and a kernel; errors are typed and name the kernel.

pub mod buffer;
mod circle;
pub mod cuda;
pub mod device;
pub mod driver;
pub mod error;
pub mod event;
mod lane;
pub mod launch;
pub mod load;
pub mod look_back;
pub(crate) mod memory;
pub mod options;
pub mod phases;
pub mod queue;
pub mod report;
pub mod residency;
pub mod scope;
mod stream;
pub mod tasks;
pub mod trace;

/// The names a program uses.
pub mod prelude {
    pub use super::{
        buffer::Buffer,
        device::Device,
        event::Event,
        launch::{Blocks, Frames, Grid, LaunchError},
        phases::{RunOptions, Strategy},
        queue::{Queue, QueueOptions},
        tasks::{Cancellation, Chunking, TaskError, TaskOptions},
    };
}
