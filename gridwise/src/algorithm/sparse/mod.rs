//! Sparse matrices in compressed sparse rows: in host memory, and on a device, to be multiplied by vectors.

use thiserror::Error;

mod entries;
mod product;
#[cfg(test)]
mod test;

pub(crate) use entries::DeviceEntries;
pub use product::{DeviceCsr, ProductError};

/// A sparse matrix in compressed sparse rows.
///
/// Row `i` has its entries at `row_offsets[i]..row_offsets[i + 1]`. The offsets never fall, begin at 0 and end at the number of
/// entries; within a row the columns ascend strictly and are below the number of columns. The fields are private because
/// kernels skip bounds checks on the strength of that.
///
/// ```
/// use gridwise::algorithm::sparse::Csr;
///
/// let matrix = Csr::from_sorted_entries(2, 3, [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)])?;
/// let mut y = [0.0; 2];
/// matrix.multiply(&[1.0, 10.0, 100.0], &mut y);
/// assert_eq!(y, [201.0, 30.0]);
/// # Ok::<(), gridwise::algorithm::sparse::CsrError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Csr {
    columns: usize,
    row_offsets: Vec<u32>,
    column_indices: Vec<u32>,
    values: Vec<f64>,
}

/// Entries that make no matrix.
#[derive(Clone, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CsrError {
    /// A row index that the matrix does not have.
    #[error("entry {index} is in row {row}, but there are {rows} rows, counted from 0")]
    Row {
        /// Which entry, from 0.
        index: usize,
        /// Its row.
        row: usize,
        /// Rows of the matrix.
        rows: usize,
    },
    /// A column index that the matrix does not have.
    #[error("entry {index} is in column {column}, but there are {columns} columns, counted from 0")]
    Column {
        /// Which entry, from 0.
        index: usize,
        /// Its column.
        column: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// An entry that belongs before the one before it.
    #[error("entry {index}, at row {row}, column {column}, belongs before the one before it; sort by row, then column")]
    Order {
        /// Which entry, from 0.
        index: usize,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// Two entries at one place.
    #[error("entry {index} is the second at row {row}, column {column}; add them up first")]
    Duplicate {
        /// Which entry, from 0.
        index: usize,
        /// Its row.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// More entries than 32 bits count.
    #[error("more than {} entries", u32::MAX)]
    TooManyEntries,
    /// No memory for that many rows or entries.
    #[error("no memory for a matrix of {rows} rows and {entries} entries or more")]
    Memory {
        /// Rows of the matrix.
        rows: usize,
        /// Entries stored so far, and one.
        entries: usize,
    },
}

crate::host::error::debug_as_display!(CsrError);

impl Csr {
    /// A matrix from its entries `(row, column, value)`, in the order of rows and, within a row, of columns.
    ///
    /// # Errors
    /// If an entry is out of range, out of order, or the second at its place; or if there are too many.
    pub fn from_sorted_entries(
        rows: usize,
        columns: usize,
        entries: impl IntoIterator<Item = (u32, u32, f64)>,
    ) -> Result<Self, CsrError> {
        let memory = |entries| CsrError::Memory { rows, entries };
        let mut matrix = Self {
            columns,
            row_offsets: Vec::new(),
            column_indices: Vec::new(),
            values: Vec::new(),
        };
        let offsets = rows.checked_add(1).ok_or(memory(0))?;
        matrix.row_offsets.try_reserve_exact(offsets).map_err(|_| memory(0))?;
        matrix.row_offsets.push(0);
        let mut before = None;
        for (index, (row, column, value)) in entries.into_iter().enumerate() {
            let place = (row as usize, column as usize);
            let (row, column) = place;
            if row >= rows {
                return Err(CsrError::Row { index, row, rows });
            }
            if column >= columns {
                return Err(CsrError::Column { index, column, columns });
            }
            if before == Some(place) {
                return Err(CsrError::Duplicate { index, row, column });
            }
            if before > Some(place) {
                return Err(CsrError::Order { index, row, column });
            }
            before = Some(place);
            let stored = u32::try_from(index).map_err(|_| CsrError::TooManyEntries)?;
            if stored == u32::MAX {
                return Err(CsrError::TooManyEntries);
            }
            matrix.column_indices.try_reserve(1).map_err(|_| memory(index + 1))?;
            matrix.values.try_reserve(1).map_err(|_| memory(index + 1))?;
            matrix.row_offsets.resize(row + 1, stored);
            matrix.column_indices.push(column as u32);
            matrix.values.push(value);
        }
        // At most u32::MAX, by the checks above.
        let stored = matrix.values.len() as u32;
        matrix.row_offsets.resize(offsets, stored);
        Ok(matrix)
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.row_offsets.len() - 1
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Where each row begins, and where the last one ends: `rows + 1` numbers.
    pub fn row_offsets(&self) -> &[u32] {
        &self.row_offsets
    }

    /// The column of each entry.
    pub fn column_indices(&self) -> &[u32] {
        &self.column_indices
    }

    /// The value of each entry.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// Entries, explicit zeros among them.
    pub fn nonzeros(&self) -> usize {
        self.values.len()
    }

    /// The entries of a row: columns and values.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let entries = self.row_offsets[row] as usize..self.row_offsets[row + 1] as usize;
        (&self.column_indices[entries.clone()], &self.values[entries])
    }

    /// The diagonal, as long as the shorter side of the matrix; 0 where there is no entry.
    pub fn diagonal(&self) -> Vec<f64> {
        let entry = |row| {
            let (columns, values) = self.row(row);
            let found = columns.binary_search_by_key(&row, |&column| column as usize);
            found.map_or(0.0, |at| values[at])
        };
        (0..self.rows().min(self.columns)).map(entry).collect()
    }

    /// Whether the matrix is square and equals its transpose: the same entries with the same values, compared exactly.
    pub fn is_symmetric(&self) -> bool {
        self.rows() == self.columns && self.asymmetry().is_none()
    }

    /// Row and column of an entry of a square matrix whose mirror image is missing or differs.
    pub(crate) fn asymmetry(&self) -> Option<(usize, usize)> {
        // As the rows ascend, the mirror images wanted in any one row ascend too: in a symmetric matrix, each is the next entry
        // of that row.
        let mut next = self.row_offsets.clone();
        for row in 0..self.rows() {
            let (columns, values) = self.row(row);
            for (&column, value) in columns.iter().zip(values) {
                let column = column as usize;
                let mirror = next[column] as usize;
                next[column] += 1;
                let there = mirror < self.row_offsets[column + 1] as usize
                    && self.column_indices[mirror] as usize == row
                    && self.values[mirror] == *value;
                if !there {
                    return Some((row, column));
                }
            }
        }
        None
    }

    /// Stores the product with `x` into `y`, row by row in one thread: what the kernels are checked against.
    ///
    /// # Panics
    /// If `x` has not one element a column, or `y` not one a row.
    pub fn multiply(&self, x: &[f64], y: &mut [f64]) {
        assert_eq!(x.len(), self.columns, "one element of x a column");
        assert_eq!(y.len(), self.rows(), "one element of y a row");
        for (row, y) in y.iter_mut().enumerate() {
            let (columns, values) = self.row(row);
            // From +0, where `sum` would begin with -0 and leave that in a row without entries.
            *y = columns
                .iter()
                .zip(values)
                .fold(0.0, |sum, (&column, value)| sum + value * x[column as usize]);
        }
    }
}
