//! The checking device: a simulated machine that says what is wrong with a kernel's synchronisation.
//!
//! [`model`] is what the machine is made of, [`engine`] runs a launch, [`scheduler`] decides what the machine leaves open,
//! [`memory`] judges every access. See the `README.md` files beside them; [`crate::check`] is the public side.

use std::{
    any::Any,
    collections::{BTreeMap, HashMap},
    fmt,
    panic::Location,
};

use corosensei::stack::DefaultStack;

use crate::{
    backend::nesting::{self, Number},
    check::finding::{Finding, Findings, Kind},
    host::{
        launch::{LaunchError, LaunchPlan, RunId},
        memory::Memory as HostMemory,
        residency::Limits,
    },
    kernel::{
        GridKernel, Kernel, SharedLayout,
        grid_barrier::GridState,
        hardware::{Place, SLOT_BYTES, reserved_shared},
        phased::duplicate,
        shared::SharedCursor,
    },
    sync::{Arc, Mutex, lock},
};

mod acc;
mod access;
mod coverage;
mod engine;
mod fault;
mod hang;
mod meet;
pub(crate) mod memory;
pub(crate) mod model;
#[cfg(all(test, not(loom)))]
pub(crate) mod mutation;
mod progress;
mod promise;
mod run;
pub(crate) mod scheduler;
mod state;
#[cfg(all(test, not(loom)))]
mod test;
mod unstarted;

use acc::Check;
use engine::{Engine, most_threads};
use memory::{Memory, RegionKind};
use model::{Model, Schedule};
use promise::LeftOver;
use run::Run;
use scheduler::{Pct, Random, RoundRobin, Scheduler};
use state::Failure;

/// Unwinds a thread that has used an index which is none. It is not a panic: the hook does not run.
struct OutOfBounds {
    element: Option<Element>,
    location: &'static Location<'static>,
    message: String,
}

/// An element beyond a view.
#[derive(Clone, Copy, Debug)]
struct Element {
    /// Where the view starts: an address, or an offset in shared memory.
    view: Result<usize, usize>,
    bytes: usize,
    index: usize,
}

/// Ends a thread of a launch of a checking device that has used an index which is none: the element of the view at `place`.
/// Anywhere else it returns.
#[track_caller]
pub(crate) fn out_of_bounds<T>(element: Option<(Place<T>, usize)>, message: fmt::Arguments<'_>) {
    if !nesting::is_checked() {
        return;
    }
    let element = element.map(|(place, index)| Element {
        view: address(place),
        bytes: size_of::<T>(),
        index,
    });
    std::panic::resume_unwind(Box::new(OutOfBounds {
        element,
        location: Location::caller(),
        message: message.to_string(),
    }));
}

/// Where a place lies: an address, or an offset in shared memory.
fn address<T>(place: Place<T>) -> Result<usize, usize> {
    match place {
        Place::Global(pointer) => Ok(pointer.expose_provenance()),
        Place::Shared(offset) => Err(offset),
    }
}

/// What was explored, for reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Explored {
    pub(crate) launches: u64,
    pub(crate) operations: u64,
    pub(crate) switches: u64,
}

/// A simulated device. Launches run on the thread that asks for them, one at a time.
pub(crate) struct CheckDevice {
    pub(crate) number: Number,
    model: Mutex<Model>,
    buffers: Arc<Mutex<Buffers>>,
    session: Mutex<Session>,
}

/// What launches use one after another.
struct Session {
    /// `None` while a launch has it, and after [`CheckDevice::into_parts`].
    scheduler: Option<Box<dyn Scheduler>>,
    stacks: Stacks,
    findings: Vec<Finding>,
    explored: Explored,
    left_over: LeftOver,
    /// Runs that are under way, between two of their launches.
    runs: HashMap<RunId, Run>,
    runs_begun: u32,
}

impl Session {
    /// Keeps findings that are not known yet.
    fn keep(&mut self, findings: &[Finding]) {
        for finding in findings {
            if !self.findings.iter().any(|other| other.is_like(finding)) {
                self.findings.push(finding.clone());
            }
        }
    }
}

