//! What the simulated device is made of.

use std::{fmt, str::FromStr};

use crate::{
    check::Shape,
    host::{
        device::DeviceError,
        residency::{Capacity, Limits, Multiprocessors},
    },
};

/// In which order the blocks of a grid start. Hardware promises none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BlockOrder {
    /// By index.
    #[default]
    Ascending,
    /// Highest index first.
    Descending,
    /// As the scheduler chooses.
    Random,
}

/// How index maps deal out a domain to the blocks and threads. Kernels have to be right for both: where one barrier would do for
/// parts that are dealt out alike, another domain deals them out otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dealing {
    /// Strided, as on a GPU; contiguous in every other schedule of an exploration by [`Builder`](crate::check::Builder). An exhaustive
    /// one tries every schedule with one, then with the other, if the kernel deals out any indices.
    #[default]
    InTurn,
    /// Strided, as on a GPU.
    Strided,
    /// In contiguous parts, as on a CPU.
    Contiguous,
}

/// How the device chooses what runs next, outside [`Builder`](crate::check::Builder).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// One thread after another, an operation each.
    RoundRobin,
    /// A random thread at every operation.
    #[default]
    Random,
    /// Random priorities with a few random changes: probabilistic concurrency testing.
    Pct,
}

/// The make of a simulated device.
///
/// As text, for [`Device::open`](crate::prelude::Device::open): `check`, or `check:` and any of the settings below, separated
/// by commas: `small`, `h100`, `h20` (presets, first), `mps=2` (multiprocessors), `blocks=1` (resident on each), `threads=4` (a
/// block's, where a launch does not say), `grid=1` (blocks of a grid, likewise), `warp=1`, `shared=102400`, `threads_per_mp=1024`, `shared_per_mp=102400`, `lockstep=on|off`, `progress=on|off`,
/// `order=ascending|descending|random`, `deal=in_turn|strided|contiguous`, `weak=on|off`, `exact=on|off`, `schedule=random|pct|round_robin`, `seed=1`, `steps=1000000`, `held=0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Model {
    /// Multiprocessors.
    pub multiprocessors: usize,
    /// Blocks that one multiprocessor holds at most.
    pub blocks_per_multiprocessor: usize,
    /// Threads that one multiprocessor holds at most.
    pub threads_per_multiprocessor: usize,
    /// Threads that a block can have.
    pub most_threads_per_block: usize,
    /// Threads in each block, where a launch does not say.
    pub threads_per_block: usize,
    /// Blocks in each grid, where a launch does not say; fewer where fewer are resident together.
    pub blocks_per_grid: usize,
    /// Threads of a warp, from 1 to 64.
    pub warp_size: usize,
    /// Whether the lanes of a warp run in lock step: a lane that waits for a word then holds up its whole warp.
    pub lock_step: bool,
    /// Whether a block that has started goes on until it ends, as NVIDIA's devices let it. Without, one block of a launch may stop
    /// somewhere until all others have ended, so that nobody may wait for a block at all.
    pub progress: bool,
    /// Bytes of shared memory that a block can have.
    pub shared_bytes: usize,
    /// Bytes of shared memory that all blocks of a multiprocessor have together.
    pub shared_bytes_per_multiprocessor: usize,
    /// In which order blocks start.
    pub block_order: BlockOrder,
    /// How index maps deal out a domain.
    pub dealing: Dealing,
    /// Blocks' worth of the device that other work holds.
    pub held: usize,
    /// Whether atomic loads may return older values, as far as coherence and the order of events allow.
    pub weak_memory: bool,
    /// Whether every access is remembered, instead of a constant number for each location.
    pub exact: bool,
    /// How threads are scheduled.
    pub schedule: Schedule,
    /// What the scheduler's random numbers start from.
    pub seed: u64,
    /// Operations after which a launch is given up.
    pub step_budget: u64,
}

impl Default for Model {
    fn default() -> Self {
        Self::small()
    }
}

