//! Ready-made algorithms, kernel half and host half together.
//!
//! * [`scan`] combines each element with all before it: prefix sums.
//! * [`select`] moves the elements for which something holds to one place, in order: compaction and partition.
//! * [`sparse`] holds sparse matrices, checked when they are made, and their products with vectors.
//! * [`breadth_first`] finds how far the vertices of a graph are from where a search begins.
//! * [`reduce`] combines all elements to one.
//! * [`histogram`] counts how many elements fall into each bin.
//! * [`sort`] sorts keys, and values by their keys; [`key`] says what can be a key.
//! * [`operator`] says what elements are combined with.
//! * [`solve`] solves sparse linear systems: the whole iteration runs inside the kernel, which decides itself when to stop.

#[cfg(feature = "std")]
pub mod breadth_first;
#[cfg(feature = "std")]
pub mod histogram;
#[doc(hidden)]
pub mod kernels;
pub mod key;
pub mod operator;
#[cfg(feature = "std")]
pub mod reduce;
#[cfg(feature = "std")]
pub mod scan;
#[cfg(feature = "std")]
pub mod select;
#[cfg(feature = "std")]
pub mod solve;
#[cfg(feature = "std")]
pub mod sort;
#[cfg(feature = "std")]
pub mod sparse;
