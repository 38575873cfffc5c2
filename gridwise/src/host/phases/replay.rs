//! Relaunch on a GPU: the launches of several steps are recorded once, and replayed as one until the run has stopped.
//!
//! A launch costs the host some microseconds, often more than the phase itself takes; a recorded one costs the device a
//! fraction of that. What is recorded has its arguments for good, so the number of the step comes from a word of memory, which
//! the host sets before each replay.

use std::time::{Duration, Instant};

use super::RunOptions;
use crate::{
    backend::cuda::host::{CudaDevice, Replay},
    host::{
        buffer::Buffer,
        error::Error,
        launch::{Blocks, Demand, Grid, LaunchError, LaunchPlan, Placement},
        queue::Queue,
    },
    kernel::{
        Kernel, Phase, Phased,
        measure::{Nothing, ROUNDS},
        phased::{RELAUNCH_BASE, RelaunchForm, duplicate},
    },
};

/// Launches that are recorded at most: the host looks more often than it was told to where a run asks for more.
const MOST_RECORDED: usize = 1024;

impl Queue {
    /// Replays steps until the run has stopped, and says after how many.
    pub(super) fn replay_steps<P: Phased>(
        &self,
        cuda: &CudaDevice,
        phases: &P,
        plan: &LaunchPlan,
        options: RunOptions,
        start: Instant,
        words: &mut Buffer<u64>,
    ) -> Result<u64, Error> {
        let steps_at_once = options.own.check_every.clamp(1, (MOST_RECORDED / P::PHASES).max(1));
        let grid = Blocks::Exactly(plan.blocks).threads(plan.threads);
        let mut forms = Vec::with_capacity(steps_at_once * P::PHASES);
        let view = words.span_mut();
        for step in 0..steps_at_once {
            for index in 0..P::PHASES {
                forms.push(RelaunchForm {
                    // SAFETY: `Phased` allows copies.
                    phases: unsafe { duplicate(phases) },
                    at: Phase { index, step },
                    // SAFETY: the launches run one after another, as if each had been given the view in its turn; the host
                    // writes between replays.
                    words: unsafe { duplicate(&view) },
                });
            }
        }
        let replay = self.record_launches(cuda, grid, forms)?;
        let mut base = 0;
        loop {
            let timeout = self.what_is_left(plan, start)?.timeout;
            self.write(&[base as u64], words.span_mut().range(RELAUNCH_BASE..))?;
            self.replay(cuda, &replay, plan, timeout)?;
            match self.stopped_at(words, base + steps_at_once - 1)? {
                0 => base += steps_at_once,
                steps => return Ok(steps),
            }
        }
    }

    fn replay(
        &self,
        cuda: &CudaDevice,
        replay: &Replay,
        plan: &LaunchPlan,
        timeout: Option<Duration>,
    ) -> Result<(), LaunchError> {
        let _turn = self.turn();
        let plan = LaunchPlan { timeout, ..*plan };
        cuda.replay(self.stream.of_launch(cuda, &plan)?, &plan, replay)
    }

    /// Launches that do nothing, for [`time_of`](Self::time_of).
    pub(super) fn record_nothing(&self, cuda: &CudaDevice, grid: Grid) -> Result<Replay, LaunchError> {
        let nothing = std::iter::repeat_with(|| Nothing).take(ROUNDS);
        self.record_launches(cuda, grid, nothing.collect())
    }

    /// How long the device takes for recorded launches, by its own clock.
    pub(super) fn time_of(&self, cuda: &CudaDevice, replay: &Replay) -> Result<Duration, Error> {
        let _turn = self.turn();
        Ok(cuda.time_of(self.stream.cuda(cuda)?, replay)?)
    }

    fn record_launches<K: Kernel>(
        &self,
        cuda: &CudaDevice,
        grid: Grid,
        kernels: Vec<K>,
    ) -> Result<Replay, LaunchError> {
        let _turn = self.turn();
        let Some(first) = kernels.first() else {
            unreachable!("there is something to record")
        };
        let plan = self
            .device()
            .plan(Demand::of(first), grid, Placement::Anyhow, self.terms())?;
        let Some(plan) = plan else {
            unreachable!("a grid of exactly so many blocks is a launch")
        };
        cuda.record(self.stream.of_launch(cuda, &plan)?, &plan, kernels)
    }
}
