//! What there is to choose of a CPU device, and its text.

use std::{fmt, str::FromStr};

use super::DeviceError;
use crate::backend::cpu;

/// How workers wait: for the next launch, and in a kernel for other threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Never sleep: the fastest launches and the fastest ends of long waits, at the price of a busy core for each worker.
    Active,
    /// Spin, then yield, then sleep: after 10 ms without work or of waiting in a kernel, there after 1 ms where workers share cores. A
    /// thread that sleeps is some tens of microseconds late.
    #[default]
    Adaptive,
    /// Without work, sleep at once; in a kernel spin, yield, and sleep after 1 ms.
    Passive,
}

/// How to set up a CPU device.
///
/// As text, for [`Device::open`](super::Device::open): `cpu`, or `cpu:` and any of `blocks=2`, `threads=4`, `wait=active|adaptive|passive`,
/// `pin=on|off`, `shared=65536`, separated by commas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuOptions {
    /// Blocks that are resident together. May exceed the cores: blocks then share them.
    pub resident_blocks: usize,
    /// Threads in each block, where a launch does not say.
    pub threads_per_block: usize,
    /// How workers wait for the next launch.
    pub wait: WaitPolicy,
    /// Whether workers are pinned to cores. They never are where there are more workers than cores, or a quota.
    pub pin: bool,
    /// Bytes of shared memory that a block may hold.
    pub shared_bytes: usize,
}

/// Workers that a CPU device can have.
const MOST_WORKERS: usize = 4096;
/// Shared memory of a block where nothing else is said: it should stay in a core's own cache.
const SHARED_BYTES: usize = 256 << 10;
/// Shared memory that a block can be given at most: far more than any cache holds.
const MOST_SHARED_BYTES: usize = 1 << 30;

impl CpuOptions {
    /// One block a core (as the affinity mask and the cgroup quota allow), of `threads` threads.
    pub fn with_threads(threads: usize) -> Self {
        let parallelism = cpu::Topology::of_this_process().parallelism;
        Self {
            resident_blocks: (parallelism / threads.max(1)).max(1),
            threads_per_block: threads,
            wait: WaitPolicy::default(),
            pin: true,
            shared_bytes: SHARED_BYTES,
        }
    }

    pub(super) fn validate(&self) -> Result<(), DeviceError> {
        let check = |option, value, most| {
            if (1..=most).contains(&value) {
                Ok(())
            } else {
                Err(DeviceError::Range {
                    option,
                    value,
                    least: 1,
                    most,
                })
            }
        };
        check("blocks", self.resident_blocks, MOST_WORKERS)?;
        check("threads", self.threads_per_block, MOST_WORKERS)?;
        check(
            "blocks times threads",
            self.resident_blocks * self.threads_per_block,
            MOST_WORKERS,
        )?;
        check("shared", self.shared_bytes, MOST_SHARED_BYTES)
    }
}

impl Default for CpuOptions {
    fn default() -> Self {
        Self::with_threads(1)
    }
}

impl FromStr for CpuOptions {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let mut blocks = None;
        let mut threads = 1;
        let mut options = Self::default();
        for setting in text.split(',').filter(|setting| !setting.is_empty()) {
            let bad = || DeviceError::Setting {
                setting: setting.to_owned(),
            };
            let (name, value) = setting.split_once('=').ok_or_else(bad)?;
            let number = || value.parse::<usize>().map_err(|_| bad());
            match (name, value) {
                ("blocks", _) => blocks = Some(number()?),
                ("threads", _) => threads = number()?,
                ("shared", _) => options.shared_bytes = number()?,
                ("wait", "active") => options.wait = WaitPolicy::Active,
                ("wait", "adaptive") => options.wait = WaitPolicy::Adaptive,
                ("wait", "passive") => options.wait = WaitPolicy::Passive,
                ("pin", "on") => options.pin = true,
                ("pin", "off") => options.pin = false,
                _ => return Err(bad()),
            }
        }
        let shape = Self::with_threads(threads);
        options.threads_per_block = threads;
        options.resident_blocks = blocks.unwrap_or(shape.resident_blocks);
        options.validate()?;
        Ok(options)
    }
}

impl fmt::Display for WaitPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Active => "active",
            Self::Adaptive => "adaptive",
            Self::Passive => "passive",
        })
    }
}

/// The text that [`FromStr`] takes: the shape, and whatever else is not as usual.
impl fmt::Display for CpuOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "blocks={},threads={}", self.resident_blocks, self.threads_per_block)?;
        if self.wait != WaitPolicy::default() {
            write!(f, ",wait={}", self.wait)?;
        }
        if !self.pin {
            f.write_str(",pin=off")?;
        }
        if self.shared_bytes != SHARED_BYTES {
            write!(f, ",shared={}", self.shared_bytes)?;
        }
        Ok(())
    }
}
