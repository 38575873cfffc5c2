//! How a closure is explored.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use super::{Model, Report, SCHEDULES_VARIABLE, Shape, replay_from_env, report::Failure};
use crate::{
    backend::check::{
        CheckDevice, Stacks,
        scheduler::{Exhaustive, Pct, Random, RoundRobin, Scheduler, replay_token},
    },
    host::error::panic_message,
    prelude::Device,
};

/// Which schedules are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Explore {
    /// One for each shape of grids: a thread after another, an operation each.
    RoundRobin,
    /// Random ones.
    Random,
    /// Random priorities, with `depth - 1` random changes: finds faults that need few ordered events faster.
    Pct {
        /// Ordered events that bring the fault about.
        depth: usize,
    },
    /// Every one that can make a difference, if the limits allow it: for a few blocks and rounds.
    Exhaustive,
}

/// Sets up an exploration, and runs it.
///
/// ```
/// use gridwise::{check::{Builder, Explore}, prelude::*};
///
/// /// Counts its threads.
/// #[repr(C)]
/// struct Count<'a> {
///     threads: SpanMut<'a, u32>,
/// }
///
/// // SAFETY: the count is atomic.
/// unsafe impl Kernel for Count<'_> {
///     const NAME: &'static str = "count";
///     type Shared = ();
///
///     fn run<A: Acc>(self, acc: A, _: ()) {
///         self.threads.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
///     }
/// }
///
/// let report = Builder::new().explore(Explore::Exhaustive).check(|device| {
///     let mut threads = device.zeroed(1).unwrap();
///     let grid = Blocks::Exactly(2).threads(1);
///     device.queue().launch(grid, Count { threads: threads.span_mut() }).unwrap();
///     assert_eq!(threads.span()[0], 2);
/// });
/// assert!(report.complete, "every schedule was tried");
/// ```
#[derive(Clone, Debug)]
pub struct Builder {
    model: Model,
    /// Whether the model is the default.
    any_model: bool,
    /// `None` where nothing was said.
    shapes: Option<Vec<Shape>>,
    explore: Explore,
    schedules: Option<usize>,
    seed: u64,
    time: Option<Duration>,
    keep_going: bool,
}

