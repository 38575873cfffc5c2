//! One run of an iteration: how far it may go, and what the host learns of it.

use crate::kernel::{Acc, SpanMut};

/// Words of the outcome, and their values.
pub(crate) mod outcome {
    /// How the iteration stands: one of the values below.
    pub(crate) const STATUS: usize = 0;
    /// Steps done since the start of the iteration.
    pub(crate) const STEPS: usize = 1;
    /// The step in which it stopped.
    pub(crate) const STOPPED: usize = 2;
    /// How many words there are.
    #[cfg(feature = "std")]
    pub(crate) const WORDS: usize = 3;

    /// It can go on.
    pub(crate) const RUNNING: u64 = 0;
    /// The residual is small enough.
    pub(crate) const CONVERGED: u64 = 1;
    /// A number was infinite or not a number.
    pub(crate) const NOT_FINITE: u64 = 2;
    /// Conjugate gradients met a direction along which the matrix is not positive.
    pub(crate) const NOT_POSITIVE_DEFINITE: u64 = 3;
    /// BiCGSTAB: the shadow residual is orthogonal to what it is multiplied with.
    pub(crate) const RHO: u64 = 4;
    /// BiCGSTAB: the second half of a step leads nowhere.
    pub(crate) const OMEGA: u64 = 5;
}

/// What a kernel holds of its run. Everything is written by one thread of the grid, in the last phase of a step.
#[repr(C)]
pub(crate) struct RunView<'a> {
    /// The squared length of the residual after each step of the run.
    pub(crate) history: SpanMut<'a, f64>,
    /// [`outcome::WORDS`] words.
    pub(crate) outcome: SpanMut<'a, u64>,
    /// Steps done before this run.
    pub(crate) first_step: usize,
    /// Steps of this run at most; the history has as many elements.
    pub(crate) limit: usize,
    /// The squared length of a residual that is small enough.
    pub(crate) target: f64,
}

impl RunView<'_> {
    /// Steps done since the start of the iteration, before step `step` of this run.
    #[inline(always)]
    pub(crate) fn steps_before(&self, step: usize) -> usize {
        self.first_step + step
    }

    /// Records a step that was done; stops if the residual is small enough.
    #[inline(always)]
    pub(crate) fn record<A: Acc>(&self, acc: A, step: usize, rr: f64) {
        self.history.set(acc, step, rr);
        self.outcome
            .set(acc, outcome::STEPS, self.steps_before(step + 1) as u64);
        if rr <= self.target {
            self.stop(acc, step, outcome::CONVERGED);
        }
    }

    /// Stops the iteration in step `step` of this run.
    #[inline(always)]
    pub(crate) fn stop<A: Acc>(&self, acc: A, step: usize, status: u64) {
        self.outcome.set(acc, outcome::STATUS, status);
        self.outcome.set(acc, outcome::STOPPED, self.steps_before(step) as u64);
    }

    /// Whether there is another step.
    #[inline(always)]
    pub(crate) fn proceed<A: Acc>(&self, acc: A, step: usize) -> bool {
        self.outcome.get(acc, outcome::STATUS) == outcome::RUNNING && step + 1 < self.limit
    }
}
