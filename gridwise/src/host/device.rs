//! Devices: finding, choosing and opening them.

use std::{collections::HashMap, env, fmt, panic::Location, str::FromStr};

use bytemuck::Pod;
use thiserror::Error;

use super::{
    buffer::{AllocationError, Buffer},
    cuda::{CudaOptions, GpuProperties},
    driver::DriverError,
    launch::{Demand, Grid, LaunchError, LaunchPlan, Placement, Terms, plan},
    load::LoadError,
    phases::{Costs, CostsKey},
    queue::{Queue, QueueOptions},
    residency::{Capacity, Limits, Residency},
    stream::Stream,
    tasks::KeptMemory,
};
use crate::{
    Module,
    backend::{
        check::{CheckDevice, model::Model},
        cpu::{self, CpuDevice},
    },
    kernel::{GridKernel, Kernel},
    sync::{Arc, Mutex},
};
#[cfg(feature = "cuda")]
use crate::{backend::cuda::host::CudaDevice, host::residency::LimitedBy};

/// Chooses the device that [`Device::from_env`] opens.
pub const DEVICE_VARIABLE: &str = "GRIDWISE_DEVICE";

/// How workers wait for the next launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitPolicy {
    /// Spin for ever: the fastest launches, at the price of a busy core for each worker.
    Active,
    /// Spin, then yield, then sleep after 10 ms without work.
    #[default]
    Adaptive,
    /// Sleep at once.
    Passive,
}

