//! Kernels written once, in plain Rust, that synchronise inside a block and across the whole grid.
#![cfg_attr(not(feature = "std"), no_std)]
