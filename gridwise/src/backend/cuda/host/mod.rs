//! The host half: CUDA devices, through the driver.
//!
//! Everything waits: a call returns when what it asked for is done. Queues that overlap have a stream each, and a thread of the
//! host each, as on every device.

use std::sync::{PoisonError, RwLock};

use super::{exports::Module, prebuilt};
use crate::{
    host::{
        cuda::{CudaOptions, GpuProperties},
        device::DeviceError,
        driver::DriverError,
        launch::{Demand, LaunchError},
        load::LoadError,
        residency::{Capacity, LimitedBy, Limits},
    },
    kernel::{hardware::reserved_shared, span::Home},
    sync::{Arc, Mutex},
};

mod context;
mod driver;
mod functions;
mod graph;
mod launch;
mod memory;
mod status;
mod stream;

use context::Context;
use functions::{Function, Loaded};
pub(crate) use graph::Replay;
use launch::GridScratch;
pub(crate) use memory::DeviceMemory;
pub(crate) use stream::Stream;

/// Threads of a warp, on every device so far.
const WARP_SIZE: usize = 32;

/// See the module.
#[derive(Debug)]
pub(crate) struct CudaDevice {
    pub(crate) options: CudaOptions,
    // Before the context, which they belong to.
    modules: RwLock<Vec<Loaded>>,
    grid_scratch: Mutex<Vec<GridScratch>>,
    /// For what belongs to no queue.
    stream: Stream,
    context: Arc<Context>,
}

impl CudaDevice {
    /// How many there are.
    pub(crate) fn count() -> Result<usize, DeviceError> {
        Context::count()
    }

    pub(crate) fn open(options: CudaOptions) -> Result<Self, DeviceError> {
        let context = Context::open(options.ordinal)?;
        let most = context.hardware.threads_per_block;
        if !(1..=most).contains(&options.threads_per_block) {
            return Err(DeviceError::Range {
                option: "threads",
                value: options.threads_per_block,
                least: 1,
                most,
            });
        }
        Ok(Self {
            options,
            modules: RwLock::default(),
            grid_scratch: Mutex::default(),
            stream: Stream::new(&context)?,
            context,
        })
    }

    pub(crate) fn properties(&self) -> GpuProperties {
        let hardware = &self.context.hardware;
        GpuProperties {
            model: hardware.name.clone(),
            driver: hardware.driver.clone(),
            compute_capability: hardware.compute_capability,
            memory_bytes: hardware.memory_bytes,
            multiprocessors: hardware.multiprocessors,
            threads_per_multiprocessor: hardware.threads_per_multiprocessor,
            most_threads_per_block: hardware.threads_per_block,
            cooperative_launch: hardware.cooperative_launch,
        }
    }

    /// Bytes of shared memory that a block can have.
    pub(crate) fn shared_bytes(&self) -> usize {
        self.context.hardware.shared_bytes_per_block
    }

    /// An error for memory that is neither the host's nor the device's.
    pub(crate) fn reaches(&self, home: Home) -> Result<(), DriverError> {
        match home.ordinal() {
            Some(ordinal) if ordinal != self.context.ordinal() => Err(DriverError::OutOfReach {
                device: self.context.name().into(),
                owner: format!("cuda:{ordinal}").into(),
            }),
            _ => Ok(()),
        }
    }

    /// A stream for a queue.
    pub(crate) fn stream(&self) -> Result<Stream, DriverError> {
        Stream::new(&self.context)
    }

    /// Memory, not initialised; `None` if there is not so much.
    pub(crate) fn allocate(&self, bytes: usize) -> Result<Option<DeviceMemory>, DriverError> {
        DeviceMemory::allocate(&self.context, bytes)
    }

    /// Memory, all zero; `None` if there is not so much.
    pub(crate) fn zeroed(&self, bytes: usize) -> Result<Option<DeviceMemory>, DriverError> {
        let memory = self.allocate(bytes)?;
        if let Some(memory) = &memory {
            // SAFETY: just allocated.
            unsafe { self.stream.fill(memory.start(), &[0], bytes) }?;
        }
        Ok(memory)
    }

