//! The kernels of the conformance suite, in a crate that compiles for every device.
//!
//! A kernel that is not in [`KERNELS`] runs on the host only: it sleeps, allocates, or uses a queue.
#![no_std]
#![allow(missing_docs, reason = "what a kernel is for says the test that launches it")]

#[cfg(not(target_arch = "nvptx64"))]
extern crate std;

pub mod algorithms;
pub mod atomics;
pub mod block_barrier;
pub mod chunks;
pub mod collectives;
pub mod copies;
pub mod failures;
pub mod grid_barrier;
pub mod index_maps;
pub mod launches;
pub mod look_back;
pub mod own_queues;
pub mod phases;
pub mod publication;
pub mod queues_events;
pub mod residency;
pub mod shared_memory;
pub mod sums;
pub mod support;
pub mod tasks;

pub use exports::KERNELS;

mod exports;
