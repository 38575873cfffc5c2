//! The library's own kernels, compiled ahead, so that a program on stable Rust needs no compiler for the device to use them.
//!
//! `cargo run -p ptx-check -- prebuilt` compiles them anew and compares; with `--bless` it replaces the file.

use super::exports::Module;

crate::export_library!(LIBRARY);

/// See the file.
// SAFETY: `ptx-check` has compiled the text from the kernels in the table.
pub(super) const MODULE: Module = unsafe { Module::new(include_str!("prebuilt.ptx"), &LIBRARY) };