/// Stacks of coroutines that are not running.
#[derive(Default)]
pub(crate) struct Stacks(Vec<DefaultStack>);

// SAFETY: a stack is memory, and these are not in use by any coroutine.
unsafe impl Send for Stacks {}

/// The buffers of a device, by address.
#[derive(Default)]
struct Buffers {
    made: usize,
    living: BTreeMap<usize, BufferEntry>,
}

#[derive(Clone, Copy)]
struct BufferEntry {
    number: usize,
    bytes: usize,
    element_bytes: usize,
    made_at: &'static Location<'static>,
}

/// Keeps a buffer known to its device for as long as it lives.
struct Lease {
    buffers: Arc<Mutex<Buffers>>,
    start: usize,
}

impl Drop for Lease {
    fn drop(&mut self) {
        lock(&self.buffers).living.remove(&self.start);
    }
}

impl CheckDevice {
    /// A device with the scheduler that its model names.
    pub(crate) fn open(model: Model) -> Self {
        let mut scheduler: Box<dyn Scheduler> = match model.schedule {
            Schedule::RoundRobin => Box::new(RoundRobin::default()),
            Schedule::Random => Box::new(Random::new(model.seed, 0)),
            Schedule::Pct => Box::new(Pct::new(model.seed, 3, 0, None)),
        };
        let mut model = model;
        if let Some(replay) = crate::check::replay_from_env() {
            (model, scheduler) = replay.on(model);
        }
        scheduler.begin();
        Self::with_scheduler(model, scheduler, Stacks::default())
    }

    pub(crate) fn with_scheduler(model: Model, scheduler: Box<dyn Scheduler>, stacks: Stacks) -> Self {
        Self {
            number: Number::new(true),
            model: Mutex::new(model),
            buffers: Arc::default(),
            session: Mutex::new(Session {
                scheduler: Some(scheduler),
                stacks,
                findings: Vec::new(),
                explored: Explored::default(),
                left_over: LeftOver::default(),
                runs: HashMap::new(),
                runs_begun: 0,
            }),
        }
    }

    /// Takes the device apart: its scheduler (`None` if a launch still has it), stacks, findings and figures.
    pub(crate) fn take_parts(&self) -> (Option<Box<dyn Scheduler>>, Stacks, Vec<Finding>, Explored) {
        let mut session = lock(&self.session);
        (
            session.scheduler.take(),
            std::mem::take(&mut session.stacks),
            std::mem::take(&mut session.findings),
            session.explored,
        )
    }

    #[track_caller]
    pub(crate) fn findings(&self) -> Vec<Finding> {
        assert!(
            !nesting::is_inside(self.number),
            "the findings of a device were asked for from inside a kernel of it, before there are any; ask after the launch"
        );
        lock(&self.session).findings.clone()
    }

    pub(crate) fn model(&self) -> Model {
        *lock(&self.model)
    }

    /// Changes the device between launches.
    pub(crate) fn set_model(&self, model: Model) {
        *lock(&self.model) = model;
    }

    pub(crate) fn limits(&self, blocks: usize) -> Limits {
        self.model().limits(blocks)
    }

    /// Shared memory that a block keeps for collectives.
    pub(crate) fn reserved(&self, threads: usize) -> usize {
        if threads == 1 {
            0
        } else {
            reserved_shared(threads, self.model().warp_size)
        }
    }

    /// Begins a run of several launches.
    pub(crate) fn begin_run(&self) -> RunId {
        let mut session = lock(&self.session);
        session.runs_begun = session.runs_begun.wrapping_add(1);
        RunId::new(session.runs_begun).unwrap_or(RunId::MIN)
    }

    /// Ends a run. What it promised is looked at if it `succeeded`.
    pub(crate) fn end_run(&self, run: RunId, kernel: &'static str, succeeded: bool) -> Result<(), LaunchError> {
        let mut session = lock(&self.session);
        let findings = session.runs.remove(&run).map(|run| run.open).unwrap_or_default();
        if !succeeded || findings.is_empty() {
            return Ok(());
        }
        session.keep(&findings);
        let findings = Findings(findings);
        Err(LaunchError::Faults { kernel, findings })
    }

