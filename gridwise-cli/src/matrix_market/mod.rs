//! Matrices and vectors in Matrix Market files.
//!
//! What is read: `coordinate` and `array` files; the fields `real`, `double`, `integer` and `pattern`; the symmetries
//! `general`, `symmetric` and `skew-symmetric`. `complex` and `hermitian` are refused by name. Words of the banner may
//! be in any case, comments and blank lines may stand anywhere after the banner, entries in any order. A line ends
//! with a line feed, with or without a carriage return. Numbers are what [`f64`] parses, or have an exponent as
//! Fortran writes it, `1.0D+03`.
//!
//! What is refused, though other readers let it pass: values that are not finite, fractions in an `integer` file,
//! entries above the diagonal of a symmetric one, and, unless asked to add them up, entries given twice. Each would
//! turn into a wrong answer later, far from its cause. Every [`InputError`] says which line to look at.
//!
//! # Examples
//!
//! ```
//! use gridwise_cli::matrix_market::{Duplicates, Entry, parse_matrix};
//!
//! let text = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1 4\n2 1 -1\n";
//! let matrix = parse_matrix(text, "A.mtx", Duplicates::Error)?;
//! assert_eq!((matrix.rows, matrix.columns), (2, 2));
//! assert_eq!(matrix.entries[1], Entry { row: 0, column: 1, value: -1.0 });
//!
//! let text = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 2\n1 1\n2 1 -1\n";
//! let error = parse_matrix(text, "A.mtx", Duplicates::Error).unwrap_err();
//! assert_eq!(error.to_string(), "A.mtx:3: expected 3 fields \"row column value\", found 2");
//! # Ok::<(), gridwise_cli::matrix_market::InputError>(())
//! ```
//!
//! Source: R. F. Boisvert, R. Pozo, K. A. Remington, *The Matrix Market Exchange Formats: Initial Design*,
//! NISTIR 5935, 1996.

mod assemble;
mod error;
mod header;
mod lines;
mod parse;
#[cfg(test)]
mod test;
mod write;

use std::{fmt, fs, path::Path};

use header::{Banner, Format, Size};
use lines::Lines;

pub use error::{Axis, BannerWord, InputError, Location};
pub use write::{write_vector, write_vector_to};

/// A sparse matrix, all of whose entries are listed.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix {
    /// Number of rows, at most [`u32::MAX`].
    pub rows: usize,
    /// Number of columns, at most [`u32::MAX`].
    pub columns: usize,
    /// The entries by row, then by column, each cell at most once.
    ///
    /// Those that a symmetric file leaves out are here. Zeros that a coordinate file lists are here too, as part of the
    /// structure; zeros of an array file, which has to list all cells, are not.
    pub entries: Vec<Entry>,
    /// What the file says of the entries above the diagonal. A `general` one may well be symmetric.
    pub symmetry: Symmetry,
    /// What the file says of the values.
    pub field: Field,
}

/// An entry of a matrix.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Entry {
    /// The row, from 0.
    pub row: u32,
    /// The column, from 0.
    pub column: u32,
    /// The value, finite.
    pub value: f64,
}

/// Which entries a file leaves out because they follow from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symmetry {
    /// None.
    General,
    /// Those above the diagonal, equal to those below.
    Symmetric,
    /// Those above the diagonal, the negatives of those below; the diagonal is zero.
    SkewSymmetric,
}

impl fmt::Display for Symmetry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::General => "general",
            Self::Symmetric => "symmetric",
            Self::SkewSymmetric => "skew-symmetric",
        })
    }
}

/// What a file gives as values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Real numbers; the file says `real` or `double`.
    Real,
    /// Whole numbers.
    Integer,
    /// None: every entry listed is 1.
    Pattern,
}

/// What to do with an entry that a coordinate file gives more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Refuse the file: it may be a slip.
    #[default]
    Error,
    /// Add the values up, in the order of the file, as finite-element programs mean it.
    Sum,
}

/// Reads the matrix in the file at `path`.
///
/// # Errors
///
/// [`InputError`] where the file cannot be read or breaks a rule of the format.
pub fn read_matrix(path: impl AsRef<Path>, duplicates: Duplicates) -> Result<Matrix, InputError> {
    parse_matrix(&read(path.as_ref())?, path, duplicates)
}

