//! A device: its shape, its memory, the modules loaded into it.

use crate::decode::code::{Constant, GlobalInitial, Module};
use crate::fault::LaunchError;
use crate::machine;
use crate::memory::{Kind, Memory};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32};

/// What a device is like, and how it behaves. Small by default: what does not fit shows early.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Blocks that one multiprocessor holds at most.
    pub blocks: u32,
    /// Threads of a block at most.
    pub threads: u32,
    /// Threads that one multiprocessor holds at most.
    pub multiprocessor_threads: u32,
    /// Bytes of shared memory a block, without asking for more.
    pub shared: u32,
    /// Bytes of shared memory a block at most, after asking; one multiprocessor has as much and 1 KiB a block.
    pub shared_optin: u32,
    /// Compute capability.
    pub capability: (u32, u32),
    /// Whether it takes cooperative launches.
    pub cooperative: bool,
    /// What the order of warps and blocks is drawn from; zero for blocks in order.
    pub seed: u64,
    /// Bytes of device memory.
    pub memory: u64,
    /// Instructions of a warp after which a launch is ended.
    pub steps: u64,
    /// Looks at memory by all threads together without any change in it, after which a launch is ended.
    pub polls: u64,
    /// The same in milliseconds where the change may come from outside: from the host, or from another launch.
    pub patience: u64,
}

impl Default for Shape {
    fn default() -> Shape {
        Shape {
            multiprocessors: 4,
            blocks: 2,
            threads: 1024,
            multiprocessor_threads: 2048,
            shared: 48 << 10,
            shared_optin: 96 << 10,
            capability: (9, 0),
            cooperative: true,
            seed: 1,
            memory: 1 << 30,
            steps: 20_000_000_000,
            polls: 2_000_000,
            patience: 10_000,
        }
    }
}

/// Names and values that are not of a shape.
pub type Rest<'a> = Vec<(&'a str, &'a str)>;

impl Shape {
    /// Reads `mps=4,blocks=2,…` over the defaults; hands back what is not of a shape.
    ///
    /// # Errors
    /// A value that is no number in range.
    pub fn parse(text: &str) -> Result<(Shape, Rest<'_>), String> {
        let mut shape = Shape::default();
        let mut rest = Vec::new();
        let mut optin = None;
        for part in text.split(',').map(str::trim).filter(|p| !p.is_empty()) {
            let Some((key, value)) = part.split_once('=') else {
                return Err(format!("`{part}` is not `name=value`"));
            };
            let number = || value.parse::<u64>().map_err(|_| format!("`{part}`: not a number"));
            let small = || number().and_then(|n| u32::try_from(n).map_err(|_| format!("`{part}`: too large")));
            match key {
                "mps" => shape.multiprocessors = small()?.max(1),
                "blocks" => shape.blocks = small()?.max(1),
                "threads" => shape.threads = small()?.clamp(1, 1024),
                "mpthreads" => shape.multiprocessor_threads = small()?.max(1),
                "shared" => shape.shared = small()?,
                "optin" => optin = Some(small()?),
                "cc" => {
                    let (major, minor) = value
                        .split_once('.')
                        .ok_or_else(|| format!("`{part}`: not `major.minor`"))?;
                    let digit = |text: &str| text.parse().map_err(|_| format!("`{part}`: not `major.minor`"));
                    shape.capability = (digit(major)?, digit(minor)?);
                }
                "coop" => shape.cooperative = small()? != 0,
                "seed" => shape.seed = number()?,
                "memory" => shape.memory = number()?.saturating_mul(1 << 20),
                "steps" => shape.steps = number()?,
                "polls" => shape.polls = number()?,
                "patience" => shape.patience = number()?,
                _ => rest.push((key, value)),
            }
        }
        shape.shared_optin = optin.unwrap_or(shape.shared.saturating_mul(2)).max(shape.shared);
        Ok((shape, rest))
    }

    /// Blocks of a kernel that one multiprocessor holds.
    pub fn resident(&self, threads: u32, shared: u32) -> u32 {
        if threads == 0 || threads > self.threads || shared > self.shared_optin {
            return 0;
        }
        let warps = threads.div_ceil(32);
        let by_threads = self.multiprocessor_threads.div_ceil(32) / warps;
        let all = u64::from(self.shared_optin) + u64::from(self.blocks) * 1024;
        let by_shared = all / (u64::from(shared) + 1024);
        self.blocks
            .min(by_threads)
            .min(u32::try_from(by_shared).unwrap_or(u32::MAX))
    }
}