    /// Makes a buffer known. It is forgotten when the result is dropped.
    pub(crate) fn adopt(
        &self,
        start: *const u8,
        bytes: usize,
        element_bytes: usize,
        made_at: &'static Location<'static>,
    ) -> Option<Box<dyn Any + Send + Sync>> {
        if bytes == 0 {
            return None;
        }
        let start = start.expose_provenance();
        let mut buffers = lock(&self.buffers);
        let number = buffers.made;
        buffers.made += 1;
        buffers.living.insert(
            start,
            BufferEntry {
                number,
                bytes,
                element_bytes,
                made_at,
            },
        );
        Some(Box::new(Lease {
            buffers: self.buffers.clone(),
            start,
        }))
    }

    /// Runs a plain launch. The plan has been checked.
    pub(crate) fn launch<K: Kernel>(&self, plan: &LaunchPlan, kernel: K) -> Result<(), LaunchError> {
        let reserved = self.reserved(plan.threads);
        self.fly::<K::Shared>(plan, false, &|acc| {
            // The library's own tests weaken its protocols, an operation at a time.
            #[cfg(test)]
            let acc = crate::kernel::mutant::Mutated::new(acc);
            // SAFETY: `Kernel` lets the runtime copy it.
            let kernel = unsafe { duplicate(&kernel) };
            kernel.run(acc, shared_of::<K::Shared>(reserved, plan.dynamic_len));
        })
    }

    /// Runs a cooperative launch. The plan has been checked: its blocks are resident together.
    pub(crate) fn launch_cooperative<K: GridKernel>(&self, plan: &LaunchPlan, kernel: K) -> Result<(), LaunchError> {
        let reserved = self.reserved(plan.threads);
        self.fly::<K::Shared>(plan, true, &|acc| {
            // As in `launch`.
            #[cfg(test)]
            let acc = crate::kernel::mutant::Mutated::new(acc);
            // SAFETY: `GridKernel` lets the runtime copy it.
            let kernel = unsafe { duplicate(&kernel) };
            kernel.run(acc, shared_of::<K::Shared>(reserved, plan.dynamic_len));
        })
    }