/// Reads the matrix in the file at `path`, which has to have as many rows as columns.
///
/// # Errors
///
/// [`InputError`] where the file cannot be read, breaks a rule of the format, or holds a matrix that is not square.
pub fn read_square_matrix(path: impl AsRef<Path>, duplicates: Duplicates) -> Result<Matrix, InputError> {
    matrix(&read(path.as_ref())?, path.as_ref(), duplicates, |at, size| {
        if size.rows == size.columns {
            return Ok(());
        }
        Err(InputError::Rectangular {
            at,
            rows: size.rows,
            columns: size.columns,
        })
    })
}

/// Reads the matrix in `bytes`, the contents of a file called `file` in messages.
///
/// The memory taken grows with the length of `bytes`, whatever dimensions they declare.
///
/// # Errors
///
/// As [`read_matrix`].
pub fn parse_matrix(bytes: &[u8], file: impl AsRef<Path>, duplicates: Duplicates) -> Result<Matrix, InputError> {
    matrix(bytes, file.as_ref(), duplicates, |_, _| Ok(()))
}

/// The matrix in `bytes`, if `fits` agrees to the size on the line that it is told.
fn matrix(
    bytes: &[u8],
    file: &Path,
    duplicates: Duplicates,
    fits: impl FnOnce(Location, &Size) -> Result<(), InputError>,
) -> Result<Matrix, InputError> {
    let mut lines = Lines::new(file, bytes);
    let banner = Banner::parse(&mut lines)?;
    let size = Size::parse(&mut lines, &banner)?;
    fits(lines.at(), &size)?;
    let mut entries = entries(&mut lines, &banner, &size, duplicates)?;
    if banner.format == Format::Array {
        entries.retain(|entry| entry.value != 0.0);
    }
    Ok(Matrix {
        rows: size.rows as usize,
        columns: size.columns as usize,
        entries,
        symmetry: banner.symmetry,
        field: banner.field,
    })
}

/// Reads the vector of length `length` in the file at `path`: an array or coordinate file with one column.
///
/// Rows that a coordinate file leaves out are zero.
///
/// # Errors
///
/// [`InputError`] where the file cannot be read, breaks a rule of the format, or holds a matrix that is not
/// `length` x 1; or where there is no memory for so many elements.
pub fn read_vector(path: impl AsRef<Path>, length: usize, duplicates: Duplicates) -> Result<Vec<f64>, InputError> {
    parse_vector(&read(path.as_ref())?, path, length, duplicates)
}

/// Reads the vector of length `length` in `bytes`, the contents of a file called `file` in messages.
///
/// Memory is taken once all entries have been read and found right: by the length of `bytes`, and for the `length` elements.
///
/// # Errors
///
/// As [`read_vector`].
pub fn parse_vector(
    bytes: &[u8],
    file: impl AsRef<Path>,
    length: usize,
    duplicates: Duplicates,
) -> Result<Vec<f64>, InputError> {
    let mut lines = Lines::new(file.as_ref(), bytes);
    let banner = Banner::parse(&mut lines)?;
    let size = Size::parse(&mut lines, &banner)?;
    if size.columns != 1 {
        return Err(InputError::NotAVector {
            at: lines.at(),
            rows: size.rows,
            columns: size.columns,
        });
    }
    if size.rows as usize != length {
        return Err(InputError::WrongLength {
            at: lines.at(),
            expected: length,
            found: size.rows,
        });
    }
    let entries = entries(&mut lines, &banner, &size, duplicates)?;
    let mut vector = zeros(length).ok_or_else(|| InputError::NoMemory {
        file: lines.file().to_path_buf(),
        length,
    })?;
    for entry in entries {
        vector[entry.row as usize] = entry.value;
    }
    Ok(vector)
}

/// A vector of zeros, if there is memory for it.
fn zeros(length: usize) -> Option<Vec<f64>> {
    let mut zeros = Vec::new();
    zeros.try_reserve_exact(length).ok()?;
    zeros.resize(length, 0.0);
    Some(zeros)
}

/// The entries that follow a size line, mirrored and in order.
fn entries(
    lines: &mut Lines<'_>,
    banner: &Banner,
    size: &Size,
    duplicates: Duplicates,
) -> Result<Vec<Entry>, InputError> {
    let stored = parse::entries(lines, banner, size)?;
    assemble::assemble(stored, banner.symmetry, duplicates, lines.file())
}

fn read(path: &Path) -> Result<Vec<u8>, InputError> {
    fs::read(path).map_err(|source| InputError::Read {
        file: path.to_path_buf(),
        source,
    })
}
