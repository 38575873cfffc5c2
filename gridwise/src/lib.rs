//! Kernels written once, in plain Rust, that synchronise inside a block and across the whole grid.
//!
//! * [`kernel`] is what runs on a device: index maps, spans, shared memory, atomics, barriers.
//! * [`host`] is what a program sees: devices, queues, buffers, launches, errors.
//! * [`check`] finds what is wrong with a kernel's synchronisation, on a simulated device.
//! * [`algorithm`] holds ready-made solvers built from the two.
//!
//! ```
//! use gridwise::prelude::*;
//!
//! #[repr(C)]
//! struct Double<'a> {
//!     input: Span<'a, i32>,
//!     out: SpanMut<'a, i32>,
//! }
//!
//! // SAFETY: `out[i]` is written by the one thread that owns `i`, and never read.
//! unsafe impl Kernel for Double<'_> {
//!     const NAME: &'static str = "double";
//!     type Shared = ();
//!
//!     fn run<A: Acc>(self, acc: A, _: ()) {
//!         for i in acc.threads_in_grid(0..self.out.len()) {
//!             self.out.set(acc, i, 2 * self.input[i]);
//!         }
//!     }
//! }
//!
//! # fn main() -> Result<(), gridwise::Error> {
//! let device = Device::from_env()?;
//! let queue = device.queue();
//! let input = queue.upload(&[1, 2, 3])?;
//! let mut out = device.zeroed::<i32>(3)?;
//! queue.launch(Frames::new(3, 2), Double { input: input.span(), out: out.span_mut() })?;
//! assert_eq!(queue.download(&out)?, [2, 4, 6]);
//! # Ok(())
//! # }
//! ```
//!
//! The environment chooses the device: `GRIDWISE_DEVICE=cpu:blocks=4,threads=2`, `check`, `cuda:0`; see
//! [`Device::open`](host::device::Device::open).
//!
//! # Features
//!
//! * `std`, on by default: the host side, the CPU and the checking device. Without it the crate is `no_std` and holds what kernels
//!   see, for crates of kernels that are compiled for a GPU.
//! * `cuda`: CUDA devices, through the driver, which is loaded when a program runs. It builds without any of CUDA present.
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(target_arch = "nvptx64", feature(asm_experimental_arch, link_llvm_intrinsics))]

#[cfg(all(feature = "std", target_arch = "nvptx64"))]
compile_error!("on a GPU there is no std: a crate of kernels depends on gridwise with `default-features = false`");

pub mod kernel;

pub mod algorithm;
mod backend;
#[cfg(feature = "std")]
pub mod check;
#[cfg(feature = "std")]
pub mod host;
#[cfg(feature = "std")]
mod sync;

#[cfg(feature = "std")]
pub use host::error::Error;

pub use backend::cuda::exports::{Entry, Exports, Form, Layout, Module};
pub use bytemuck::Pod;

/// What [`export!`] expands to.
#[doc(hidden)]
pub mod export_support {
    #[cfg(target_arch = "nvptx64")]
    pub use crate::backend::cuda::device::{run_grid_kernel, run_kernel};
    pub use crate::{
        backend::cuda::parameters::Parameters,
        kernel::{
            phased::{PersistentForm, RelaunchForm},
            queue::TaskForm,
        },
    };
}

/// The names that kernels and the programs around them use all the time.
pub mod prelude {
    #[cfg(feature = "std")]
    pub use crate::host::prelude::*;
    pub use crate::kernel::prelude::*;
    pub use core::sync::atomic::Ordering;
}

/// The program in the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