/// How to set up a CPU device.
///
/// As text, for [`Device::open`]: `cpu`, or `cpu:` and any of `blocks=2`, `threads=4`, `wait=active|adaptive|passive`,
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
/// Shared memory that a block can be given at most: handles count bytes in 32 bits.
const MOST_SHARED_BYTES: usize = 1 << 30;
/// Blocks of a grid, on every device.
const MOST_BLOCKS: usize = (1 << 31) - 1;

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

    fn validate(&self) -> Result<(), DeviceError> {
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

/// A device could not be opened.
#[derive(Debug, Error)]
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
         order=ascending|descending|random, schedule=random|pct|round_robin, separated by commas"
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

/// A device. Clones share it; it is closed with the last of them and of its queues.
///
/// A CPU device owns threads: open it once and keep it.
#[derive(Clone)]
pub struct Device {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Backend,
    costs: Mutex<HashMap<CostsKey, Costs>>,
    kept_memory: KeptMemory,
}

enum Backend {
    Cpu(CpuDevice),
    Check(CheckDevice),
    #[cfg(feature = "cuda")]
    Cuda(CudaDevice),
}

impl Device {
    /// Opens the device that the environment variable `GRIDWISE_DEVICE` names, else a CPU device with a block a core.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn from_env() -> Result<Self, DeviceError> {
        match env::var_os(DEVICE_VARIABLE) {
            // No device has a name that is not Unicode, so what stands for the rest of it in the error does no harm.
            Some(name) if !name.is_empty() => Self::open(&name.to_string_lossy()),
            _ => Self::cpu(CpuOptions::default()),
        }
    }

    /// Opens a device by name; [`CpuOptions`], [`CudaOptions`] and [`Model`] say what a name may hold.
    ///
    /// # Errors
    /// If there is no such device, an option is not understood or out of range, threads cannot be started, or a driver fails.
    pub fn open(name: &str) -> Result<Self, DeviceError> {
        let (kind, options) = name.split_once(':').unwrap_or((name, ""));
        match kind {
            "cpu" => Self::cpu(options.parse()?),
            "check" => Self::check(options.parse()?),
            "cuda" => Self::cuda(options.parse()?),
            _ => Err(DeviceError::Unknown { name: name.to_owned() }),
        }
    }

    /// Opens a CPU device.
    ///
    /// # Errors
    /// If an option is out of range, or threads cannot be started.
    pub fn cpu(options: CpuOptions) -> Result<Self, DeviceError> {
        options.validate()?;
        Ok(Self::new(Backend::Cpu(CpuDevice::open(options)?)))
    }

    /// Opens a checking device: a simulated one that finds what is wrong with the synchronisation of a kernel. See
    /// [`crate::check`].
    ///
    /// # Errors
    /// If a number of the model is out of range.
    pub fn check(model: Model) -> Result<Self, DeviceError> {
        model.validate()?;
        Ok(Self::new(Backend::Check(CheckDevice::open(model))))
    }

    /// Opens a CUDA device. However often one is opened, its memory is the same.
    ///
    /// # Errors
    /// If the program was built without CUDA, there is no driver or no such device, or the driver fails. And after a kernel has
    /// failed there: [`DriverError::Lost`], until all that belonged to the device is dropped.
    pub fn cuda(options: CudaOptions) -> Result<Self, DeviceError> {
        #[cfg(feature = "cuda")]
        return Ok(Self::new(Backend::Cuda(CudaDevice::open(options)?)));
        #[cfg(not(feature = "cuda"))]
        {
            let _ = options;
            Err(DeviceError::CudaNotBuilt)
        }
    }

    /// Makes the kernels of a compiled module known to a GPU: what [`export!`](crate::export) lists in the crate that was
    /// compiled. Devices that run kernels of the host know them all, and do nothing here.
    ///
    /// # Errors
    /// If the driver does not take the module, or it was compiled from another version of the kernels' source.
    pub fn load(&self, module: &Module) -> Result<(), LoadError> {
        match &self.inner.backend {
            Backend::Cpu(_) | Backend::Check(_) => {
                let _ = module;
                Ok(())
            }
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.load(*module),
        }
    }

    pub(crate) fn of_check(check: CheckDevice) -> Self {
        Self::new(Backend::Check(check))
    }

    /// The checking device behind this, if it is one.
    pub(crate) fn as_check(&self) -> Option<&CheckDevice> {
        match &self.inner.backend {
            Backend::Check(check) => Some(check),
            _ => None,
        }
    }

    /// The CUDA device behind this, if it is one.
    #[cfg(feature = "cuda")]
    pub(super) fn as_cuda(&self) -> Option<&CudaDevice> {
        match &self.inner.backend {
            Backend::Cuda(cuda) => Some(cuda),
            _ => None,
        }
    }

    /// Whether it is a GPU, which reaches no memory of the host.
    pub(super) fn is_gpu(&self) -> bool {
        #[cfg(feature = "cuda")]
        return self.as_cuda().is_some();
        #[cfg(not(feature = "cuda"))]
        false
    }

    /// Opens every device of this machine, with its default options: the CPU, then the GPUs. The checking device, which
    /// simulates one, is not among them. Why there are no GPUs, [`cuda::device_count`](super::cuda::device_count) says.
    ///
    /// # Errors
    /// If one that is there cannot be opened.
    pub fn all() -> Result<Vec<Self>, DeviceError> {
        let mut devices = vec![Self::cpu(CpuOptions::default())?];
        for ordinal in 0..super::cuda::device_count().unwrap_or(0) {
            devices.push(Self::cuda(CudaOptions {
                ordinal,
                ..CudaOptions::default()
            })?);
        }
        Ok(devices)
    }

    fn new(backend: Backend) -> Self {
        Self {
            inner: Arc::new(Inner {
                backend,
                costs: Mutex::default(),
                kept_memory: KeptMemory::default(),
            }),
        }
    }

    /// The name that opens a device like this one.
    pub fn name(&self) -> String {
        match &self.inner.backend {
            Backend::Cpu(cpu) => format!("cpu:{}", cpu.options),
            Backend::Check(check) => format!("check:{}", check.model()),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => format!("cuda:{}", cuda.options),
        }
    }

    /// What the device is, for people.
    pub fn properties(&self) -> DeviceProperties {
        match &self.inner.backend {
            Backend::Cpu(cpu) => DeviceProperties {
                name: self.name(),
                cores: cpu.topology.parallelism,
                cores_of_machine: cpu.topology.machine,
                limited_by: cpu.topology.limit,
                workers: cpu.options.resident_blocks * cpu.options.threads_per_block,
                threads_per_block: cpu.options.threads_per_block,
                shared_bytes: cpu.options.shared_bytes,
                wait: cpu.options.wait,
                gpu: None,
            },
            Backend::Check(check) => {
                let model = check.model();
                DeviceProperties {
                    name: self.name(),
                    cores: 1,
                    cores_of_machine: 1,
                    limited_by: CoreLimit::Machine,
                    // However they are cut into blocks.
                    workers: self.most_resident_blocks(),
                    threads_per_block: model.threads_per_block,
                    shared_bytes: model.shared_bytes,
                    wait: WaitPolicy::Passive,
                    gpu: None,
                }
            }
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => {
                let gpu = cuda.properties();
                DeviceProperties {
                    name: self.name(),
                    cores: gpu.multiprocessors,
                    cores_of_machine: gpu.multiprocessors,
                    limited_by: CoreLimit::Machine,
                    workers: gpu.multiprocessors * gpu.threads_per_multiprocessor,
                    threads_per_block: cuda.options.threads_per_block,
                    shared_bytes: cuda.shared_bytes(),
                    wait: WaitPolicy::Active,
                    gpu: Some(gpu),
                }
            }
        }
    }

    /// A queue with default options.
    pub fn queue(&self) -> Queue {
        self.queue_with(QueueOptions::default())
    }

    /// A queue.
    pub fn queue_with(&self, options: QueueOptions) -> Queue {
        Queue::new(self.clone(), options)
    }

    /// A buffer of `len` zeros.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[track_caller]
    pub fn zeroed<T: Pod>(&self, len: usize) -> Result<Buffer<T>, AllocationError> {
        #[cfg(feature = "cuda")]
        if let Backend::Cuda(cuda) = &self.inner.backend {
            return Buffer::on_gpu(len, |bytes| cuda.zeroed(bytes));
        }
        let mut buffer = Buffer::zeroed(len)?;
        if let Backend::Check(check) = &self.inner.backend {
            let made_at = Location::caller();
            buffer.lease_from(|start, bytes| check.adopt(start, bytes, size_of::<T>(), made_at));
        }
        Ok(buffer)
    }

    /// A buffer that is written as a whole before anything else: its elements need not be zero.
    #[track_caller]
    pub(crate) fn to_be_written<T: Pod>(&self, len: usize) -> Result<Buffer<T>, AllocationError> {
        #[cfg(feature = "cuda")]
        if let Backend::Cuda(cuda) = &self.inner.backend {
            return Buffer::on_gpu(len, |bytes| cuda.allocate(bytes));
        }
        self.zeroed(len)
    }

    /// How many blocks of this kernel fit together, with the device's own number of threads a block.
    pub fn residency<K: Kernel>(&self, kernel: &K) -> Residency {
        self.residency_of(Demand::of(kernel))
    }

    /// [`residency`](Self::residency) of a kernel that synchronises the grid.
    pub fn grid_residency<K: GridKernel>(&self, kernel: &K) -> Residency {
        self.residency_of(Demand::of_grid(kernel))
    }

    fn residency_of(&self, demand: Demand) -> Residency {
        let threads = self.default_threads();
        // A kernel that no module has fits nowhere; the launch says why.
        let limits = self.limits(&demand, None).unwrap_or_else(|_| Limits::not_loaded());
        limits.residency(threads, demand.shared_bytes(self.reserved(threads)))
    }

    /// The most blocks of any kernel that are resident together, with the device's own number of threads a block: the size for
    /// buffers with an element a block.
    pub fn most_resident_blocks(&self) -> usize {
        let threads = self.default_threads();
        let limits = match &self.inner.backend {
            Backend::Cpu(cpu) => limits_of_cpu(cpu),
            Backend::Check(check) => check.limits(MOST_BLOCKS),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.most(threads, MOST_BLOCKS),
        };
        limits.residency(threads, 0).blocks()
    }

    /// What a launch of a kernel may have, with that many threads a block or the device's own number.
    fn limits(&self, demand: &Demand, threads: Option<usize>) -> Result<Limits, LaunchError> {
        let _ = (demand, threads);
        match &self.inner.backend {
            Backend::Cpu(cpu) => Ok(limits_of_cpu(cpu)),
            Backend::Check(check) => Ok(check.limits(MOST_BLOCKS)),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.limits(demand, threads, MOST_BLOCKS),
        }
    }

    /// Shared memory that the library keeps for itself in a block of that many threads.
    fn reserved(&self, threads: usize) -> usize {
        match &self.inner.backend {
            Backend::Cpu(_) => cpu::reserved(threads),
            Backend::Check(check) => check.reserved(threads),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.reserved(threads),
        }
    }

    /// Elements of a tile, for kernels that read a tile twice: what stays in a core's cache meanwhile, or some for each thread of a block
    /// where a block has many.
    pub(crate) fn tile_len<T>(&self) -> usize {
        const CACHED_BYTES: usize = 64 << 10;
        const ELEMENTS_A_THREAD: usize = 16;
        match &self.inner.backend {
            Backend::Cpu(_) => (CACHED_BYTES / size_of::<T>().max(1)).max(1),
            _ => self.default_threads() * ELEMENTS_A_THREAD,
        }
    }

    /// Shared memory that a kernel may have in a block of that many threads: what the library keeps for itself is left out, and a little
    /// for gaps between its parts.
    pub(crate) fn free_shared_bytes(&self, threads: usize) -> usize {
        const GAPS: usize = 64;
        let bytes = match &self.inner.backend {
            Backend::Cpu(cpu) => cpu.options.shared_bytes,
            Backend::Check(check) => check.model().shared_bytes,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.shared_bytes(),
        };
        bytes.saturating_sub(self.reserved(threads) + GAPS)
    }

    /// Threads that run in lock step.
    pub(crate) fn warp_size(&self) -> usize {
        match &self.inner.backend {
            Backend::Cpu(_) => 1,
            Backend::Check(check) => check.model().warp_size,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.warp_size(),
        }
    }

    fn default_threads(&self) -> usize {
        match &self.inner.backend {
            Backend::Cpu(cpu) => cpu.options.threads_per_block,
            Backend::Check(check) => check.model().threads_per_block,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.options.threads_per_block,
        }
    }

    #[inline]
    pub(crate) fn plan(
        &self,
        demand: Demand,
        grid: Grid,
        placement: Placement,
        terms: Terms,
    ) -> Result<Option<LaunchPlan>, LaunchError> {
        let plan = plan(
            self.limits(&demand, grid.threads)?,
            self.default_threads(),
            |threads| self.reserved(threads),
            demand,
            grid,
            placement,
            terms,
        )?;
        #[cfg(feature = "cuda")]
        if let (Some(plan), Some(cuda), Placement::Together) = (&plan, self.as_cuda(), placement)
            && !cuda.is_cooperative()
        {
            return Err(LaunchError::NotResident {
                kernel: plan.kernel,
                requested: plan.blocks,
                capacity: 0,
                limited_by: LimitedBy::NoCooperativeLaunch,
            });
        }
        Ok(plan)
    }

    /// Whether the calling thread runs a kernel of this device.
    pub(crate) fn runs_here(&self) -> bool {
        match &self.inner.backend {
            Backend::Cpu(cpu) => cpu.runs_here(),
            Backend::Check(check) => check.runs_here(),
            // Its kernels run on no thread of the host.
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) => false,
        }
    }

    /// An error on a thread that runs a kernel of this device: a launch from there would wait for itself.
    pub(crate) fn refuse_nested(&self, kernel: &'static str) -> Result<(), LaunchError> {
        match self.runs_here() {
            true => Err(LaunchError::Nested { kernel }),
            false => Ok(()),
        }
    }

    /// Runs a plain launch that has been planned, on the stream of the queue.
    pub(super) fn launch<K: Kernel>(&self, stream: &Stream, plan: &LaunchPlan, kernel: K) -> Result<(), LaunchError> {
        let _ = stream;
        match &self.inner.backend {
            Backend::Cpu(cpu) => cpu.launch(plan, kernel),
            Backend::Check(check) => check.launch(plan, kernel),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.launch(stream.of_launch(cuda, plan)?, plan, kernel),
        }
    }

    /// Runs a cooperative launch that has been planned, on the stream of the queue.
    pub(super) fn launch_cooperative<K: GridKernel>(
        &self,
        stream: &Stream,
        plan: &LaunchPlan,
        kernel: K,
    ) -> Result<(), LaunchError> {
        let _ = stream;
        match &self.inner.backend {
            Backend::Cpu(cpu) => cpu.launch_cooperative(plan, kernel),
            Backend::Check(check) => check.launch_cooperative(plan, kernel),
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.launch_cooperative(stream.of_launch(cuda, plan)?, plan, kernel),
        }
    }

    /// Memory of runs of tasks, for the next ones. On the checking device each run has its own, so that it is known by where it
    /// was made.
    pub(crate) fn kept_memory(&self) -> Option<&KeptMemory> {
        self.as_check().is_none().then_some(&self.inner.kept_memory)
    }

    /// Measured costs of barriers and launches.
    pub(crate) fn costs(&self) -> &Mutex<HashMap<CostsKey, Costs>> {
        &self.inner.costs
    }
}

