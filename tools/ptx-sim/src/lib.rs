//! Executes PTX on the CPU, to test what kernels compile to without a GPU.
//!
//! A text becomes a [`Module`]: what is not known in it is refused there, by name and line. A [`Device`] has a [`Shape`] and memory; a module loaded
//! into it runs kernels, their blocks resident and interleaved as the shape and its seed say. What goes wrong is a [`Fault`] that names kernel, line,
//! block, thread and address. README.md says what is modelled and what is not.

mod decode;
mod device;
mod fault;
mod machine;
mod memory;
mod syntax;

pub use decode::Kernel;
pub use decode::code::{Module, Parameter};
pub use device::{Device, Grid, Loaded, Rest, Shape, Statistics};
pub use fault::{Fault, FaultKind, LaunchError};
pub use memory::{Kind, Memory, Range};
pub use syntax::LoadError;
