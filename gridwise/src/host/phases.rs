//! Runs of phased kernels: one resident grid, or one launch a phase, from one source.

use std::{
    fmt,
    time::{Duration, Instant},
};

use super::{
    buffer::{Buffer, CopyError},
    device::Device,
    error::Error,
    launch::{Blocks, Demand, LaunchError, LaunchPlan, Placement, RunId, Terms},
    options::Options,
    queue::{Queue, QueueOptions},
    report::HangReport,
    residency::LimitedBy,
};
use crate::{
    kernel::{
        Phase, Phased, SpanMut,
        grid_barrier::BarrierShape,
        measure::{Barriers, Nothing, ROUNDS},
        phased::{
            PersistentForm, RECORD_BARRIERS, RECORD_PHASES, RECORD_SAMPLES, RECORD_STEPS, RECORD_WORDS, RELAUNCH_WORDS,
            RelaunchForm, duplicate,
        },
    },
    sync::lock,
};

#[cfg(feature = "cuda")]
mod replay;

/// How to run the phases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Strategy {
    /// Persistent if the grid fits and the measured costs favour it, else relaunch. For tasks: persistent, but for tasks that make
    /// none, which are one generation.
    #[default]
    Auto,
    /// One cooperative launch with grid barriers between the phases. For tasks: one launch whose blocks feed each other.
    Persistent,
    /// One launch a phase. For tasks: one a generation.
    Relaunch,
}

/// What was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Structure {
    /// One cooperative launch with grid barriers between the phases, or one launch whose blocks feed each other with tasks.
    Persistent,
    /// One launch a phase, or a generation of tasks.
    Relaunch,
}

impl fmt::Display for Structure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Persistent => "persistent",
            Self::Relaunch => "relaunch",
        })
    }
}

/// Why it was run so.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// It was asked for.
    Asked,
    /// There was nothing to do: a grid without blocks, or an algorithm that had its answer before it ran anything.
    NothingToDo,
    /// The grid cannot be resident.
    NotResident {
        /// Blocks of the grid.
        requested: usize,
        /// Blocks that fit.
        capacity: usize,
        /// What keeps more from fitting.
        limited_by: LimitedBy,
    },
    /// Tasks that make no tasks: there is one generation, and nothing to wait for.
    OneGeneration,
    /// Tasks that make tasks: blocks that feed each other wait for no launch, and need no room for a whole generation.
    Fed,
    /// The checking device has no times to compare: barriers between phases show more faults.
    Simulated,
    /// The kernels that measure are in no module that the device has loaded; a grid barrier is the cheaper on most devices.
    NotMeasured,
    /// A grid barrier or a launch, whichever is cheaper on this device for this grid.
    Boundary {
        /// Measured time of a grid barrier.
        barrier: Duration,
        /// Measured time of a launch.
        launch: Duration,
    },
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("it was asked for"),
            Self::Fed => f.write_str("its blocks feed each other"),
            Self::OneGeneration => f.write_str("the tasks make no others"),
            Self::Simulated => f.write_str("a simulated device has no times to compare"),
            Self::NotMeasured => f.write_str("the costs of barriers and launches could not be measured here"),
            Self::NothingToDo => f.write_str("there was nothing to do"),
            Self::NotResident {
                requested,
                capacity,
                limited_by,
            } => {
                write!(
                    f,
                    "{requested} blocks cannot be resident together, {capacity} can, limited by {limited_by}"
                )
            }
            Self::Boundary { barrier, launch } => {
                write!(f, "a grid barrier takes {barrier:.1?} here, a launch {launch:.1?}")
            }
        }
    }
}

/// How to run a phased kernel.
pub type RunOptions = Options<PhaseSettings>;

/// What there is to choose for phases; see [`RunOptions`].
#[derive(Clone, Copy, Debug)]
pub struct PhaseSettings {
    check_every: usize,
}

impl Default for PhaseSettings {
    fn default() -> Self {
        Self { check_every: 1 }
    }
}

/// Steps that the host does not look at in between, at most.
const MOST_UNSEEN: usize = 1024;

impl Options<PhaseSettings> {
    /// By relaunch, the host looks every that many steps whether the run is over; launches past the end do nothing. At least 1, and
    /// at most 1024, so that a run that is over ends.
    pub fn check_every(mut self, steps: usize) -> Self {
        self.own.check_every = steps.clamp(1, MOST_UNSEEN);
        self
    }
}