impl Model {
    /// Two multiprocessors with one block each, of four threads: small enough to be explored, and every rule shows.
    pub fn small() -> Self {
        Self {
            multiprocessors: 2,
            blocks_per_multiprocessor: 1,
            threads_per_multiprocessor: 1024,
            most_threads_per_block: 1024,
            threads_per_block: 4,
            blocks_per_grid: usize::MAX,
            warp_size: 1,
            lock_step: false,
            progress: true,
            shared_bytes: 100 << 10,
            shared_bytes_per_multiprocessor: 100 << 10,
            block_order: BlockOrder::Ascending,
            dealing: Dealing::InTurn,
            held: 0,
            weak_memory: true,
            exact: false,
            schedule: Schedule::Random,
            seed: 1,
            step_budget: 20_000_000,
        }
    }

    /// The shape of an NVIDIA H100 SXM: 132 multiprocessors, warps of 32, 2048 threads and 32 blocks each.
    ///
    /// Each thread that runs has a stack. A grid that fills all of it has 270 336, more than Linux maps for a program unless
    /// `vm.max_map_count` is raised; what it lets run by default fills 13 multiprocessors.
    pub fn h100_like() -> Self {
        Self {
            multiprocessors: 132,
            blocks_per_multiprocessor: 32,
            threads_per_multiprocessor: 2048,
            threads_per_block: 128,
            warp_size: 32,
            shared_bytes: 227 << 10,
            shared_bytes_per_multiprocessor: 227 << 10,
            ..Self::small()
        }
    }

    /// As [`h100_like`](Self::h100_like), of the same architecture, with 78 multiprocessors.
    pub fn h20_like() -> Self {
        Self {
            multiprocessors: 78,
            ..Self::h100_like()
        }
    }

    /// This device, with grids of that shape where a launch does not say. There is room for them.
    pub(crate) fn with_shape(self, shape: Shape) -> Self {
        Self {
            multiprocessors: self.multiprocessors.max(shape.blocks.saturating_add(self.held)),
            blocks_per_grid: shape.blocks,
            threads_per_block: shape.threads,
            ..self
        }
    }

    /// The shape of grids, where a launch does not say, if the model does.
    pub(crate) fn shape(&self) -> Option<Shape> {
        (self.blocks_per_grid < usize::MAX).then_some(Shape {
            blocks: self.blocks_per_grid,
            threads: self.threads_per_block,
        })
    }

    pub(crate) fn limits(&self, blocks: usize) -> Limits {
        Limits {
            capacity: Capacity::Multiprocessors(Multiprocessors {
                count: self.multiprocessors,
                blocks: self.blocks_per_multiprocessor,
                threads: self.threads_per_multiprocessor,
                shared_bytes: self.shared_bytes_per_multiprocessor,
                threads_per_block: self.most_threads_per_block.min(self.threads_per_multiprocessor),
            }),
            shared_bytes: self.shared_bytes,
            // Threads are numbered in 32 bits.
            blocks: blocks.min(u32::MAX as usize / self.most_threads_per_block.max(1)),
            offered: self.blocks_per_grid,
            taken: self.held,
        }
    }

    /// Checks that the numbers make sense together.
    ///
    /// # Errors
    /// Names the first that does not.
    pub fn validate(&self) -> Result<(), DeviceError> {
        let check = |option, value: usize, least: usize, most: usize| {
            if (least..=most).contains(&value) {
                Ok(())
            } else {
                Err(DeviceError::Range {
                    option,
                    value,
                    least,
                    most,
                })
            }
        };
        check("mps", self.multiprocessors, 1, 1 << 16)?;
        check("blocks", self.blocks_per_multiprocessor, 1, 1 << 10)?;
        check(
            "threads",
            self.threads_per_block,
            1,
            self.most_threads_per_block.min(self.threads_per_multiprocessor),
        )?;
        check("grid", self.blocks_per_grid, 1, usize::MAX)?;
        check("warp", self.warp_size, 1, 64)?;
        check("shared", self.shared_bytes, 1, 1 << 30)
    }
}

impl FromStr for Model {
    type Err = DeviceError;

