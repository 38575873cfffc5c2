//! Work queues as a program sees them: index ranges that blocks claim parts of, and runs of tasks that make tasks.

use std::time::{Duration, Instant};

use super::{
    launch::{Blocks, Demand, LaunchPlan, Placement},
    phases::{Strategy, Structure},
    queue::Queue,
};
use crate::kernel::{
    phased::duplicate,
    queue::{TaskForm, Tasks},
};

mod chunks;
mod error;
mod options;
mod state;

pub use chunks::{Chunking, Chunks, Pieces};
pub use error::{TaskError, TaskFailure};
pub use options::TaskOptions;
use state::State;

pub use crate::kernel::queue::Order;

/// What a run of tasks did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskReport {
    /// What was run: one launch, or one a generation.
    pub structure: Structure,
    /// Launches.
    pub launches: usize,
    /// Blocks of the grid.
    pub blocks: usize,
    /// Threads in each block.
    pub threads: usize,
    /// Time of the whole run.
    pub elapsed: Duration,
    /// What each block did, if that was [asked for](TaskOptions::counters).
    pub counters: Option<Vec<TaskCounters>>,
}

/// What a block did in a run of tasks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TaskCounters {
    /// Tasks that it ran.
    pub tasks: u64,
    /// Batches that it got from the ring that all blocks share.
    pub claims: u64,
    /// How often it found that ring empty.
    pub failed_pops: u64,
    /// Tasks that it moved to that ring.
    pub spills: u64,
    /// Time that it waited for tasks.
    pub idle: Duration,
    /// Most tasks that it saw in that ring when it moved some there.
    pub peak: u64,
}

impl Queue {
    /// Runs `seeds`, the tasks that they make, and so on until none is left.
    ///
    /// Without seeds nothing is launched.
    ///
    /// # Errors
    /// If the launch is refused or fails, a task panics, time runs out, or there is no room for tasks: every task that was not
    /// run to its end comes back with the error.
    pub fn run_tasks<P: Tasks>(
        &self,
        tasks: P,
        seeds: &[P::Task],
        options: impl Into<TaskOptions>,
    ) -> Result<TaskReport, TaskError<P::Task>> {
        let options = options.into();
        let start = Instant::now();
        let structure = match options.strategy {
            Strategy::Auto | Strategy::Persistent => Structure::Persistent,
            Strategy::Relaunch => Structure::Relaunch,
        };
        let mut report = TaskReport {
            structure,
            launches: 0,
            blocks: 0,
            threads: 0,
            elapsed: Duration::ZERO,
            counters: options.counted.then(Vec::new),
        };
        if seeds.is_empty() {
            return Ok(report);
        }
        let refused = |cause| TaskError::before(P::NAME, cause, seeds);
        let plan = self.plan_tasks(&tasks, options).map_err(refused)?;
        let mut state = State::new(self, &plan, seeds, P::MOST_SPAWNS, options).map_err(refused)?;
        report.blocks = plan.blocks;
        report.threads = plan.threads;

        let mut generation_end = match structure {
            Structure::Persistent => u64::MAX,
            Structure::Relaunch => seeds.len() as u64,
        };
        let grid = Blocks::Exactly(plan.blocks).threads(plan.threads);
        loop {
            let launched = self.what_is_left(&plan, start).and_then(|terms| {
                let form = TaskForm {
                    // SAFETY: `Tasks` allows copies.
                    tasks: unsafe { duplicate(&tasks) },
                    queue: state.queue(generation_end),
                };
                self.launch_on(grid, form, terms)
            });
            report.launches += 1;
            if let Err(error) = launched {
                return Err(state.failed(P::NAME, error.into()));
            }
            let looked = state.is_stopped().and_then(|stopped| Ok((stopped, state.pushed()?)));
            let (stopped, pushed) = looked.map_err(|error| state.failed(P::NAME, error.into()))?;
            if stopped {
                let capacity = state.capacity();
                return Err(state.failed(P::NAME, TaskFailure::Overflow { capacity }));
            }
            if structure == Structure::Persistent || pushed == generation_end {
                break;
            }
            generation_end = pushed;
        }
        report.elapsed = start.elapsed();
        if options.counted {
            let counters = state.counters();
            report.counters = Some(counters.map_err(|error| state.failed(P::NAME, error.into()))?);
        }
        Ok(report)
    }

    fn plan_tasks<P: Tasks>(&self, tasks: &P, options: TaskOptions) -> Result<LaunchPlan, TaskFailure> {
        let form = TaskForm {
            // SAFETY: `Tasks` allows copies, and this one is only asked for its needs.
            tasks: unsafe { duplicate(tasks) },
            queue: state::nothing(),
        };
        let plan = self
            .device()
            .plan(Demand::of(&form), options.grid, Placement::AsIfTogether, self.terms())?;
        // Frames without an index: one block, because there are tasks all the same.
        match plan {
            Some(plan) => Ok(plan),
            None => {
                let one = Blocks::Exactly(1).into();
                let plan = self
                    .device()
                    .plan(Demand::of(&form), one, Placement::AsIfTogether, self.terms())?;
                plan.ok_or_else(|| unreachable!("a grid of one block is a launch"))
            }
        }
    }
}
