//! Compiles a crate of kernels to PTX, from a build script.
//!
//! The kernels live in a crate of their own, `no_std`, that depends on gridwise with `default-features = false` and names them
//! with `gridwise::export!`. The program's build script compiles that crate for the device:
//!
//! ```no_run
//! fn main() -> Result<(), gridwise_ptx::Error> {
//!     gridwise_ptx::build("../kernels")
//! }
//! ```
//!
//! and the program includes the text, whose path is in an environment variable named after the package:
//!
//! ```ignore
//! // SAFETY: the build script has compiled the crate that the table is of.
//! static MODULE: gridwise::Module =
//!     unsafe { gridwise::Module::new(include_str!(env!("KERNELS_PTX")), &kernels::KERNELS) };
//! ```
//!
//! # Toolchain
//!
//! rustc has the device's back end built in; no CUDA toolkit is needed. What is needed is rustc 1.96 or newer *with its
//! source*, because the device's `core` is compiled from it:
//!
//! * a nightly from rustup: `rustup toolchain install nightly --component rust-src`, or
//! * Debian's: `apt-get install rustc-web cargo-web rust-web-src`, or
//! * the toolchain that compiles the program, if it has the component `rust-src`.
//!
//! They are looked for in the order: what `GRIDWISE_PTX_TOOLCHAIN` says (the name of a rustup toolchain, or the path of a
//! `rustc` with its `cargo` beside it), the one in use, rustup's nightly, `/usr/bin`. A build that finds none says for each why
//! not. Compilers that are not nightly are told to allow unstable features (`RUSTC_BOOTSTRAP`), for the device's code alone.
//!
//! A program that is to build without any of these carries its PTX along: see [`Build::fallback`].
//!
//! # What it does
//!
//! It runs `cargo rustc` on the crate in a target directory below `OUT_DIR`, so that the two builds do not wait for each other;
//! link-time optimisation over everything makes one text without unresolved symbols. The environment that the outer cargo set
//! up for the host (`RUSTFLAGS` and the like) does not reach it; whether the network may be used does. Every source file of the
//! crate and of its path dependencies is reported to the outer cargo, so that a change compiles anew.
//!
//! The flags are part of what makes the result right: they keep a pass of rustc before 1.97 from copying barriers into the
//! arms of a branch (rust-lang/rust#137086). Compiling kernels by other means needs
//! `-Zmir-enable-passes=-JumpThreading`, too.
#![forbid(unsafe_code)]

mod build;
mod error;
mod sources;
mod toolchain;

pub use build::{Build, Ptx};
pub use error::Error;

/// Compiles the crate in that directory, with the defaults of [`Build`].
///
/// # Errors
/// As [`Build::run`].
pub fn build(kernels: impl Into<std::path::PathBuf>) -> Result<(), Error> {
    Build::new(kernels).run()
}
