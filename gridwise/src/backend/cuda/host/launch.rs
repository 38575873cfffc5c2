//! Launches: what is passed, what is waited for, and what a failure says.

use std::ffi::c_void;

use super::{
    CudaDevice,
    context::Current,
    driver::{RawFunction, Refusal},
    functions::{Function, with_gap},
    memory::DeviceMemory,
    status,
    stream::Stream,
};
use crate::{
    backend::cuda::parameters::{Context as Parameter, FAULT_TEXT, Fault, FaultKind, Parameters},
    host::{
        driver::DriverError,
        launch::{Demand, LaunchError, LaunchPlan},
        report::HangReport,
        residency::LimitedBy,
    },
    kernel::{
        GridKernel, Kernel,
        grid_barrier::{BarrierShape, GridState},
        hardware::SLOT_BYTES,
    },
    sync::lock,
};

/// Memory for the grid barrier of one launch at a time: words, and behind them slots.
#[derive(Debug)]
pub(super) struct GridScratch {
    memory: DeviceMemory,
    words_bytes: usize,
    slots: usize,
}

/// Slots are aligned to this, which is the size of one.
const SLOT: usize = SLOT_BYTES;

impl GridScratch {
    fn words_bytes(plan: &LaunchPlan) -> usize {
        (plan.barrier.words(plan.blocks) * size_of::<u32>()).next_multiple_of(SLOT)
    }

    fn is_enough(&self, plan: &LaunchPlan) -> bool {
        Self::words_bytes(plan) <= self.words_bytes && GridState::slots(plan.blocks) <= self.slots
    }

    fn state(&self, shape: BarrierShape) -> GridState {
        let words = self.memory.start();
        let slots = words.wrapping_add(self.words_bytes).cast();
        // SAFETY: memory of the device, large enough, and this launch's alone; it is zeroed before the launch.
        unsafe { GridState::new(words.cast(), slots, shape) }
    }
}

impl CudaDevice {
    /// Runs a plain launch. The plan has been checked.
    pub(crate) fn launch<K: Kernel>(&self, stream: &Stream, plan: &LaunchPlan, kernel: K) -> Result<(), LaunchError> {
        let function = self.function(&Demand::of(&kernel))?;
        let current = stream.context().enter().map_err(|source| refused(plan, source))?;
        let mut arguments = Arguments::new(stream, plan, GridState::none(), kernel);
        let launched = arguments.launch(function, plan, stream, &current);
        self.finish(stream, plan, &current, launched)
    }

    /// Runs a cooperative launch. The plan has been checked: its blocks are resident together.
    pub(crate) fn launch_cooperative<K: GridKernel>(
        &self,
        stream: &Stream,
        plan: &LaunchPlan,
        kernel: K,
    ) -> Result<(), LaunchError> {
        let function = self.function(&Demand::of_grid(&kernel))?;
        let scratch = self.take_scratch(plan)?;
        let current = stream.context().enter().map_err(|source| refused(plan, source))?;
        let mut arguments = Arguments::new(stream, plan, scratch.state(plan.barrier), kernel);
        let (at, bytes) = (scratch.memory.at(), scratch.words_bytes);
        // In front of the launch on its stream: the kernel begins when this has ended.
        // SAFETY: the scratch is this launch's alone.
        let cleared = current.raw(|driver| unsafe { driver.fill_8(at, 0, bytes, stream.raw()) });
        let launched = cleared.and_then(|()| arguments.launch_cooperative(function, plan, stream, &current));
        let end = self.finish(stream, plan, &current, launched);
        // What a failed launch had is never used again.
        if end.is_ok() {
            lock(&self.grid_scratch).push(scratch);
        }
        end
    }

    fn take_scratch(&self, plan: &LaunchPlan) -> Result<GridScratch, LaunchError> {
        let mut pool = lock(&self.grid_scratch);
        if let Some(index) = pool.iter().position(|scratch| scratch.is_enough(plan)) {
            return Ok(pool.swap_remove(index));
        }
        drop(pool);
        let words_bytes = GridScratch::words_bytes(plan);
        let slots = GridState::slots(plan.blocks);
        let bytes = words_bytes + slots * SLOT;
        match self.allocate(bytes) {
            Ok(Some(memory)) => Ok(GridScratch {
                memory,
                words_bytes,
                slots,
            }),
            Ok(None) => Err(LaunchError::OutOfMemory {
                kernel: plan.kernel,
                bytes,
            }),
            Err(source) => Err(refused(plan, source)),
        }
    }

