//! The system to solve, checked.

use super::{error::SolveError, options::Method, outcome::WhyMethod};
use crate::algorithm::sparse::Csr;

/// See the module. The right-hand side is scaled by a power of two, so that squares of its length neither overflow nor vanish.
#[derive(Debug)]
pub(super) struct System<'a> {
    pub(super) matrix: &'a Csr,
    /// The right-hand side, scaled.
    pub(super) b: Vec<f64>,
    /// The scaled right-hand side times itself.
    pub(super) bb: f64,
    /// What the right-hand side was divided by: two powers of two, because one might overflow.
    scale: [f64; 2],
    diagonal: Vec<f64>,
    /// One over each diagonal entry, or 1 where that is not finite: the preconditioner.
    pub(super) inverse_diagonal: Vec<f64>,
}

impl<'a> System<'a> {
    pub(super) fn new(matrix: &'a Csr, rhs: &[f64]) -> Result<Self, SolveError> {
        let (rows, columns) = (matrix.rows(), matrix.columns());
        if rows != columns {
            return Err(SolveError::NotSquare { rows, columns });
        }
        if rhs.len() != rows {
            return Err(SolveError::RightHandSide { len: rhs.len(), rows });
        }
        if let Some(at) = matrix.values().iter().position(|value| !value.is_finite()) {
            // The last row that begins at or before the entry: rows without entries begin there too, before it.
            let row = matrix.row_offsets().partition_point(|&offset| offset as usize <= at) - 1;
            return Err(SolveError::MatrixNotFinite {
                row,
                column: matrix.column_indices()[at] as usize,
                value: matrix.values()[at],
            });
        }
        if let Some(row) = rhs.iter().position(|value| !value.is_finite()) {
            return Err(SolveError::RightHandSideNotFinite { row, value: rhs[row] });
        }
        let largest = rhs.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
        let scale = power_of_two_near(largest);
        let b: Vec<f64> = rhs.iter().map(|value| value / scale[0] / scale[1]).collect();
        let diagonal = matrix.diagonal();
        Ok(Self {
            matrix,
            bb: b.iter().map(|value| value * value).sum(),
            b,
            scale,
            inverse_diagonal: diagonal.iter().map(|&entry| inverse(entry)).collect(),
            diagonal,
        })
    }

    /// The method that was asked for, if the matrix allows it, or that the matrix allows.
    pub(super) fn choose(&self, asked: Option<Method>) -> Result<(Method, WhyMethod), SolveError> {
        if asked == Some(Method::BiCgStab) {
            return Ok((Method::BiCgStab, WhyMethod::Asked));
        }
        let asymmetry = self.matrix.asymmetry();
        let nonpositive = self.diagonal.iter().position(|&entry| entry <= 0.0);
        match (asked, asymmetry, nonpositive) {
            (Some(method), None, None) => Ok((method, WhyMethod::Asked)),
            (None, None, None) => Ok((Method::ConjugateGradients, WhyMethod::Symmetric)),
            (Some(_), Some((row, column)), _) => Err(SolveError::NotSymmetric { row, column }),
            (Some(_), None, Some(row)) => Err(SolveError::Diagonal {
                row,
                value: self.diagonal[row],
            }),
            (None, Some((row, column)), _) => Ok((Method::BiCgStab, WhyMethod::NotSymmetric { row, column })),
            (None, None, Some(row)) => Ok((Method::BiCgStab, WhyMethod::Diagonal { row })),
        }
    }

    /// |b - A x| / |b| for the scaled b, or 0 if both are 0.
    pub(super) fn residual(&self, x: &[f64]) -> f64 {
        let mut product = vec![0.0; self.b.len()];
        self.matrix.multiply(x, &mut product);
        let difference = self.b.iter().zip(&product).map(|(b, product)| b - product);
        let rr: f64 = difference.map(|r| r * r).sum();
        if self.bb == 0.0 {
            rr.sqrt()
        } else {
            (rr / self.bb).sqrt()
        }
    }

    /// Turns the solution for the scaled right-hand side into that for the one given.
    pub(super) fn unscale(&self, x: &mut [f64]) {
        for x in x {
            *x = *x * self.scale[0] * self.scale[1];
        }
    }
}

fn inverse(entry: f64) -> f64 {
    let inverse = 1.0 / entry;
    if inverse.is_finite() { inverse } else { 1.0 }
}

/// Two powers of two whose product is near `largest`: exact factors, and so are their inverses.
fn power_of_two_near(largest: f64) -> [f64; 2] {
    if largest == 0.0 {
        return [1.0, 1.0];
    }
    let exponent = largest.log2().floor() as i32;
    [2.0_f64.powi(exponent / 2), 2.0_f64.powi(exponent - exponent / 2)]
}