/// Shapes that are tried where nothing else is said. The first is that of [`Model::small`]; three is no power of two.
const SHAPES: [Shape; 5] = [
    Shape { blocks: 2, threads: 4 },
    Shape { blocks: 3, threads: 3 },
    Shape { blocks: 4, threads: 1 },
    Shape { blocks: 1, threads: 4 },
    Shape { blocks: 1, threads: 1 },
];
/// Schedules that are tried where nothing else is said.
const SCHEDULES: usize = 100;
/// Schedules of an exhaustive exploration where nothing else is said.
const EXHAUSTIVE_SCHEDULES: usize = 200_000;

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// A hundred random schedules on [`Model::small`], with grids of several [`shapes`](Self::shapes).
    pub fn new() -> Self {
        Self {
            model: Model::small(),
            any_model: true,
            shapes: None,
            explore: Explore::Random,
            schedules: None,
            seed: 1,
            time: None,
            keep_going: false,
        }
    }

    /// The device.
    pub fn model(mut self, model: Model) -> Self {
        self.model = model;
        self.any_model = false;
        self
    }

    /// Tries grids of several shapes: numbers of blocks, and of threads in each. They share the number of schedules, and take turns.
    ///
    /// Where a launch leaves its shape to the device ([`Frames`](crate::prelude::Frames),
    /// [`Blocks::Resident`](crate::prelude::Blocks::Resident)), it gets the one whose turn it is; what a launch says holds. The device
    /// has multiprocessors for the most blocks.
    ///
    /// Where nothing is said, neither here nor about the [`model`](Self::model), these are five small ones: 2 blocks of 4 threads, 3
    /// of 3, 4 of 1, 1 of 4 and 1 of 1. An exhaustive exploration has the device's own then, and so has one whose model was chosen.
    ///
    /// # Panics
    /// If there are none, or one without blocks or threads.
    pub fn shapes(mut self, shapes: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let shapes: Vec<_> = shapes
            .into_iter()
            .map(|(blocks, threads)| Shape { blocks, threads })
            .collect();
        assert!(!shapes.is_empty(), "an exploration tries at least one shape");
        for shape in &shapes {
            assert!(shape.blocks > 0 && shape.threads > 0, "{shape} are no grid");
        }
        self.shapes = Some(shapes);
        self
    }

    /// Which schedules are tried.
    pub fn explore(mut self, explore: Explore) -> Self {
        self.explore = explore;
        self
    }

    /// How many schedules at most. The default is `GRIDWISE_CHECK_SCHEDULES`, else 100, or 200 000 if exhaustive.
    pub fn schedules(mut self, schedules: usize) -> Self {
        self.schedules = Some(schedules);
        self
    }

    /// What random numbers start from.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Starts no schedule after that time.
    pub fn time_budget(mut self, time: Duration) -> Self {
        self.time = Some(time);
        self
    }

    /// Operations after which a launch is given up, as a finding.
    pub fn step_budget(mut self, operations: u64) -> Self {
        self.model.step_budget = operations;
        self
    }

    /// Goes on after the first schedule with a fault, and gathers what the others show.
    pub fn keep_going(mut self) -> Self {
        self.keep_going = true;
        self
    }

    /// Runs `test` under the schedules.
    ///
    /// # Panics
    /// With the report, if any schedule showed a fault, or `test` panicked under one; and as [`run`](Self::run).
    #[track_caller]
    pub fn check(&self, test: impl Fn(&Device)) -> Report {
        let report = self.run(test);
        assert!(report.is_clean(), "{report}");
        report
    }

    /// As [`check`](Self::check), and returns the report whatever is in it.
    ///
    /// # Panics
    /// If a number of the model is out of range.
    #[track_caller]
    pub fn run(&self, test: impl Fn(&Device)) -> Report {
        if let Err(error) = self.model.validate() {
            panic!("{error}")
        }
        let start = Instant::now();
        // Each shape has its schedules, so that each sees all kinds of them.
        let (mut devices, limit) = match replay_from_env() {
            Some(replay) => (VecDeque::from([replay.on(self.model)]), 1),
            None => (
                self.models()
                    .into_iter()
                    .map(|model| (model, self.scheduler()))
                    .collect(),
                self.limit(),
            ),
        };
        let mut report = Report::default();
        let mut stacks = Stacks::default();
        loop {
            if report.schedules == limit || self.time.is_some_and(|time| start.elapsed() >= time) {
                break;
            }
            let Some((model, mut scheduler)) = devices.pop_front() else {
                report.complete = true;
                break;
            };
            if !scheduler.begin() {
                continue;
            }
            report.schedules += 1;
            let device = Device::of_check(CheckDevice::with_scheduler(model, scheduler, stacks));
            let outcome = catch_unwind(AssertUnwindSafe(|| test(&device)));
            let Some(check) = device.as_check() else { break };
            let (used, used_stacks, findings, explored) = check.take_parts();
            let Some(used) = used else { break };
            (scheduler, stacks) = (used, used_stacks);
            let found = !findings.is_empty();
            report.add(findings, explored);
            if let Err(payload) = outcome
                && !found
                && report.failure.is_none()
            {
                report.failure = Some(Failure {
                    message: panic_message(&*payload),
                    shape: model.shape(),
                    replay: replay_token(&*scheduler, model.shape()),
                });
            }
            if !self.keep_going && !report.is_clean() {
                break;
            }
            devices.push_back((model, scheduler));
        }
        report.elapsed = start.elapsed();
        report
    }

    /// The device with each of the shapes.
    fn models(&self) -> Vec<Model> {
        let with = |shapes: &[Shape]| shapes.iter().map(|shape| self.model.with_shape(*shape)).collect();
        match &self.shapes {
            Some(shapes) => with(shapes),
            None if self.any_model && self.explore != Explore::Exhaustive => with(&SHAPES),
            None => vec![self.model],
        }
    }

    fn scheduler(&self) -> Box<dyn Scheduler> {
        match self.explore {
            Explore::RoundRobin => Box::new(RoundRobin::default()),
            Explore::Random => Box::new(Random::new(self.seed, 0)),
            Explore::Pct { depth } => Box::new(Pct::new(self.seed, depth, 0, None)),
            Explore::Exhaustive => Box::new(Exhaustive::default()),
        }
    }

    fn limit(&self) -> usize {
        let from_env = || std::env::var(SCHEDULES_VARIABLE).ok()?.parse().ok();
        self.schedules.or_else(from_env).unwrap_or(match self.explore {
            Explore::Exhaustive => EXHAUSTIVE_SCHEDULES,
            _ => SCHEDULES,
        })
    }
}
