//! A CUDA driver library whose devices are [`ptx_sim::Device`]s.
//!
//! Put in the place of `libcuda.so` it lets a program that loads the driver at run time use a device that is not there. The shape of the device, and
//! how many there are, comes from the environment variable `PTX_SIM`; `../README.md` lists what may stand in it. Functions behave as the driver's are
//! documented to, where tests may depend on it: work is done in stream order by a thread for each stream, errors of kernels stick to the context, and
//! arguments are checked.

#![allow(non_snake_case)]

mod api;
mod driver;
mod error;
mod event;
mod graph;
mod pointer;
mod stream;
mod work;