/// What a run did.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RunReport {
    /// What was run.
    pub structure: Structure,
    /// Why.
    pub reason: Reason,
    /// Steps done.
    pub steps: usize,
    /// Blocks of the grid.
    pub blocks: usize,
    /// Threads in each block.
    pub threads: usize,
    /// Time of the whole run.
    pub elapsed: Duration,
    /// Time between two boundaries in which the average block worked, where it was measured: persistent runs of 32 steps and
    /// more, every 32nd of which is timed.
    pub phase: Option<Duration>,
    /// Work of the slowest block over that of the average block, where it was measured.
    pub imbalance: Option<f64>,
    /// Time that the average block spent in grid barriers, waiting for slower blocks included: estimated from the timed steps,
    /// and no more than the whole run took.
    pub in_barriers: Option<Duration>,
}

impl RunReport {
    /// The report of no run at all.
    pub(crate) fn nothing_to_do() -> Self {
        nothing(Structure::Persistent, Reason::NothingToDo)
    }

    /// Adds a later run of the same work: steps and times add up, the rest is that of the later run where it was measured.
    pub(crate) fn add(&mut self, later: &Self) {
        let sum = |a: Option<Duration>, b: Option<Duration>| match (a, b) {
            (Some(a), Some(b)) => Some(a + b),
            (a, b) => a.or(b),
        };
        *self = Self {
            steps: self.steps + later.steps,
            elapsed: self.elapsed + later.elapsed,
            phase: later.phase.or(self.phase),
            imbalance: later.imbalance.or(self.imbalance),
            in_barriers: sum(self.in_barriers, later.in_barriers),
            ..*later
        };
    }
}

/// What took `sampled` nanoseconds in that many timed steps, in all of the run's steps.
fn of_all_steps(sampled: u64, samples: u64, steps: u64) -> u64 {
    (sampled as f64 / samples.max(1) as f64 * steps as f64) as u64
}

/// The grid of a run that is still to come.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settled {
    /// The options asked for, with exactly this grid.
    pub(crate) options: RunOptions,
    pub(crate) blocks: usize,
    /// Threads in each block.
    pub(crate) threads: usize,
}

/// What costs are measured for: blocks, threads in each, and the barrier.
pub(crate) type CostsKey = (usize, usize, BarrierShape);

/// What boundaries between phases cost on a device, for a grid.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Costs {
    /// Time of a grid barrier.
    pub barrier: Duration,
    /// Time of a launch with nothing to do.
    pub launch: Duration,
}

impl Device {
    /// What a grid barrier and a launch take on a grid of all resident blocks. Measured on the first call, which takes some
    /// milliseconds, and kept.
    ///
    /// # Errors
    /// If the measurement's launches fail.
    pub fn boundary_costs(&self) -> Result<Costs, Error> {
        let residency = self.grid_residency(&Barriers {
            nanoseconds: SpanMut::new(&mut []),
        });
        let blocks = residency.blocks();
        self.costs_of((blocks, residency.threads_per_block, BarrierShape::for_blocks(blocks)))
    }

    /// Measures barrier and launch for a grid, once a device.
    fn costs_of(&self, key: CostsKey) -> Result<Costs, Error> {
        if let Some(costs) = lock(self.costs()).get(&key) {
            return Ok(*costs);
        }
        let costs = measure(self, key)?;
        lock(self.costs()).insert(key, costs);
        Ok(costs)
    }
}

impl Queue {
    /// Runs a phased kernel to its end.
    ///
    /// # Errors
    /// As [`launch`](Self::launch); with [`Strategy::Persistent`], also if the grid cannot be resident.
    pub fn run<P: Phased>(&self, phases: P, options: impl Into<RunOptions>) -> Result<RunReport, Error> {
        const { assert!(P::PHASES > 0, "a step has at least one phase") };
        self.device().refuse_nested(P::NAME)?;
        let options = options.into();
        let (structure, reason) = self.choose(&phases, options)?;
        match structure {
            Structure::Persistent => self.run_persistent(phases, options, reason),
            Structure::Relaunch => self.run_relaunch(phases, options, reason),
        }
    }

    fn choose<P: Phased>(&self, phases: &P, options: RunOptions) -> Result<(Structure, Reason), Error> {
        match options.strategy {
            Strategy::Persistent => return Ok((Structure::Persistent, Reason::Asked)),
            Strategy::Relaunch => return Ok((Structure::Relaunch, Reason::Asked)),
            Strategy::Auto => {}
        }
        let plan = match self.plan_phases(phases, options, Placement::Together) {
            Ok(plan) => plan,
            Err(LaunchError::NotResident {
                requested,
                capacity,
                limited_by,
                ..
            }) => {
                return Ok((
                    Structure::Relaunch,
                    Reason::NotResident {
                        requested,
                        capacity,
                        limited_by,
                    },
                ));
            }
            Err(error) => return Err(error.into()),
        };
        let Some(plan) = plan else {
            return Ok((Structure::Persistent, Reason::NothingToDo));
        };
        if self.device().as_check().is_some() {
            return Ok((Structure::Persistent, Reason::Simulated));
        }
        let Costs { barrier, launch } = match self.device().costs_of((plan.blocks, plan.threads, plan.barrier)) {
            Ok(costs) => costs,
            Err(Error::Launch(LaunchError::NotExported { .. })) => {
                return Ok((Structure::Persistent, Reason::NotMeasured));
            }
            Err(error) => return Err(error),
        };
        let structure = if barrier <= launch {
            Structure::Persistent
        } else {
            Structure::Relaunch
        };
        Ok((structure, Reason::Boundary { barrier, launch }))
    }