fn limits_of_cpu(cpu: &CpuDevice) -> Limits {
    Limits {
        capacity: Capacity::Workers(cpu.options.resident_blocks * cpu.options.threads_per_block),
        shared_bytes: cpu.options.shared_bytes,
        blocks: MOST_BLOCKS,
        taken: 0,
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Device({})", self.name())
    }
}

/// What limits the cores that a process may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CoreLimit {
    /// The machine: all its cores are usable.
    Machine,
    /// The affinity mask of the process, as `taskset` and batch systems set it.
    AffinityMask,
    /// The processor time that its cgroup is given, as containers set it.
    Quota,
}

impl fmt::Display for CoreLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Machine => "the machine",
            Self::AffinityMask => "the affinity mask",
            Self::Quota => "the cgroup quota",
        })
    }
}

/// What a device is. On a GPU its multiprocessors are the cores, and the threads that are resident together the workers.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceProperties {
    /// The name that opens a device like it.
    pub name: String,
    /// Cores' worth of time that the process may use.
    pub cores: usize,
    /// Cores of the machine.
    pub cores_of_machine: usize,
    /// What makes [`cores`](Self::cores) that number.
    pub limited_by: CoreLimit,
    /// Workers, the launching thread among them.
    pub workers: usize,
    /// Threads in each block, where a launch does not say.
    pub threads_per_block: usize,
    /// Bytes of shared memory that a block may hold.
    pub shared_bytes: usize,
    /// How workers wait for the next launch.
    pub wait: WaitPolicy,
    /// What else there is to say of a GPU.
    pub gpu: Option<GpuProperties>,
}

#[cfg(all(test, not(loom)))]
mod test {
    use super::*;

    #[test]
    fn the_name_of_a_device_opens_one_like_it() {
        for name in [
            "cpu:blocks=2,threads=1",
            "cpu:blocks=1,threads=2,wait=passive",
            "cpu:blocks=3,threads=1,wait=active,pin=off,shared=4096",
        ] {
            let device = Device::open(name).unwrap();
            assert_eq!(device.name(), name);
            assert_eq!(Device::open(&device.name()).unwrap().properties(), device.properties());
        }
    }
}
