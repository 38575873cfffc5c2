//! The matrix of the 2-D Poisson problem, in compressed sparse rows.

use std::ops::Range;

/// A square sparse matrix in compressed sparse rows.
///
/// Row `i` has its entries at `offsets[i]..offsets[i + 1]`. The offsets never fall, begin at 0 and end at the number of entries; columns are below the
/// number of rows. The fields are private because peers skip bounds checks on the strength of that.
#[derive(Clone, Debug)]
pub struct Csr {
    offsets: Vec<u32>,
    columns: Vec<u32>,
    values: Vec<f64>,
}

impl Csr {
    /// How many rows, which is how many columns.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Where each row begins, and where the last one ends: `rows + 1` numbers.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The column of each entry.
    pub fn columns(&self) -> &[u32] {
        &self.columns
    }

    /// Each entry.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// One over each diagonal entry: the Jacobi preconditioner.
    ///
    /// # Panics
    ///
    /// If a row has no diagonal entry.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let diagonal = |row: usize| {
            let entry = self.entries(row).find(|&entry| self.columns[entry] as usize == row);
            1.0 / self.values[entry.expect("a diagonal entry in every row")]
        };
        (0..self.rows()).map(diagonal).collect()
    }

    /// Where the entries of `row` are.
    #[inline(always)]
    pub fn entries(&self, row: usize) -> Range<usize> {
        self.offsets[row] as usize..self.offsets[row + 1] as usize
    }

    /// The product of `row` with `x`.
    ///
    /// # Panics
    ///
    /// If there is no such row, or `x` has not as many elements as the matrix has rows.
    #[inline(always)]
    pub fn row_times(&self, row: usize, x: &[f64]) -> f64 {
        assert_eq!(x.len(), self.rows());
        let entries = self.entries(row);
        let mut sum = 0.0;
        for (value, &column) in self.values[entries.clone()].iter().zip(&self.columns[entries]) {
            // SAFETY: every column is below the number of rows, which is the length of `x`.
            sum += value * unsafe { x.get_unchecked(column as usize) };
        }
        sum
    }
}

/// The 5-point Laplacian on an n × n grid with zero outside: 4 on the diagonal, -1 for each neighbour, columns ascending.
///
/// # Panics
///
/// If there are more entries than a u32 counts (n above about 29 000).
pub fn poisson_2d(n: usize) -> Csr {
    assert!(
        u32::try_from(n * n * 5).is_ok(),
        "{n}² rows have more entries than a u32 counts"
    );
    let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..n * n {
        let (i, j) = (row / n, row % n);
        let neighbours = [
            (i > 0).then(|| (row - n, -1.0)),
            (j > 0).then(|| (row - 1, -1.0)),
            Some((row, 4.0)),
            (j + 1 < n).then(|| (row + 1, -1.0)),
            (i + 1 < n).then(|| (row + n, -1.0)),
        ];
        for (column, value) in neighbours.into_iter().flatten() {
            columns.push(column as u32);
            values.push(value);
        }
        offsets.push(columns.len() as u32);
    }
    Csr {
        offsets,
        columns,
        values,
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_matrix_is_the_symmetric_five_point_laplacian() {
        for n in [0, 1, 2, 3, 7] {
            let matrix = poisson_2d(n);
            let rows = n * n;
            assert_eq!(matrix.rows(), rows);
            let mut dense = vec![0.0; rows * rows];
            for row in 0..rows {
                let entries = matrix.entries(row);
                assert!(matrix.columns()[entries.clone()].is_sorted());
                for entry in entries {
                    dense[row * rows + matrix.columns()[entry] as usize] = matrix.values()[entry];
                }
            }
            for a in 0..rows {
                for b in 0..rows {
                    let distance = (a / n).abs_diff(b / n) + (a % n).abs_diff(b % n);
                    let expected = [4.0, -1.0].get(distance).copied().unwrap_or(0.0);
                    assert_eq!(dense[a * rows + b], expected);
                }
            }
        }
    }

    #[test]
    fn a_row_times_ones_is_its_sum() {
        let matrix = poisson_2d(3);
        let sums: Vec<f64> = (0..9).map(|row| matrix.row_times(row, &[1.0; 9])).collect();
        assert_eq!(sums, [2.0, 1.0, 2.0, 1.0, 0.0, 1.0, 2.0, 1.0, 2.0]);
    }
}
