//! CUDA: kernels compiled by rustc for nvptx64, launched through the driver.
//!
//! [`exports`] and [`parameters`] are what the two halves agree on, and are compiled for both.

#[cfg(target_arch = "nvptx64")]
pub(crate) mod device;
mod export;
pub(crate) mod exports;
#[cfg(feature = "cuda")]
pub(crate) mod host;
pub(crate) mod parameters;
#[cfg(feature = "cuda")]
mod prebuilt;
