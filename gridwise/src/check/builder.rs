//! How a closure is explored.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::{Duration, Instant},
};

use super::{Model, Report, SCHEDULES_VARIABLE, replay_from_env, report::Failure};
use crate::{
    backend::check::{
        CheckDevice, Stacks,
        scheduler::{Exhaustive, Pct, Random, RoundRobin, Scheduler},
    },
    host::error::panic_message,
    prelude::Device,
};

/// Which schedules are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Explore {
    /// One: a thread after another, an operation each.
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
    explore: Explore,
    schedules: Option<usize>,
    seed: u64,
    time: Option<Duration>,
    keep_going: bool,
}

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
    /// A hundred random schedules on [`Model::small`].
    pub fn new() -> Self {
        Self {
            model: Model::small(),
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
        let (mut scheduler, limit) = match replay_from_env() {
            Some(replayed) => (replayed, 1),
            None => (self.scheduler(), self.limit()),
        };
        let mut report = Report::default();
        let mut stacks = Stacks::default();
        loop {
            if report.schedules == limit || self.time.is_some_and(|time| start.elapsed() >= time) {
                break;
            }
            if !scheduler.begin() {
                report.complete = true;
                break;
            }
            report.schedules += 1;
            let device = Device::of_check(CheckDevice::with_scheduler(self.model, scheduler, stacks));
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
                    replay: scheduler.token(),
                });
            }
            if !self.keep_going && !report.is_clean() {
                break;
            }
        }
        report.elapsed = start.elapsed();
        report
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
