//! CUDA devices, as a program chooses and sees them.

use std::{fmt, str::FromStr};

use super::device::DeviceError;

/// Which CUDA device, and how to set it up.
///
/// As text, for [`Device::open`](super::device::Device::open): `cuda`, which is `cuda:0`, or `cuda:1,threads=128`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CudaOptions {
    /// Which of the devices, counted as the driver counts them.
    pub ordinal: usize,
    /// Threads in each block, where a launch does not say.
    pub threads_per_block: usize,
}

/// Threads of a block where nothing else is said: several warps, so that they hide each other's waits, and few enough that
/// registers seldom keep a second block out.
const THREADS: usize = 256;

impl Default for CudaOptions {
    fn default() -> Self {
        Self {
            ordinal: 0,
            threads_per_block: THREADS,
        }
    }
}

impl FromStr for CudaOptions {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let mut options = Self::default();
        for setting in text.split(',').filter(|setting| !setting.is_empty()) {
            let bad = |_| DeviceError::CudaSetting {
                setting: setting.to_owned(),
            };
            match setting.split_once('=') {
                Some(("threads", threads)) => options.threads_per_block = threads.parse().map_err(bad)?,
                _ => options.ordinal = setting.parse().map_err(bad)?,
            }
        }
        Ok(options)
    }
}

/// The text that [`FromStr`] takes.
impl fmt::Display for CudaOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.ordinal)?;
        if self.threads_per_block != THREADS {
            write!(f, ",threads={}", self.threads_per_block)?;
        }
        Ok(())
    }
}

/// What a GPU is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GpuProperties {
    /// What its maker calls it.
    pub model: String,
    /// The version of CUDA that its driver is for.
    pub driver: String,
    /// Its generation, as NVIDIA counts them: major and minor.
    pub compute_capability: (usize, usize),
    /// Bytes of its memory.
    pub memory_bytes: usize,
    /// Multiprocessors.
    pub multiprocessors: usize,
    /// Threads that are resident on one of them at most.
    pub threads_per_multiprocessor: usize,
    /// Threads that a block has at most.
    pub most_threads_per_block: usize,
    /// Whether it takes cooperative launches; without them, phases run by relaunch.
    pub cooperative_launch: bool,
}

/// How many CUDA devices there are.
///
/// # Errors
/// Why there cannot be any: this program was built without the feature `cuda`, or there is no driver, or one that is too old.
pub fn device_count() -> Result<usize, DeviceError> {
    #[cfg(feature = "cuda")]
    return crate::backend::cuda::host::CudaDevice::count();
    #[cfg(not(feature = "cuda"))]
    Err(DeviceError::CudaNotBuilt)
}

#[cfg(all(test, not(loom)))]
mod test {
    use super::*;
    use crate::prelude::Device;

    #[test]
    fn the_text_of_options_gives_the_same_options() {
        for (text, written) in [
            ("", "0"),
            ("0", "0"),
            ("1,threads=128", "1,threads=128"),
            ("threads=256", "0"),
        ] {
            let options: CudaOptions = text.parse().unwrap();
            assert_eq!(options.to_string(), written);
            assert_eq!(written.parse::<CudaOptions>().unwrap(), options);
        }
    }

    #[test]
    fn a_setting_that_is_not_understood_is_named() {
        for setting in ["one", "threads=many", "blocks=2", "-1"] {
            match Device::open(&format!("cuda:{setting}")) {
                Err(DeviceError::CudaSetting { setting: named }) => assert_eq!(named, setting),
                other => panic!("{setting}: {other:?}"),
            }
        }
    }

    /// What there is differs from machine to machine: without a GPU the error says why, with one the number is one too large.
    #[test]
    fn a_device_that_is_not_there_is_an_error_that_says_why() {
        let error = Device::open("cuda:999").unwrap_err();
        let not_built = matches!(error, DeviceError::CudaNotBuilt);
        assert_eq!(not_built, !cfg!(feature = "cuda"), "{error}");
        let not_there = matches!(
            error,
            DeviceError::NoCudaDriver { .. }
                | DeviceError::CudaDriver { .. }
                | DeviceError::CudaDriverTooOld { .. }
                | DeviceError::NoSuchCudaDevice { ordinal: 999, .. }
        );
        assert!(not_built || not_there, "{error}");
        assert_eq!(
            device_count().is_ok(),
            matches!(Device::open("cuda:999"), Err(DeviceError::NoSuchCudaDevice { .. }))
        );
    }
}
