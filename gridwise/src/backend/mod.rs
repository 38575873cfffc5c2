//! The back ends, one folder each. Nothing outside a folder names anything inside but its device type.

#[cfg(feature = "std")]
pub(crate) mod check;
#[cfg(feature = "std")]
pub(crate) mod cpu;
pub(crate) mod cuda;
#[cfg(feature = "std")]
pub(crate) mod nesting;
#[cfg(all(test, not(loom), feature = "std"))]
pub(crate) mod test_support;
