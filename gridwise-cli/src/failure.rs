//! How the program fails.

use std::{io, path::PathBuf};

use gridwise::{
    Error,
    algorithm::{solve::SolveError, sparse::CsrError},
    check,
    host::device::DeviceError,
};

use crate::{console::plural, matrix_market::InputError, output::OutputError, solve::Verdict};

/// Why the program did not do what it was asked for.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// A file cannot be read, or does not hold what it should.
    #[error(transparent)]
    Input(#[from] InputError),

    /// A file cannot be written.
    #[error(transparent)]
    Output(#[from] OutputError),

    /// What is written would take the place of something else that is written, or that is read.
    #[error("{}: {option} names the same file as {other}", file.display())]
    SameFile {
        /// The option that wants to write it.
        option: &'static str,
        /// What else it is.
        other: &'static str,
        /// The file.
        file: PathBuf,
    },

    /// The matrix has fewer entries than rows.
    #[error(
        "{}: expected at least one entry in each of {}, found {} in all: a row is empty, and the matrix singular",
        file.display(),
        plural(*rows, "row"),
        plural(*entries, "entry")
    )]
    EmptyRow {
        /// The file.
        file: PathBuf,
        /// Rows of the matrix.
        rows: usize,
        /// Its entries.
        entries: usize,
    },

    /// The entries of a file make no matrix that the solvers take.
    #[error("{}: {source}", file.display())]
    Matrix {
        /// The file.
        file: PathBuf,
        /// Why not.
        source: CsrError,
    },

    /// The system was refused, or its solution failed on the device.
    #[error("{}: {source}", file.display())]
    Solve {
        /// The file with the matrix.
        file: PathBuf,
        /// Why it was refused, or how it failed.
        source: SolveError,
    },

    /// Conjugate gradients were asked for, and found that they do not suit the matrix.
    #[error(
        "{}: conjugate gradients need a positive definite matrix, and found in step {step} that this one is not; \
         use bicgstab",
        file.display()
    )]
    NotPositiveDefinite {
        /// The file with the matrix.
        file: PathBuf,
        /// The step, from 0.
        step: usize,
    },

    /// The solver ended without a solution.
    #[error(
        "{}: {verdict}; after {} the residual is {residual:.2e}, the tolerance {tolerance:e}",
        file.display(),
        plural(*steps, "step")
    )]
    Unsolved {
        /// The file with the matrix.
        file: PathBuf,
        /// How it ended.
        verdict: Verdict,
        /// Steps done.
        steps: usize,
        /// The residual of the best x.
        residual: f64,
        /// What the residual should have come down to.
        tolerance: f64,
    },

    /// There is no such exhibit in the gallery.
    #[error("there is no exhibit `{name}`; gridwise gallery --list names all")]
    NoExhibit {
        /// What was asked for.
        name: String,
    },

    /// The schedule that the environment asks for is none.
    #[error(
        "{} is `{token}`, which no finding gives; expected the text behind `replay` in a finding, as random:1:0",
        check::REPLAY_VARIABLE
    )]
    Replay {
        /// What was asked for.
        token: String,
    },

    /// The gallery is not as it should be.
    #[error("{} not found, {} not silent", plural(*missed, "bug"), plural(*loud, "twin"))]
    Gallery {
        /// Bugs that were not found.
        missed: usize,
        /// Twins with findings.
        loud: usize,
    },

    /// The device that was asked for cannot be measured.
    #[error("{device}: {why}")]
    NotMeasurable {
        /// Its name.
        device: String,
        /// Why not, and what can be done.
        why: &'static str,
    },

    /// The device that was asked for cannot be opened.
    #[error("{asked}: {source}")]
    Device {
        /// How it was asked for.
        asked: String,
        /// Why it cannot be opened.
        source: DeviceError,
    },

    /// A launch, or memory for it, failed.
    #[error(transparent)]
    Run(#[from] Error),

    /// Standard output took no more.
    #[error("cannot write to standard output: {source}")]
    Console {
        /// What the system said.
        source: io::Error,
    },
}

impl Failure {
    /// What the process should end with: 1 where the work failed, 2 where it was wrong to ask for it.
    pub fn exit_code(&self) -> u8 {
        match self {
            // Nothing was wrong with what was asked for: the system had no threads or memory to spare, or the work failed.
            Self::Device {
                source: DeviceError::Threads { .. },
                ..
            }
            | Self::Input(InputError::NoMemory { .. })
            | Self::Matrix {
                source: CsrError::Memory { .. },
                ..
            }
            | Self::Solve {
                source: SolveError::Runtime(_),
                ..
            }
            | Self::Unsolved { .. }
            | Self::Gallery { .. }
            | Self::Run(_)
            | Self::Console { .. } => 1,
            Self::Input(_)
            | Self::Output(_)
            | Self::SameFile { .. }
            | Self::NoExhibit { .. }
            | Self::Replay { .. }
            | Self::NotMeasurable { .. }
            | Self::EmptyRow { .. }
            | Self::Device { .. }
            | Self::Matrix { .. }
            | Self::Solve { .. }
            | Self::NotPositiveDefinite { .. } => 2,
        }
    }
}
