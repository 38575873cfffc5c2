//! Why a device could not be opened.

use thiserror::Error;

use crate::host::driver::DriverError;

/// A device could not be opened.
#[derive(Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// No such kind of device.
    #[error(
        "there is no device `{name}`; there are `cpu`, with options like `cpu:blocks=2,threads=4`, `check`, the checking \
         device, with options like `check:mps=2,blocks=1,threads=4`, and `cuda:0`, with options like `cuda:0,threads=128`"
    )]
    Unknown {
        /// What was asked for.
        name: String,
    },
    /// A setting that is not understood.
    #[error(
        "device option `{setting}` is not understood; a cpu device takes blocks=N, threads=N, shared=BYTES, \
         wait=active|adaptive|passive, pin=on|off, separated by commas"
    )]
    Setting {
        /// The setting.
        setting: String,
    },
    /// A setting of a checking device that is not understood.
    #[error(
        "device option `{setting}` is not understood; a check device takes small, h100 or h20, then mps=N, blocks=N, threads=N, \
         warp=N, shared=BYTES, threads_per_mp=N, shared_per_mp=BYTES, held=N, seed=N, steps=N, lockstep=on|off, weak=on|off, exact=on|off, \
         order=ascending|descending|random, deal=in_turn|strided|contiguous, schedule=random|pct|round_robin, separated by commas"
    )]
    CheckSetting {
        /// The setting.
        setting: String,
    },
    /// A setting of a CUDA device that is not understood.
    #[error(
        "device option `{setting}` is not understood; a cuda device takes its number, then threads=N, like `cuda:0,threads=128`"
    )]
    CudaSetting {
        /// The setting.
        setting: String,
    },
    /// The program was built without the feature `cuda`.
    #[error(
        "this program was built without CUDA; build it with the feature `cuda` of gridwise: cargo build --features cuda"
    )]
    CudaNotBuilt,
    /// There is no CUDA driver.
    #[error("there is no CUDA driver: {reason}; install NVIDIA's driver for the GPU, the toolkit is not needed")]
    NoCudaDriver {
        /// What the system says.
        reason: String,
    },
    /// There is a CUDA driver, and it does not work.
    #[error(
        "the CUDA driver does not work: {reason}; is its version that of the kernel module (nvidia-smi), and may this user use the GPU?"
    )]
    CudaDriver {
        /// What is wrong.
        reason: String,
    },
    /// The CUDA driver is too old.
    #[error("the CUDA driver is for CUDA {found}, and {needed} or newer is needed; install a newer driver")]
    CudaDriverTooOld {
        /// The version of CUDA that it is for.
        found: String,
        /// The oldest that will do.
        needed: String,
    },
    /// There is no CUDA device of that number.
    #[error("there is no cuda:{ordinal}: {}", match count { 0 => "the driver finds no GPU".to_owned(), 1 => "there is one, cuda:0".to_owned(), count => format!("there are {count}, from cuda:0 on") })]
    NoSuchCudaDevice {
        /// The number asked for.
        ordinal: usize,
        /// How many there are.
        count: usize,
    },
    /// The GPU is of a generation that kernels are not compiled for.
    #[error(
        "cuda:{ordinal}, a {name}, is of compute capability {}.{}, and {}.{} or newer is needed", found.0, found.1, needed.0, needed.1
    )]
    CudaDeviceTooOld {
        /// The number of the device.
        ordinal: usize,
        /// What its maker calls it.
        name: String,
        /// Its compute capability.
        found: (usize, usize),
        /// The oldest that will do.
        needed: (usize, usize),
    },
    /// The driver of a GPU refused a call, or the GPU has failed.
    #[error(transparent)]
    Driver(#[from] DriverError),
    /// A trace was asked for, of a device that has none.
    #[error("there are no traces of `{name}`: only cpu devices record them")]
    NotTraced {
        /// The device.
        name: String,
    },
    /// A setting out of range.
    #[error("device option {option} is {value}, but has to be from {least} to {most}")]
    Range {
        /// The option.
        option: &'static str,
        /// Its value.
        value: usize,
        /// The smallest value allowed.
        least: usize,
        /// The largest value allowed.
        most: usize,
    },
    /// The system refused to start the workers.
    #[error("only {started} of {wanted} workers could be started: {source}")]
    Threads {
        /// Workers that run, the calling thread among them.
        started: usize,
        /// Workers wanted.
        wanted: usize,
        /// What the system said.
        source: std::io::Error,
    },
}

crate::host::error::debug_as_display!(DeviceError);
