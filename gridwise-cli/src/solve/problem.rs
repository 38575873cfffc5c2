//! The system to solve.

use std::path::PathBuf;

use gridwise::algorithm::sparse::Csr;

use crate::{
    arguments::SolveArguments,
    failure::Failure,
    matrix_market::{self, Entry},
};

/// A system A x = b.
#[derive(Debug)]
pub(super) struct Problem {
    /// A, as the solver takes it.
    pub(super) matrix: Csr,
    pub(super) rhs: Vec<f64>,
    /// The file with b, or `None` if it is A times a vector of ones.
    pub(super) rhs_file: Option<PathBuf>,
    /// A, as it was read, so that the residual does not depend on what the solver works with.
    entries: Vec<Entry>,
}

impl Problem {
    pub(super) fn read(arguments: &SolveArguments) -> Result<Self, Failure> {
        let duplicates = arguments.duplicates.into();
        let read = matrix_market::read_square_matrix(&arguments.matrix, duplicates)?;
        // Before anything is made that is as long as the header says: from here on it is no longer than the file.
        if read.entries.len() < read.rows {
            return Err(Failure::EmptyRow {
                file: arguments.matrix.clone(),
                rows: read.rows,
                entries: read.entries.len(),
            });
        }
        let rhs = match &arguments.rhs {
            Some(path) => matrix_market::read_vector(path, read.rows, duplicates)?,
            None => product(&read.entries, &vec![1.0; read.columns]),
        };
        let entries = read.entries.iter().map(|entry| (entry.row, entry.column, entry.value));
        let matrix = Csr::from_sorted_entries(read.rows, read.columns, entries).map_err(|source| Failure::Matrix {
            file: arguments.matrix.clone(),
            source,
        })?;
        Ok(Self {
            matrix,
            rhs,
            rhs_file: arguments.rhs.clone(),
            entries: read.entries,
        })
    }

    pub(super) fn rows(&self) -> usize {
        self.rhs.len()
    }

    /// Entries that are stored, those that a symmetric file leaves out included.
    pub(super) fn nonzeros(&self) -> usize {
        self.entries.len()
    }

    /// ‖b − A·x‖ / ‖b‖, or ‖A·x‖ if b is zero.
    pub(super) fn residual(&self, x: &[f64]) -> f64 {
        let product = product(&self.entries, x);
        let residual: Vec<f64> = self.rhs.iter().zip(product).map(|(b, product)| b - product).collect();
        let (residual, rhs) = (norm(&residual), norm(&self.rhs));
        if rhs == 0.0 { residual } else { residual / rhs }
    }

    /// How far an element of `x` is from 1 at most, where b was made from ones.
    pub(super) fn distance_from_ones(&self, x: &[f64]) -> Option<f64> {
        let errors = x.iter().map(|value| (value - 1.0).abs());
        // Unlike `f64::max`, this keeps what is not a number.
        let largest = |largest: f64, error: f64| match error <= largest || largest.is_nan() {
            true => largest,
            false => error,
        };
        self.rhs_file.is_none().then(|| errors.fold(0.0, largest))
    }
}

/// A times `x`.
fn product(entries: &[Entry], x: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; x.len()];
    for entry in entries {
        product[entry.row as usize] += entry.value * x[entry.column as usize];
    }
    product
}

/// The Euclidean length, without overflow on the way.
fn norm(vector: &[f64]) -> f64 {
    let largest = vector.iter().fold(0.0_f64, |largest, value| largest.max(value.abs()));
    if vector.iter().any(|value| value.is_nan()) {
        f64::NAN
    } else if largest == 0.0 || largest.is_infinite() {
        largest
    } else {
        largest * vector.iter().map(|value| (value / largest).powi(2)).sum::<f64>().sqrt()
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn problem(rhs: [f64; 2], rhs_file: Option<PathBuf>) -> Problem {
        let entries = [(0, 0, 3.0), (1, 1, 4.0)];
        Problem {
            matrix: Csr::from_sorted_entries(2, 2, entries).unwrap(),
            rhs: rhs.to_vec(),
            rhs_file,
            entries: entries
                .map(|(row, column, value)| Entry { row, column, value })
                .to_vec(),
        }
    }

    #[test]
    fn the_residual_is_relative_to_the_right_hand_side() {
        assert_eq!(problem([3.0, 4.0], None).residual(&[1.0, 1.0]), 0.0);
        assert_eq!(problem([3.0, 4.0], None).residual(&[0.0, 0.0]), 1.0);
        assert_eq!(problem([0.0, 0.0], None).residual(&[0.0, 0.0]), 0.0);
        assert_eq!(problem([0.0, 0.0], None).residual(&[1.0, 1.0]), 5.0);
        assert!(problem([3.0, 4.0], None).residual(&[f64::NAN, 1.0]).is_nan());
    }

    #[test]
    fn lengths_neither_overflow_nor_vanish() {
        for scale in [1e-300, 1.0, 1e300] {
            assert!((norm(&[3.0 * scale, 4.0 * scale]) / scale - 5.0).abs() < 1e-12);
        }
        assert_eq!(norm(&[]), 0.0);
        assert_eq!(norm(&[f64::INFINITY, 1.0]), f64::INFINITY);
    }

    #[test]
    fn the_distance_from_ones_is_known_where_b_was_made_from_them() {
        assert_eq!(problem([3.0, 4.0], None).distance_from_ones(&[1.0, 0.5]), Some(0.5));
        assert!(
            problem([3.0, 4.0], None)
                .distance_from_ones(&[f64::NAN, 1.0])
                .unwrap()
                .is_nan()
        );
        assert_eq!(
            problem([3.0, 4.0], Some("b.mtx".into())).distance_from_ones(&[1.0, 1.0]),
            None
        );
    }
}
