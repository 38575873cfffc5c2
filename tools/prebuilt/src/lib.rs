//! The library's own kernels as entries of a module: `gridwise/src/backend/cuda/prebuilt.ptx` is what a compiler for the device
//! makes of this crate.
//!
//! They are not entries of the library itself, because then every module of every program would have them.
#![no_std]

gridwise::export_library! {
    /// What is in the module.
    pub KERNELS
}