    /// Makes the kernels of a module known.
    pub(crate) fn load(&self, module: Module) -> Result<(), LoadError> {
        let loaded = Loaded::load(&self.context, module)?;
        self.modules
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .push(loaded);
        Ok(())
    }

    /// The function of a kernel in the latest module that has it. The library's own kernels are loaded when they are first
    /// wanted: that takes the driver's compiler some time.
    fn function(&self, demand: &Demand) -> Result<Function, LaunchError> {
        if let Some(function) = self.find(demand) {
            return Ok(function);
        }
        let is_own = (demand.entry)(prebuilt::MODULE.exports).is_some();
        if is_own && self.context.alive().is_ok() {
            self.load(prebuilt::MODULE).map_err(|source| LaunchError::Load {
                kernel: demand.kernel,
                source: Box::new(source),
            })?;
        }
        self.find(demand).ok_or_else(|| self.not_exported(demand))
    }

    fn find(&self, demand: &Demand) -> Option<Function> {
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        modules.iter().rev().find_map(|module| module.of(demand.entry))
    }

    fn not_exported(&self, demand: &Demand) -> LaunchError {
        // A lost device has lost its modules as well.
        if let Err(source) = self.context.alive() {
            return LaunchError::Driver {
                kernel: demand.kernel,
                source,
            };
        }
        LaunchError::NotExported {
            kernel: demand.kernel,
            type_name: demand.type_name,
            device: self.context.name(),
        }
    }

    /// Shared memory that the library keeps for itself in a block of that many threads: none for one thread, which needs none.
    pub(crate) fn warp_size(&self) -> usize {
        WARP_SIZE
    }

    pub(crate) fn reserved(&self, threads: usize) -> usize {
        reserved_shared(threads, WARP_SIZE)
    }

    /// What a launch of this kernel may have, asked of the driver for its very function, and for blocks of that many threads.
    pub(crate) fn limits(
        &self,
        demand: &Demand,
        threads: Option<usize>,
        most_blocks: usize,
    ) -> Result<Limits, LaunchError> {
        let function = self.function(demand)?;
        let threads = threads.unwrap_or(self.options.threads_per_block);
        let shared_bytes = demand.shared_bytes(self.reserved(threads));
        let occupancy = match threads {
            // Refused by the plan.
            0 => (0, LimitedBy::ThreadsPerBlock),
            _ => function
                .occupancy(&self.context, threads, shared_bytes)
                .map_err(|source| LaunchError::Driver {
                    kernel: demand.kernel,
                    source,
                })?,
        };
        Ok(self.limits_of(
            function.threads_per_block,
            function.shared_bytes,
            occupancy,
            most_blocks,
        ))
    }

    /// What a kernel may have that needs nothing but its threads.
    pub(crate) fn most(&self, threads: usize, most_blocks: usize) -> Limits {
        let hardware = &self.context.hardware;
        let by_threads = hardware.threads_per_multiprocessor / threads.max(1);
        let occupancy = match hardware.blocks_per_multiprocessor {
            blocks if blocks <= by_threads => (blocks, LimitedBy::BlocksPerMultiprocessor),
            _ => (by_threads, LimitedBy::ThreadsPerMultiprocessor),
        };
        self.limits_of(
            hardware.threads_per_block,
            hardware.shared_bytes_per_block,
            occupancy,
            most_blocks,
        )
    }

    fn limits_of(
        &self,
        threads_per_block: usize,
        shared_bytes: usize,
        (blocks, limited_by): (usize, LimitedBy),
        most_blocks: usize,
    ) -> Limits {
        Limits {
            capacity: Capacity::Asked {
                multiprocessors: self.context.hardware.multiprocessors,
                blocks,
                limited_by,
                threads_per_block,
            },
            shared_bytes,
            blocks: most_blocks,
            offered: usize::MAX,
            taken: 0,
        }
    }

    /// Whether blocks of a launch can be resident together at all.
    pub(crate) fn is_cooperative(&self) -> bool {
        self.context.hardware.cooperative_launch
    }
}