    fn from_str(text: &str) -> Result<Self, DeviceError> {
        let mut model = Self::small();
        for setting in text.split(',').filter(|setting| !setting.is_empty()) {
            let bad = || DeviceError::CheckSetting {
                setting: setting.to_owned(),
            };
            let (name, value) = setting.split_once('=').unwrap_or((setting, ""));
            let number = || value.parse::<usize>().map_err(|_| bad());
            let switch = || match value {
                "on" => Ok(true),
                "off" => Ok(false),
                _ => Err(bad()),
            };
            match (name, value) {
                ("small", "") => model = Self::small(),
                ("h100", "") => model = Self::h100_like(),
                ("h20", "") => model = Self::h20_like(),
                ("mps", _) => model.multiprocessors = number()?,
                ("blocks", _) => model.blocks_per_multiprocessor = number()?,
                ("threads", _) => model.threads_per_block = number()?,
                ("grid", _) => model.blocks_per_grid = number()?,
                ("warp", _) => model.warp_size = number()?,
                ("threads_per_mp", _) => model.threads_per_multiprocessor = number()?,
                ("shared_per_mp", _) => model.shared_bytes_per_multiprocessor = number()?,
                ("held", _) => model.held = number()?,
                ("seed", _) => model.seed = number()? as u64,
                ("steps", _) => model.step_budget = number()? as u64,
                ("shared", _) => {
                    model.shared_bytes = number()?;
                    model.shared_bytes_per_multiprocessor =
                        model.shared_bytes_per_multiprocessor.max(model.shared_bytes);
                }
                ("lockstep", _) => model.lock_step = switch()?,
                ("progress", _) => model.progress = switch()?,
                ("weak", _) => model.weak_memory = switch()?,
                ("exact", _) => model.exact = switch()?,
                ("order", "ascending") => model.block_order = BlockOrder::Ascending,
                ("order", "descending") => model.block_order = BlockOrder::Descending,
                ("order", "random") => model.block_order = BlockOrder::Random,
                ("deal", "in_turn") => model.dealing = Dealing::InTurn,
                ("deal", "strided") => model.dealing = Dealing::Strided,
                ("deal", "contiguous") => model.dealing = Dealing::Contiguous,
                ("schedule", "random") => model.schedule = Schedule::Random,
                ("schedule", "pct") => model.schedule = Schedule::Pct,
                ("schedule", "round_robin") => model.schedule = Schedule::RoundRobin,
                _ => return Err(bad()),
            }
        }
        model.validate()?;
        Ok(model)
    }
}

/// The settings that [`FromStr`] reads, but for those that are as in [`Model::small`].
impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let small = Self::small();
        write!(
            f,
            "mps={},blocks={},threads={},warp={}",
            self.multiprocessors, self.blocks_per_multiprocessor, self.threads_per_block, self.warp_size
        )?;
        let numbers = [
            ("grid", self.blocks_per_grid, small.blocks_per_grid),
            ("shared", self.shared_bytes, small.shared_bytes),
            (
                "threads_per_mp",
                self.threads_per_multiprocessor,
                small.threads_per_multiprocessor,
            ),
            (
                "shared_per_mp",
                self.shared_bytes_per_multiprocessor,
                small.shared_bytes_per_multiprocessor,
            ),
            ("held", self.held, small.held),
            ("seed", self.seed as usize, small.seed as usize),
            ("steps", self.step_budget as usize, small.step_budget as usize),
        ];
        for (name, value, _) in numbers.into_iter().filter(|(_, value, usual)| value != usual) {
            write!(f, ",{name}={value}")?;
        }
        let switches = [
            ("lockstep", self.lock_step, small.lock_step),
            ("progress", self.progress, small.progress),
            ("weak", self.weak_memory, small.weak_memory),
            ("exact", self.exact, small.exact),
        ];
        for (name, value, _) in switches.into_iter().filter(|(_, value, usual)| value != usual) {
            write!(f, ",{name}={}", if value { "on" } else { "off" })?;
        }
        match self.block_order {
            BlockOrder::Ascending => {}
            BlockOrder::Descending => f.write_str(",order=descending")?,
            BlockOrder::Random => f.write_str(",order=random")?,
        }
        match self.dealing {
            Dealing::InTurn => {}
            Dealing::Strided => f.write_str(",deal=strided")?,
            Dealing::Contiguous => f.write_str(",deal=contiguous")?,
        }
        match self.schedule {
            Schedule::Random => Ok(()),
            Schedule::Pct => f.write_str(",schedule=pct"),
            Schedule::RoundRobin => f.write_str(",schedule=round_robin"),
        }
    }
}
