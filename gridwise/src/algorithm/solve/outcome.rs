//! How a solve stands, and what it ends with.

use std::fmt;

use super::options::Method;
use crate::host::phases::RunReport;

/// How a solve stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Status {
    /// It can go on.
    Running,
    /// The residual that the iteration carries along is small enough.
    Converged,
    /// All the steps are done, and the residual is not small enough.
    OutOfSteps,
    /// The iteration cannot go on.
    Broken(Breakdown),
}

/// Why an iteration cannot go on. Steps count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Breakdown {
    /// Conjugate gradients met a direction p with p·Ap <= 0.
    NotPositiveDefinite {
        /// In which step.
        step: usize,
    },
    /// BiCGSTAB, a second time: the shadow residual is orthogonal, but for rounding, to the residual or to what the matrix makes of
    /// the direction.
    ShadowOrthogonal {
        /// In which step.
        step: usize,
    },
    /// BiCGSTAB: the second half of a step cannot shorten the residual.
    Stagnation {
        /// In which step.
        step: usize,
    },
    /// A number was infinite or not a number.
    NotFinite,
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running => f.pad("running"),
            Self::Converged => f.pad("converged"),
            Self::OutOfSteps => f.pad("out of steps"),
            Self::Broken(breakdown) => write!(f, "broken down: {breakdown}"),
        }
    }
}

impl fmt::Display for Breakdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotPositiveDefinite { step } => {
                write!(
                    f,
                    "the matrix is not positive definite, as conjugate gradients found in step {step}"
                )
            }
            Self::ShadowOrthogonal { step } => {
                write!(
                    f,
                    "the shadow residual became orthogonal to the residual in step {step}"
                )
            }
            Self::Stagnation { step } => write!(f, "the second half of step {step} cannot shorten the residual"),
            Self::NotFinite => f.write_str("a number was infinite or not a number"),
        }
    }
}

/// Why a system was solved with this method. Rows and columns count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyMethod {
    /// It was asked for.
    Asked,
    /// The matrix is symmetric, and its diagonal positive: it may be positive definite.
    Symmetric,
    /// The matrix is not symmetric.
    NotSymmetric {
        /// The row of an entry whose mirror image is missing or differs.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// A diagonal entry is negative, zero or missing.
    Diagonal {
        /// The row.
        row: usize,
    },
    /// Conjugate gradients were tried, and found that the matrix is not positive definite.
    NotPositiveDefinite {
        /// In which step, from 0.
        step: usize,
    },
}

impl fmt::Display for WhyMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("it was asked for"),
            Self::Symmetric => f.write_str("the matrix is symmetric with a positive diagonal"),
            Self::NotSymmetric { row, column } => {
                write!(
                    f,
                    "the matrix is not symmetric: see row {}, column {}, counted from 1",
                    row + 1,
                    column + 1
                )
            }
            Self::Diagonal { row } => {
                write!(
                    f,
                    "the diagonal entry of row {}, counted from 1, is not positive",
                    row + 1
                )
            }
            Self::NotPositiveDefinite { step } => {
                write!(
                    f,
                    "conjugate gradients found in step {step} that the matrix is not positive definite"
                )
            }
        }
    }
}

/// Where a solve stands between two advances.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress {
    /// How it stands.
    pub status: Status,
    /// Steps done with the present method.
    pub steps: usize,
    /// The relative residual that the iteration carries along: its length over that of the right-hand side.
    pub residual: f64,
}

/// What a solve ended with.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Solution {
    /// The last iterate if it converged, else the one with the smallest residual.
    pub x: Vec<f64>,
    /// The method that made it.
    pub method: Method,
    /// Why this method.
    pub why_method: WhyMethod,
    /// Steps of this method.
    pub steps: usize,
    /// How it ended.
    pub status: Status,
    /// The true relative residual of `x`, |b - A x| / |b|, computed from scratch on the host. In badly conditioned systems it may
    /// stay above the one that the iteration carries along. With b = 0 it is 0 for x = 0.
    pub residual: f64,
    /// The relative residual that the iteration carried along, before the first step and after each step of this method.
    pub residuals: Vec<f64>,
    /// What was run: steps and times of all runs together, whatever the method; else as the last of them. 0 blocks if nothing was.
    pub report: RunReport,
}