    /// Runs a launch of a kernel with the shared memory `S`.
    fn fly<S: SharedLayout>(
        &self,
        plan: &LaunchPlan,
        cooperative: bool,
        body: &dyn Fn(Check<'_>),
    ) -> Result<(), LaunchError> {
        let kernel = plan.kernel;
        if nesting::is_inside(self.number) {
            return Err(LaunchError::Nested { kernel });
        }
        let model = self.model();
        let mut session = lock(&self.session);
        let Some(scheduler) = session.scheduler.take() else {
            return Err(LaunchError::Nested { kernel });
        };

        let out_of_memory = |bytes| LaunchError::OutOfMemory { kernel, bytes };
        let mut memory = Memory::new(model.exact, model.weak_memory);
        let mut buffers: Vec<_> = lock(&self.buffers)
            .living
            .iter()
            .map(|(start, entry)| (*start, *entry))
            .collect();
        buffers.sort_by_key(|(_, entry)| entry.number);
        for (start, entry) in buffers {
            let kind = RegionKind::Buffer {
                number: entry.number,
                made_at: entry.made_at,
                element_bytes: entry.element_bytes,
            };
            memory.add(start, entry.bytes, kind);
        }

        let shared: S = shared_of(self.reserved(plan.threads), plan.dynamic_len);
        shared.arrays(&mut |bytes, element_bytes| memory.add_shared_array(bytes, element_bytes));

        // What blocks hold lives until the launch is over.
        let limits = self.limits(usize::MAX);
        let resident = limits.residency(plan.threads, plan.shared_bytes).blocks();
        let seats = resident.saturating_sub(model.held).max(1).min(plan.blocks);
        let threads = plan.threads * seats;
        if threads > most_threads() {
            session.scheduler = Some(scheduler);
            return Err(LaunchError::NoStacks { kernel, threads });
        }
        let arena_bytes = plan.shared_bytes.max(1);
        let mut arenas = Vec::new();
        let mut regions = Vec::new();
        for _ in 0..seats {
            let arena = match HostMemory::zeroed(arena_bytes) {
                Some(arena) => arena,
                None => {
                    session.scheduler = Some(scheduler);
                    return Err(out_of_memory(arena_bytes * seats));
                }
            };
            let start = arena.start().expose_provenance();
            let reserved = self.reserved(plan.threads);
            regions.push((memory.add(start, arena_bytes, RegionKind::Shared { reserved }), start));
            arenas.push(arena);
        }
        let grid_bytes = match cooperative {
            true => (
                plan.barrier.words(plan.blocks) * 4,
                GridState::slots(plan.blocks) * SLOT_BYTES,
            ),
            false => (0, 0),
        };
        let grid_memory = (HostMemory::zeroed(grid_bytes.0), HostMemory::zeroed(grid_bytes.1));
        let grid = match &grid_memory {
            (Some(words), Some(slots)) if cooperative => {
                memory.add(
                    words.start().expose_provenance(),
                    words.bytes(),
                    RegionKind::GridBarrier,
                );
                memory.add(
                    slots.start().expose_provenance(),
                    slots.bytes(),
                    RegionKind::GridReduction,
                );
                // SAFETY: zeroed, large enough, and this launch's alone.
                Some(unsafe { GridState::new(words.start().cast(), slots.start().cast(), plan.barrier) })
            }
            (Some(_), Some(_)) => None,
            _ => {
                session.scheduler = Some(scheduler);
                return Err(out_of_memory(grid_bytes.0 + grid_bytes.1));
            }
        };

        let left_over = std::mem::take(&mut session.left_over);
        let mut engine = Engine::new(plan, model, grid, memory, &regions, scheduler, left_over);
        if let Some(run) = plan.run.and_then(|run| session.runs.remove(&run)) {
            engine.resume_run(run);
        }
        let run = nesting::inside(self.number, || engine.run(body, &mut session.stacks.0));
        let elapsed = engine.elapsed();
        let mut state = engine.state.into_inner();
        if let Some(run) = plan.run {
            session.runs.insert(run, state.leave_run());
        }
        let mut findings = std::mem::take(&mut state.findings);
        if let Some(Failure::Panicked { place, message }) = &mut state.failure {
            let mut finding = Finding::new(Kind::Panic, kernel, *place);
            finding.note = Some(std::mem::take(message));
            state.sign(&mut finding);
            findings.push(finding);
        }
        session.scheduler = Some(state.scheduler);
        session.left_over = state.left_over;
        session.explored.launches += 1;
        session.explored.operations += state.steps;
        session.explored.switches += state.switches;
        if run.is_err() {
            return Err(LaunchError::NoStacks { kernel, threads });
        }
        match state.failure {
            Some(Failure::TimedOut(report)) if findings.is_empty() => {
                return report.map_or(Ok(()), |report| {
                    Err(LaunchError::TimedOut {
                        kernel,
                        after: plan.timeout.unwrap_or(elapsed),
                        report,
                    })
                });
            }
            _ => {}
        }
        session.keep(&findings);
        let common = match findings.as_slice() {
            [] => return Ok(()),
            [alone] => as_elsewhere(alone),
            _ => None,
        };
        Err(common.unwrap_or(LaunchError::Faults {
            kernel,
            findings: Findings(findings),
        }))
    }
}

/// The error that every device gives for a fault that every device sees.
fn as_elsewhere(finding: &Finding) -> Option<LaunchError> {
    let kernel = finding.kernel;
    match (finding.kind, &finding.hang, &finding.note) {
        (Kind::Panic | Kind::OutOfBounds, _, Some(message)) => Some(LaunchError::Panicked {
            kernel,
            block: finding.first.block,
            thread: finding.first.thread,
            message: match finding.kind {
                // No hook has told the place.
                Kind::OutOfBounds => format!("{message}, at {}", finding.first.location),
                _ => message.clone(),
            },
        }),
        (Kind::StepBudget, ..) => None,
        (_, Some(report), _) => Some(LaunchError::Deadlock {
            kernel,
            report: report.clone(),
        }),
        _ => None,
    }
}

fn shared_of<S: SharedLayout>(reserved: usize, dynamic_len: usize) -> S {
    S::place(&mut SharedCursor::new(reserved, dynamic_len))
}
