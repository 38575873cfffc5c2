//! Systems that cannot be solved, and failures on the way.

use thiserror::Error;

use crate::host::{
    buffer::{AllocationError, CopyError},
    error::Error,
    launch::LaunchError,
};

/// Why a solve was refused or failed. Rows and columns count from 0 in the fields, from 1 in the texts.
#[derive(Error)]
#[non_exhaustive]
pub enum SolveError {
    /// The matrix is not square.
    #[error("the matrix has {rows} rows and {columns} columns, but a system to solve is square")]
    NotSquare {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// The right-hand side has the wrong length.
    #[error("the right-hand side has {len} numbers, but the matrix has {rows} rows")]
    RightHandSide {
        /// Length of the right-hand side.
        len: usize,
        /// Rows of the matrix.
        rows: usize,
    },
    /// An entry of the matrix is infinite or not a number.
    #[error("the matrix has {value} in row {}, column {}, counted from 1", .row + 1, .column + 1)]
    MatrixNotFinite {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// Its value.
        value: f64,
    },
    /// A number of the right-hand side is infinite or not a number.
    #[error("the right-hand side has {value} in row {}, counted from 1", .row + 1)]
    RightHandSideNotFinite {
        /// The row.
        row: usize,
        /// Its value.
        value: f64,
    },
    /// The tolerance is negative, infinite or not a number.
    #[error("the tolerance is {tolerance}, but has to be a number from 0")]
    Tolerance {
        /// The tolerance.
        tolerance: f64,
    },
    /// Conjugate gradients were asked for, and the matrix is not symmetric.
    #[error(
        "conjugate gradients need a symmetric matrix, and the entry in row {}, column {}, counted from 1, has no equal mirror image; \
         use bicgstab", .row + 1, .column + 1
    )]
    NotSymmetric {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
    },
    /// Conjugate gradients were asked for, and a diagonal entry is negative, zero or missing.
    #[error(
        "conjugate gradients need a positive diagonal, but it is {value} in row {}, counted from 1; use bicgstab", .row + 1
    )]
    Diagonal {
        /// The row.
        row: usize,
        /// The diagonal entry, 0 if it is missing.
        value: f64,
    },
    /// The device failed.
    #[error(transparent)]
    Runtime(#[from] Error),
}

crate::host::error::debug_as_display!(SolveError);

impl From<AllocationError> for SolveError {
    fn from(error: AllocationError) -> Self {
        Self::Runtime(error.into())
    }
}

impl From<LaunchError> for SolveError {
    fn from(error: LaunchError) -> Self {
        Self::Runtime(error.into())
    }
}

impl From<CopyError> for SolveError {
    fn from(error: CopyError) -> Self {
        Self::Runtime(error.into())
    }
}