/// A launch: how many blocks of how many threads.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Blocks along each axis.
    pub blocks: [u32; 3],
    /// Threads of a block along each axis.
    pub threads: [u32; 3],
    /// Bytes of dynamic shared memory.
    pub shared: u32,
    /// Whether all blocks must be resident together.
    pub cooperative: bool,
}

impl Grid {
    /// Blocks and threads along one axis.
    pub fn new(blocks: u32, threads: u32) -> Grid {
        Grid {
            blocks: [blocks, 1, 1],
            threads: [threads, 1, 1],
            shared: 0,
            cooperative: false,
        }
    }
}

/// What a launch did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Instructions, each counted once for a group of lanes.
    pub warp_instructions: u64,
    /// Instructions, counted for every lane.
    pub thread_instructions: u64,
}

/// A device.
pub struct Device {
    /// What it is like.
    pub shape: Shape,
    /// Its memory.
    pub memory: Memory,
    /// Set to end all launches.
    pub stop: AtomicBool,
    /// Launches that run.
    pub(crate) running: AtomicU32,
}

/// A module in a device: its variables have addresses.
pub struct Loaded {
    pub(crate) module: Arc<Module>,
    pub(crate) addresses: Vec<u64>,
    names: HashMap<String, u32>,
    device: Arc<Device>,
}

impl Device {
    /// A device of this shape.
    pub fn new(shape: Shape) -> Arc<Device> {
        Arc::new(Device {
            memory: Memory::new(shape.memory),
            shape,
            stop: AtomicBool::new(false),
            running: AtomicU32::new(0),
        })
    }

    /// Puts a module's variables into memory. `None` when there is not enough of it.
    pub fn load(self: &Arc<Device>, module: &Arc<Module>) -> Option<Loaded> {
        let mut addresses = Vec::new();
        let mut names = HashMap::new();
        for (index, global) in module.globals.iter().enumerate() {
            let kind = if global.read_only { Kind::ReadOnly } else { Kind::Device };
            addresses.push(self.memory.allocate(global.size.into(), kind)?);
            names.insert(global.name.clone(), u32::try_from(index).unwrap_or(u32::MAX));
        }
        for (global, &address) in module.globals.iter().zip(&addresses) {
            let mut bytes = vec![0; global.size as usize];
            for (initial, place) in global.initial.iter().zip(bytes.chunks_mut(global.element as usize)) {
                let value = match *initial {
                    GlobalInitial::Bits(bits) => bits,
                    GlobalInitial::Address(constant, offset) => {
                        let base = match constant {
                            Constant::Variable(index) => addresses[index as usize],
                            Constant::Function(index) => machine::function_address(index),
                            Constant::Value(value) => value,
                            Constant::DynamicShared(_) | Constant::Frame(_) => 0,
                        };
                        base.wrapping_add_signed(offset)
                    }
                };
                place.copy_from_slice(&value.to_le_bytes()[..place.len()]);
            }
            self.memory.write(address, &bytes);
        }
        Some(Loaded {
            module: Arc::clone(module),
            addresses,
            names,
            device: Arc::clone(self),
        })
    }
}

impl Loaded {
    /// The module.
    pub fn module(&self) -> &Arc<Module> {
        &self.module
    }

    /// Address and size of a variable.
    pub fn variable(&self, name: &str) -> Option<(u64, u32)> {
        let index = *self.names.get(name)? as usize;
        Some((self.addresses[index], self.module.globals[index].size))
    }

    /// Runs a kernel to its end. `parameters` are the bytes of all of its parameters, each at its place.
    ///
    /// # Errors
    /// What the device refuses, and what goes wrong in the kernel.
    pub fn launch(&self, kernel: &str, grid: Grid, parameters: &[u8]) -> Result<Statistics, LaunchError> {
        machine::launch(&self.device, self, kernel, grid, parameters)
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        for &address in &self.addresses {
            self.device.memory.free(address);
        }
    }
}