    /// The grid that a run would have, which has at least one block: for buffers with an element a block.
    pub(crate) fn settle<P: Phased>(&self, phases: &P, options: RunOptions) -> Result<Settled, LaunchError> {
        let plan = |placement| {
            let demand = demand_of(phases);
            self.device()
                .plan_all_the_same(demand, options.grid, placement, self.terms())
        };
        let plan = match options.strategy {
            Strategy::Relaunch => plan(Placement::AsIfTogether),
            Strategy::Persistent => plan(Placement::Together),
            Strategy::Auto => match plan(Placement::Together) {
                Err(LaunchError::NotResident { .. }) => plan(Placement::AsIfTogether),
                plan => plan,
            },
        };
        let LaunchPlan { blocks, threads, .. } = plan?;
        Ok(Settled {
            options: options.grid(Blocks::Exactly(blocks).threads(threads)),
            blocks,
            threads,
        })
    }

    fn plan_phases<P: Phased>(
        &self,
        phases: &P,
        options: RunOptions,
        placement: Placement,
    ) -> Result<Option<LaunchPlan>, LaunchError> {
        self.device()
            .plan(demand_of(phases), options.grid, placement, self.terms())
    }

    fn run_persistent<P: Phased>(&self, phases: P, options: RunOptions, reason: Reason) -> Result<RunReport, Error> {
        let start = Instant::now();
        let Some(plan) = self.plan_phases(&phases, options, Placement::Together)? else {
            return Ok(nothing(Structure::Persistent, reason));
        };
        let mut record = self.device().zeroed::<u64>(plan.blocks * RECORD_WORDS)?;
        let grid = Blocks::Exactly(plan.blocks).threads(plan.threads);
        self.launch_cooperative(
            grid,
            PersistentForm {
                phases,
                record: record.span_mut(),
            },
        )?;
        let elapsed = start.elapsed();

        let record = self.download(&record)?;
        let blocks = || record.chunks_exact(RECORD_WORDS);
        let (steps, samples) = (record[RECORD_STEPS], record[RECORD_SAMPLES]);
        let mean = |word: usize| blocks().map(|block| block[word]).sum::<u64>() / plan.blocks as u64;
        let measured = |nanoseconds: u64| (samples > 0).then(|| Duration::from_nanos(nanoseconds));
        let (worked, waited) = (mean(RECORD_PHASES), mean(RECORD_BARRIERS));
        let slowest = blocks().map(|block| block[RECORD_PHASES]).max().unwrap_or(0);
        Ok(RunReport {
            structure: Structure::Persistent,
            reason,
            steps: steps as usize,
            blocks: plan.blocks,
            threads: plan.threads,
            elapsed,
            phase: measured(worked / (samples * P::PHASES as u64).max(1)),
            imbalance: (worked > 0).then(|| slowest as f64 / worked as f64),
            in_barriers: measured(of_all_steps(waited, samples, steps)).map(|estimate| estimate.min(elapsed)),
        })
    }

    fn run_relaunch<P: Phased>(&self, phases: P, options: RunOptions, reason: Reason) -> Result<RunReport, Error> {
        let start = Instant::now();
        let Some(plan) = self.plan_phases(&phases, options, Placement::AsIfTogether)? else {
            return Ok(nothing(Structure::Relaunch, reason));
        };
        let mut words = self.device().zeroed::<u64>(RELAUNCH_WORDS)?;
        #[cfg(feature = "cuda")]
        let steps = match self.device().as_cuda() {
            Some(cuda) => self.replay_steps(cuda, &phases, &plan, options, start, &mut words)?,
            None => self.launch_steps(&phases, &plan, options, start, &mut words)?,
        };
        #[cfg(not(feature = "cuda"))]
        let steps = self.launch_steps(&phases, &plan, options, start, &mut words)?;
        Ok(RunReport {
            structure: Structure::Relaunch,
            reason,
            steps: steps as usize,
            blocks: plan.blocks,
            threads: plan.threads,
            elapsed: start.elapsed(),
            phase: None,
            imbalance: None,
            in_barriers: None,
        })
    }

