//! The device half: the accelerator that kernels run on when they are compiled for nvptx64.
//!
//! | file | what |
//! |---|---|
//! | `acc.rs` | the accelerator |
//! | `entry.rs` | what an entry does before and after it runs the kernel |
//! | `memory.rs` | loads and stores that stay in their address space |
//! | `atomics.rs` | atomics and fences: one instruction each, with order and scope |
//! | `intrinsics.rs` | barriers, votes and shuffles, which must never be inline assembly |
//! | `fault.rs` | how a thread that fails says so |
//! | `compare.rs` | what the compiler calls to compare bytes |
//!
//! Two things that the compiler gets wrong shape this code. It may copy inline assembly into both arms of a branch, so whatever
//! all threads have to reach together is an intrinsic, which it knows not to copy; rustc before 1.97 copies those, too, and
//! needs `-Zmir-enable-passes=-JumpThreading`. And it drops the memory order of atomic read-modify-writes, so those are
//! assembly.

mod acc;
mod atomics;
mod compare;
mod entry;
pub(crate) mod fault;
mod intrinsics;
pub(crate) mod memory;

pub use entry::{run_grid_kernel, run_kernel};
