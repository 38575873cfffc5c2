//! Ready-made algorithms, kernel half and host half together.
//!
//! * [`sparse`] holds sparse matrices, checked when they are made.
//! * [`solve`] solves sparse linear systems: the whole iteration runs inside the kernel, which decides itself when to stop.

#[doc(hidden)]
pub mod kernels;
#[cfg(feature = "std")]
pub mod solve;
#[cfg(feature = "std")]
pub mod sparse;
