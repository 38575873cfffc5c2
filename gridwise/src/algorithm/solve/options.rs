//! What to solve with, and how far.

use std::fmt;

use crate::host::phases::RunOptions;

/// An iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Method {
    /// Conjugate gradients, for symmetric positive definite matrices.
    ConjugateGradients,
    /// BiCGSTAB, for all others.
    BiCgStab,
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::ConjugateGradients => "cg",
            Self::BiCgStab => "bicgstab",
        })
    }
}

/// How to solve a system.
#[derive(Clone, Copy, Debug)]
pub struct SolveOptions {
    pub(super) method: Option<Method>,
    pub(super) tolerance: f64,
    pub(super) max_steps: Option<usize>,
    pub(super) run: RunOptions,
}

/// Where nothing else is said, the steps are ten for each row, but not fewer or more than these.
const DEFAULT_STEPS: std::ops::RangeInclusive<usize> = 100..=100_000;

impl Default for SolveOptions {
    fn default() -> Self {
        Self {
            method: None,
            tolerance: 1e-8,
            max_steps: None,
            run: RunOptions::default(),
        }
    }
}

impl SolveOptions {
    /// Which iteration; by default the one that the matrix allows: conjugate gradients for a symmetric matrix with a positive
    /// diagonal, BiCGSTAB for others, and where conjugate gradients find that the matrix is not positive definite.
    pub fn method(mut self, method: impl Into<Option<Method>>) -> Self {
        self.method = method.into();
        self
    }

    /// The length of the residual over that of the right-hand side at which to stop: 1e-8 by default.
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Steps at most; by default ten for each row, but at least 100 and at most 100 000.
    pub fn max_steps(mut self, steps: usize) -> Self {
        self.max_steps = Some(steps);
        self
    }

    /// Strategy and grid. A grid without frames has one block; one that cannot be resident is run by relaunch.
    pub fn run(mut self, run: impl Into<RunOptions>) -> Self {
        self.run = run.into();
        self
    }

    /// Steps at most, for a matrix of that many rows.
    pub(super) fn steps_for(&self, rows: usize) -> usize {
        self.max_steps.unwrap_or_else(|| {
            rows.saturating_mul(10)
                .clamp(*DEFAULT_STEPS.start(), *DEFAULT_STEPS.end())
        })
    }
}
