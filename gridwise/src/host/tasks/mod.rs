//! Work queues as a program sees them: index ranges that blocks claim parts of, and runs of tasks that make tasks.

use std::time::{Duration, Instant};

use super::{
    launch::{Blocks, Demand, LaunchPlan, Placement},
    phases::{Reason, Strategy, Structure},
    queue::Queue,
};
use crate::kernel::{
    phased::duplicate,
    queue::{TaskForm, Tasks},
};

mod chunks;
mod error;
mod kept;
mod memory;
mod options;
#[cfg(all(test, not(loom)))]
mod test;

pub use chunks::{Chunking, Chunks, Pieces};
pub use error::{TaskError, TaskFailure};
pub(super) use kept::KeptMemory;
pub use memory::TaskMemory;
pub use options::{Cancellation, TaskOptions, TaskSettings};

pub use crate::kernel::queue::Order;

/// What a run of tasks did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskReport {
    /// What was run: one launch, or one a generation.
    pub structure: Structure,
    /// Why.
    pub reason: Reason,
    /// Launches: those of the structure, and one each time that the ring [grew](TaskOptions::capacity).
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

impl TaskCounters {
    fn add(&mut self, other: Self) {
        self.tasks += other.tasks;
        self.claims += other.claims;
        self.failed_pops += other.failed_pops;
        self.spills += other.spills;
        self.idle += other.idle;
        self.peak = self.peak.max(other.peak);
    }
}

impl Queue {
    /// Runs `seeds`, the tasks that they make, and so on until none is left.
    ///
    /// Without seeds nothing is launched. A run keeps its memory for the next one like it, as long as that is not much.
    ///
    /// # Errors
    /// If the launch is refused or fails, a task panics, time runs out, the run is cancelled, or there is no room for tasks:
    /// every task that was not run to its end comes back with the error.
    pub fn run_tasks<'o, P: Tasks>(
        &self,
        tasks: P,
        seeds: &[P::Task],
        options: impl Into<TaskOptions<'o>>,
    ) -> Result<TaskReport, TaskError<P::Task>> {
        let options = options.into();
        let start = Instant::now();
        let refused = |cause| TaskError::before(P::NAME, cause, seeds);
        self.device()
            .refuse_nested(P::NAME)
            .map_err(|error| refused(error.into()))?;
        let mut report = TaskReport {
            structure: Structure::Persistent,
            reason: Reason::NothingToDo,
            launches: 0,
            blocks: 0,
            threads: 0,
            elapsed: Duration::ZERO,
            counters: options.own.counted.then(Vec::new),
        };
        if seeds.is_empty() {
            return Ok(report);
        }
        let plan = self.plan_tasks(&tasks, options).map_err(refused)?;
        (report.structure, report.reason) = choose::<P>(options.strategy);
        (report.blocks, report.threads) = (plan.blocks, plan.threads);

        let kept = self.device().kept_memory();
        let memory = kept.and_then(|kept| kept.take(plan.blocks, P::MOST_SPAWNS, options));
        let memory = memory.map_or_else(
            || TaskMemory::new(self.device(), plan.blocks, P::MOST_SPAWNS, options),
            Ok,
        );
        let mut memory = memory.map_err(|error| refused(error.into()))?;
        memory.start(self, seeds).map_err(refused)?;

        // The first generation is the seeds.
        let by_generation = report.structure == Structure::Relaunch;
        let mut generation_end = if by_generation {
            memory.pushed(self).map_err(|error| refused(error.into()))?
        } else {
            u64::MAX
        };
        let grid = Blocks::Exactly(plan.blocks).threads(plan.threads);
        // A GPU does not reach the host's word; there the run looks between launches.
        let reached = (!self.device().is_gpu()).then_some(options.own.cancellation).flatten();
        loop {
            if reached.is_none() && options.own.cancellation.is_some_and(Cancellation::is_cancelled) {
                return Err(memory.failed(self, P::NAME, TaskFailure::Cancelled));
            }
            let launched = self.what_is_left(&plan, start).and_then(|terms| {
                let form = TaskForm {
                    // SAFETY: `Tasks` allows copies.
                    tasks: unsafe { duplicate(&tasks) },
                    queue: memory.queue(generation_end, reached),
                };
                self.launch_on(grid, form, terms)
            });
            report.launches += 1;
            let failure = launched.map_err(TaskFailure::from).err();
            let failure = failure.map_or_else(|| memory.stopped(self).unwrap_or_else(|error| Some(error.into())), Some);
            if let Some(cause) = failure {
                let error = memory.failed(self, P::NAME, cause);
                let larger = match *error.cause {
                    TaskFailure::Overflow { capacity } if !error.lost => options.own.grown(capacity),
                    _ => None,
                };
                let grown = larger.is_some_and(|slots| {
                    let counted = memory.count(self, &mut report.counters);
                    counted.is_ok() && memory.grow(self, slots, &error.unfinished).is_ok()
                });
                if !grown {
                    return Err(error);
                }
                if by_generation {
                    // What is left are seeds now, and nothing was pushed to the new ring.
                    generation_end = 0;
                }
                continue;
            }
            let pushed = memory
                .pushed(self)
                .map_err(|error| memory.failed(self, P::NAME, error.into()))?;
            if !by_generation || pushed == generation_end {
                break;
            }
            generation_end = pushed;
        }
        report.elapsed = start.elapsed();
        if let Err(error) = memory.count(self, &mut report.counters) {
            return Err(memory.failed(self, P::NAME, error.into()));
        }
        if let Some(kept) = kept {
            kept.put(memory);
        }
        Ok(report)
    }

    fn plan_tasks<P: Tasks>(&self, tasks: &P, options: TaskOptions<'_>) -> Result<LaunchPlan, TaskFailure> {
        let (demand, terms) = (demand_of(tasks), self.terms());
        Ok(self
            .device()
            .plan_all_the_same(demand, options.grid, Placement::AsIfTogether, terms)?)
    }
}

/// Blocks that feed each other need less room than a generation does, and no launch after the first; a grid that does not fit is
/// no obstacle, because nobody waits for a block that has not started.
fn choose<P: Tasks>(strategy: Strategy) -> (Structure, Reason) {
    match strategy {
        Strategy::Persistent => (Structure::Persistent, Reason::Asked),
        Strategy::Relaunch => (Structure::Relaunch, Reason::Asked),
        Strategy::Auto if P::MOST_SPAWNS == 0 => (Structure::Relaunch, Reason::OneGeneration),
        Strategy::Auto => (Structure::Persistent, Reason::Fed),
    }
}

fn demand_of<P: Tasks>(tasks: &P) -> Demand {
    Demand::of(&TaskForm {
        // SAFETY: `Tasks` allows copies, and this one is only asked for its needs.
        tasks: unsafe { duplicate(tasks) },
        queue: memory::nothing(),
    })
}
