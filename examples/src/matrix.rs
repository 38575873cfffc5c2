//! Matrices and graphs: from Matrix Market files, and made up where there is none.

use std::path::Path;

use gridwise::algorithm::sparse::Csr;
use gridwise_cli::matrix_market::{Duplicates, read_matrix};

use crate::failure::Failure;

/// The matrix in a Matrix Market file; an entry that is given twice is refused.
///
/// # Errors
/// If the file cannot be read, or is malformed: the message names file and line. Or if there is no memory.
pub fn read(path: &Path) -> Result<Csr, Failure> {
    let matrix = read_matrix(path, Duplicates::Error)?;
    let entries = matrix
        .entries
        .iter()
        .map(|entry| (entry.row, entry.column, entry.value));
    Ok(Csr::from_sorted_entries(matrix.rows, matrix.columns, entries)?)
}

/// A matrix whose rows have from none to many entries: like web pages and their links, a few have most of them. About 16 a row.
///
/// # Panics
/// If there is no memory for it.
pub fn uneven(rows: usize) -> Csr {
    let mut random = Random::new();
    let entries = (0..rows).flat_map(|row| {
        // Lengths by a power law: half of the rows have 2 entries, a quarter 4, and so on.
        let length = 2_usize << random.next().trailing_zeros().min(14);
        let mut columns: Vec<u32> = (0..length.min(rows / 2)).map(|_| random.below(rows)).collect();
        columns.sort_unstable();
        columns.dedup();
        let entry = |column| (row as u32, column, f64::from(random.below(2000)) / 1000.0 - 1.0);
        columns.into_iter().map(entry).collect::<Vec<_>>()
    });
    Csr::from_sorted_entries(rows, rows, entries).expect("sorted entries of a small matrix")
}

/// A graph like a social network (R-MAT, Chakrabarti, Zhan and Faloutsos, 2004): 2^`scale` vertices, at most `degree` edges for
/// each on average, given in both directions. Some vertices know many others, some nobody.
///
/// # Panics
/// If there is no memory for it.
pub fn network(scale: u32, degree: usize) -> Csr {
    let mut random = Random::new();
    let mut edges = Vec::new();
    for _ in 0..degree << scale >> 1 {
        let (mut from, mut to) = (0, 0);
        for _ in 0..scale {
            // The quarters of the matrix, with chances of 57, 19, 19 and 5 in 100.
            let (down, right) = match random.below(100) {
                0..57 => (0, 0),
                57..76 => (0, 1),
                76..95 => (1, 0),
                _ => (1, 1),
            };
            (from, to) = (2 * from + down, 2 * to + right);
        }
        edges.extend([(from, to), (to, from)]);
    }
    edges.sort_unstable();
    edges.dedup();
    let vertices = 1 << scale;
    let entries = edges.into_iter().map(|(from, to)| (from, to, 1.0));
    Csr::from_sorted_entries(vertices, vertices, entries).expect("sorted entries of a small graph")
}

/// Numbers that look random, the same in every run (xorshift, Marsaglia, 2003).
struct Random(u64);

impl Random {
    fn new() -> Self {
        Self(0x9e37_79b9_7f4a_7c15)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        // The low bits of the state alone are not random enough.
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    /// A number below `limit`, which is at most 2^32.
    fn below(&mut self, limit: usize) -> u32 {
        (self.next() % limit as u64) as u32
    }
}