    /// Launches phase after phase until the run has stopped, and says after how many steps.
    fn launch_steps<P: Phased>(
        &self,
        phases: &P,
        plan: &LaunchPlan,
        options: RunOptions,
        start: Instant,
        words: &mut Buffer<u64>,
    ) -> Result<u64, Error> {
        let run = self.device().begin_run();
        let steps = self.launch_steps_of(run, phases, plan, options, start, words);
        self.device().end_run(run, plan.kernel, steps.is_ok())?;
        steps
    }

    fn launch_steps_of<P: Phased>(
        &self,
        run: Option<RunId>,
        phases: &P,
        plan: &LaunchPlan,
        options: RunOptions,
        start: Instant,
        words: &mut Buffer<u64>,
    ) -> Result<u64, Error> {
        let grid = Blocks::Exactly(plan.blocks).threads(plan.threads);
        let mut step = 0;
        loop {
            for index in 0..P::PHASES {
                let terms = Terms {
                    run,
                    ..self.what_is_left(plan, start)?
                };
                let form = RelaunchForm {
                    // SAFETY: `Phased` allows copies.
                    phases: unsafe { duplicate(phases) },
                    at: Phase { index, step },
                    words: words.span_mut(),
                };
                self.launch_on(grid, form, terms)?;
                // The launch of phase 0 has decided whether its step is done at all.
                if index == 0 && step % options.own.check_every == 0 && self.stopped_at(words, step)? != 0 {
                    break;
                }
            }
            match self.stopped_at(words, step)? {
                0 => step += 1,
                steps if step % options.own.check_every == 0 => return Ok(steps),
                _ => step += 1,
            }
        }
    }

    /// The queue's terms for the next launch of a run: its time limit is for the whole run, as if that were one launch.
    pub(super) fn what_is_left(&self, plan: &LaunchPlan, start: Instant) -> Result<Terms, LaunchError> {
        let Some(limit) = plan.timeout else {
            return Ok(self.terms());
        };
        let left = limit.saturating_sub(start.elapsed());
        if left.is_zero() {
            let report = HangReport::new(Vec::new(), plan.blocks, plan.threads, 0);
            return Err(LaunchError::TimedOut {
                kernel: plan.kernel,
                after: limit,
                report,
            });
        }
        Ok(Terms {
            timeout: Some(left),
            ..self.terms()
        })
    }

    /// After how many steps the run has stopped, 0 if it has not, as phase 0 of that step found it.
    fn stopped_at(&self, words: &Buffer<u64>, step: usize) -> Result<u64, CopyError> {
        let word = step % 2;
        Ok(self.elements(words.span().range(word..=word))?[0])
    }
}

fn demand_of<P: Phased>(phases: &P) -> Demand {
    Demand::of_grid(&PersistentForm {
        // SAFETY: `Phased` allows copies, and this one is only asked for its needs.
        phases: unsafe { duplicate(phases) },
        record: SpanMut::new(&mut []),
    })
}

fn nothing(structure: Structure, reason: Reason) -> RunReport {
    RunReport {
        structure,
        reason,
        steps: 0,
        blocks: 0,
        threads: 0,
        elapsed: Duration::ZERO,
        phase: None,
        imbalance: None,
        in_barriers: None,
    }
}

/// The best of so many measurements counts, because disturbances only ever add.
const TRIES: usize = 5;

fn measure(device: &Device, (blocks, threads, barrier): CostsKey) -> Result<Costs, Error> {
    let queue = device.queue_with(QueueOptions::default().barrier(barrier));
    let grid = Blocks::Exactly(blocks).threads(threads);
    let mut costs = Costs {
        barrier: Duration::MAX,
        launch: Duration::MAX,
    };
    #[cfg(feature = "cuda")]
    let replayed = device
        .as_cuda()
        .map(|cuda| queue.record_nothing(cuda, grid))
        .transpose()?;
    let mut nanoseconds = device.zeroed::<u64>(1)?;
    for _ in 0..TRIES {
        queue.launch_cooperative(
            grid,
            Barriers {
                nanoseconds: nanoseconds.span_mut(),
            },
        )?;
        let barriers = Duration::from_nanos(queue.elements(nanoseconds.span())?[0]);
        costs.barrier = costs.barrier.min(barriers / ROUNDS as u32);
        #[cfg(feature = "cuda")]
        if let (Some(replayed), Some(cuda)) = (&replayed, device.as_cuda()) {
            // As runs by relaunch do: recorded, and timed by the device.
            costs.launch = costs.launch.min(queue.time_of(cuda, replayed)? / ROUNDS as u32);
            continue;
        }
        let start = Instant::now();
        for _ in 0..ROUNDS {
            queue.launch(grid, Nothing)?;
        }
        costs.launch = costs.launch.min(start.elapsed() / ROUNDS as u32);
    }
    Ok(costs)
}