    /// Waits for a launch, and says what became of it.
    pub(super) fn finish(
        &self,
        stream: &Stream,
        plan: &LaunchPlan,
        current: &Current<'_>,
        launched: Result<(), Refusal>,
    ) -> Result<(), LaunchError> {
        if let Err(refusal) = launched {
            return Err(self.not_launched(stream, plan, current, refusal));
        }
        let (end, late) = stream.finish(current, plan.timeout);
        let kernel = plan.kernel;
        match end {
            Ok(()) if late => Err(timed_out(plan)),
            Ok(()) => Ok(()),
            Err(refusal) => {
                let error = self.context.error(refusal);
                // SAFETY: the stream has come to its end.
                let fault = unsafe { stream.fault() };
                let whose = match fault {
                    None if !status::loses_the_device(refusal.status) => None,
                    _ => Some(kernel),
                };
                // Another launch on the device may have failed, and taken this one along.
                let before = self.context.alive();
                if let Some(kernel) = whose {
                    self.context.lose(kernel);
                }
                Err(match (fault, before) {
                    (Some(fault), _) => panicked(kernel, fault),
                    (None, Err(lost)) => refused(plan, lost),
                    (None, Ok(())) if late => timed_out(plan),
                    (None, Ok(())) if refusal.status == status::ILLEGAL_ADDRESS => {
                        LaunchError::IllegalAddress { kernel }
                    }
                    (None, Ok(())) => refused(plan, error),
                })
            }
        }
    }

    /// What a launch that did not begin means.
    pub(super) fn not_launched(
        &self,
        stream: &Stream,
        plan: &LaunchPlan,
        current: &Current<'_>,
        refusal: Refusal,
    ) -> LaunchError {
        // What was put in front of it ends before its memory is let go of.
        let _ = stream.finish(current, None);
        if status::loses_the_device(refusal.status) {
            self.context.lose(plan.kernel);
        }
        match refusal.status {
            status::COOPERATIVE_LAUNCH_TOO_LARGE => LaunchError::NotResident {
                kernel: plan.kernel,
                requested: plan.blocks,
                capacity: 0,
                limited_by: LimitedBy::OtherWork,
            },
            _ => refused(plan, self.context.error(refusal)),
        }
    }
}

/// What a kernel is given.
pub(super) struct Arguments<K>(Parameters<K>);

impl<K> Arguments<K> {
    pub(super) fn new(stream: &Stream, plan: &LaunchPlan, grid: GridState, kernel: K) -> Self {
        Self(Parameters {
            context: Parameter {
                fault: stream.fresh_fault(),
                dynamic_len: plan.dynamic_len,
                grid,
            },
            kernel,
        })
    }

    /// Where each of the function's parameters is: it has one.
    fn pointers(&mut self) -> [*mut c_void; 1] {
        [(&raw mut self.0).cast()]
    }

    pub(super) fn launch(
        &mut self,
        function: Function,
        plan: &LaunchPlan,
        stream: &Stream,
        current: &Current<'_>,
    ) -> Result<(), Refusal> {
        let (function, [blocks, threads, shared]) = shape(function, plan);
        let mut pointers = self.pointers();
        let (stream, pointers, none) = (stream.raw(), pointers.as_mut_ptr(), std::ptr::null_mut());
        // SAFETY: a function of this context, a pointer to its one parameter, whose layout was compared when it was loaded, and
        // which is copied by the call; what the kernel does is its author's promise.
        current.raw(|driver| unsafe {
            driver.launch_kernel(function, blocks, 1, 1, threads, 1, 1, shared, stream, pointers, none)
        })
    }

    fn launch_cooperative(
        &mut self,
        function: Function,
        plan: &LaunchPlan,
        stream: &Stream,
        current: &Current<'_>,
    ) -> Result<(), Refusal> {
        let (function, [blocks, threads, shared]) = shape(function, plan);
        let mut pointers = self.pointers();
        let (stream, pointers) = (stream.raw(), pointers.as_mut_ptr());
        // SAFETY: as above.
        current.raw(|driver| unsafe {
            driver.launch_cooperative(function, blocks, 1, 1, threads, 1, 1, shared, stream, pointers)
        })
    }
}

/// The plan's numbers, which were checked against the device's limits, all of them below 2³¹.
fn shape(function: Function, plan: &LaunchPlan) -> (RawFunction, [u32; 3]) {
    let numbers = [plan.blocks, plan.threads, with_gap(plan.shared_bytes)];
    (function.raw, numbers.map(|number| number as u32))
}

fn refused(plan: &LaunchPlan, source: DriverError) -> LaunchError {
    LaunchError::Driver {
        kernel: plan.kernel,
        source,
    }
}

fn timed_out(plan: &LaunchPlan) -> LaunchError {
    LaunchError::TimedOut {
        kernel: plan.kernel,
        after: plan.timeout.unwrap_or_default(),
        report: HangReport::not_told(plan.blocks, plan.threads),
    }
}

fn panicked(kernel: &'static str, fault: &Fault) -> LaunchError {
    LaunchError::Panicked {
        kernel,
        block: fault.block as usize,
        thread: fault.thread as usize,
        message: message(fault),
    }
}

/// What happened, and where.
fn message(fault: &Fault) -> String {
    let what = match fault.kind {
        FaultKind::OUT_OF_BOUNDS => {
            format!("index {} is out of bounds of a span of {}", fault.index, fault.len)
        }
        FaultKind::PANIC => "it panicked".to_owned(),
        kind => format!("a failure of kind {kind}"),
    };
    let file = &fault.file[..(fault.file_bytes as usize).min(FAULT_TEXT)];
    match fault.line {
        0 => what,
        line => format!("{what}, at {}:{line}:{}", String::from_utf8_lossy(file), fault.column),
    }
}
