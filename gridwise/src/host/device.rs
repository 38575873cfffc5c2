//! Devices: finding, choosing and opening them.

use std::{collections::HashMap, env, fmt, panic::Location};

use bytemuck::Pod;

use super::{
    buffer::{AllocationError, Buffer},
    cuda::{CudaOptions, GpuProperties},
    launch::{Demand, Grid, LaunchError, LaunchPlan, Placement, RunId, Terms, plan},
    load::LoadError,
    phases::{Costs, CostsKey},
    queue::{Queue, QueueOptions},
    residency::{Capacity, LimitedBy, Limits, Residency},
    stream::Stream,
    tasks::KeptMemory,
    trace::Tracer,
};
#[cfg(feature = "cuda")]
use crate::backend::cuda::host::CudaDevice;
use crate::{
    Module,
    backend::{
        check::{CheckDevice, model::Model},
        cpu::{self, CpuDevice},
        nesting::{self, Number},
    },
    kernel::{GridKernel, Kernel},
    sync::{Arc, Mutex},
};

mod cpu_options;
mod error;

pub use cpu_options::{CpuOptions, WaitPolicy};
pub use error::DeviceError;

/// Chooses the device that [`Device::from_env`] opens.
pub const DEVICE_VARIABLE: &str = "GRIDWISE_DEVICE";

/// Blocks of a grid, on every device.
const MOST_BLOCKS: usize = (1 << 31) - 1;

/// A device. Clones share it; it is closed with the last of them and of its queues.
///
/// A CPU device owns threads: open it once and keep it.
///
/// ```
/// # use gridwise::prelude::*;
/// let device = Device::open("cpu:blocks=4,threads=2")?;
/// assert_eq!((device.most_resident_blocks(), device.properties().workers), (4, 8));
/// let zeros = device.zeroed::<f32>(3)?;
/// assert_eq!(device.queue().download(&zeros)?, [0.0; 3]);
/// # Ok::<(), gridwise::Error>(())
/// ```
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

    /// Opens a CPU device whose launches are recorded, [as a trace](super::trace).
    ///
    /// They take longer than others: by some 100 ns for each barrier that a thread arrives at.
    ///
    /// # Errors
    /// As [`open`](Self::open); and if the name is not that of a CPU device.
    pub fn open_traced(name: &str, tracer: &Tracer) -> Result<Self, DeviceError> {
        match name.split_once(':').unwrap_or((name, "")) {
            ("cpu", options) => {
                let options: CpuOptions = options.parse()?;
                let device = CpuDevice::open(options, Some(tracer.clone()))?;
                Ok(Self::new(Backend::Cpu(device)))
            }
            ("check" | "cuda", _) => Err(DeviceError::NotTraced { name: name.to_owned() }),
            _ => Err(DeviceError::Unknown { name: name.to_owned() }),
        }
    }

    /// Opens a CPU device.
    ///
    /// # Errors
    /// If an option is out of range, or threads cannot be started.
    pub fn cpu(options: CpuOptions) -> Result<Self, DeviceError> {
        options.validate()?;
        Ok(Self::new(Backend::Cpu(CpuDevice::open(options, None)?)))
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
    /// failed there: [`DriverError::Lost`](super::driver::DriverError::Lost), until all that belonged to the device is dropped.
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

    /// Announces launches that are parts of one run, to a device that looks at the run as a whole.
    pub(crate) fn begin_run(&self) -> Option<RunId> {
        self.as_check().map(CheckDevice::begin_run)
    }

    /// The run is over: what it promised is looked at, if it `succeeded`.
    pub(crate) fn end_run(&self, run: Option<RunId>, kernel: &'static str, succeeded: bool) -> Result<(), LaunchError> {
        match (self.as_check(), run) {
            (Some(check), Some(run)) => check.end_run(run, kernel, succeeded),
            _ => Ok(()),
        }
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
        let residency = self.residency_of(Demand::of_grid(kernel));
        if self.takes_cooperative_launches() {
            return residency;
        }
        Residency {
            blocks_per_multiprocessor: 0,
            limited_by: LimitedBy::NoCooperativeLaunch,
            ..residency
        }
    }

    fn takes_cooperative_launches(&self) -> bool {
        match &self.inner.backend {
            Backend::Cpu(_) | Backend::Check(_) => true,
            #[cfg(feature = "cuda")]
            Backend::Cuda(cuda) => cuda.is_cooperative(),
        }
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
    #[inline]
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
    #[inline]
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

    #[inline]
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
        if let (Some(plan), Placement::Together) = (&plan, placement)
            && !self.takes_cooperative_launches()
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

    /// [`plan`](Self::plan), for work that there is whatever the grid's frames: without any it has one block.
    pub(super) fn plan_all_the_same(
        &self,
        demand: Demand,
        grid: Grid,
        placement: Placement,
        terms: Terms,
    ) -> Result<LaunchPlan, LaunchError> {
        if let Some(plan) = self.plan(demand, grid, placement, terms)? {
            return Ok(plan);
        }
        match self.plan(demand, grid.of_one_block(), placement, terms)? {
            Some(plan) => Ok(plan),
            None => unreachable!("a grid of one block is a launch"),
        }
    }

    /// By what threads of the host know that they are in its kernels. `None` if those run on none.
    #[inline]
    pub(super) fn number(&self) -> Option<Number> {
        match &self.inner.backend {
            Backend::Cpu(cpu) => Some(cpu.number),
            Backend::Check(check) => Some(check.number),
            #[cfg(feature = "cuda")]
            Backend::Cuda(_) => None,
        }
    }

    /// Whether the calling thread runs a kernel of this device.
    #[inline]
    pub(crate) fn runs_here(&self) -> bool {
        self.number().is_some_and(nesting::is_inside)
    }

    /// An error on a thread that runs a kernel of this device: a launch from there would wait for itself.
    #[inline]
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

#[inline]
fn limits_of_cpu(cpu: &CpuDevice) -> Limits {
    Limits {
        capacity: Capacity::Workers(cpu.options.resident_blocks * cpu.options.threads_per_block),
        shared_bytes: cpu.options.shared_bytes,
        blocks: MOST_BLOCKS,
        offered: usize::MAX,
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
    /// How workers wait.
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
