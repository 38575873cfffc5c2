//! What can be wrong with an input file, and where.

use std::{fmt, io, path::PathBuf};

use super::Symmetry;

/// The longest excerpt of a file that an error carries, in characters.
const EXCERPT: usize = 60;

/// A line of a file; written `A.mtx:3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file, as the caller named it.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: u64,
}

impl fmt::Display for Location {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file.display(), self.line)
    }
}

/// One of the four words that follow `%%MatrixMarket` in a banner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BannerWord {
    /// What the file holds: `matrix`.
    Object,
    /// How entries are laid out: `coordinate` or `array`.
    Format,
    /// What an entry is: `real`, `double`, `integer` or `pattern`.
    Field,
    /// Which entries are left out: `general`, `symmetric` or `skew-symmetric`.
    Symmetry,
}

impl fmt::Display for BannerWord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Object => "object",
            Self::Format => "format",
            Self::Field => "field",
            Self::Symmetry => "symmetry",
        })
    }
}

/// A direction of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Along a column: rows are counted.
    Row,
    /// Along a row: columns are counted.
    Column,
}

impl fmt::Display for Axis {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Row => "row",
            Self::Column => "column",
        })
    }
}

/// Why an input file was refused.
///
/// Every message names the file and, except where the file could not be read at all, the line, what was expected
/// there and what was found. Rows and columns in it are counted from 1, as in the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputError {
    /// The file could not be opened or read.
    #[error("{}: cannot read the file: {source}", file.display())]
    Read {
        /// The file, as the caller named it.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// The file holds nothing, or only white space.
    #[error("{at}: expected a banner \"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\", found an empty file")]
    Empty {
        /// The first line.
        at: Location,
    },

    /// A line outside comments is not UTF-8.
    #[error("{at}: expected text, found the byte 0x{byte:02x}, which is not UTF-8 there")]
    NotText {
        /// The line.
        at: Location,
        /// The first byte that does not fit.
        byte: u8,
    },

    /// The first line is not a banner.
    #[error("{at}: expected a banner \"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\", found {found:?}")]
    Banner {
        /// The first line.
        at: Location,
        /// Its text, shortened.
        found: String,
    },

    /// A word of the banner names something that is not read here.
    #[error("{at}: expected the {word} {expected}, found {found:?}, which is not supported")]
    Unsupported {
        /// The line of the banner.
        at: Location,
        /// Which word.
        word: BannerWord,
        /// What is read.
        expected: &'static str,
        /// The word found.
        found: String,
    },

    /// The line with the dimensions cannot be understood.
    #[error("{at}: expected a size line \"{expected}\" of whole numbers, found {found:?}")]
    SizeLine {
        /// The line.
        at: Location,
        /// The numbers it should hold.
        expected: &'static str,
        /// Its text, shortened.
        found: String,
    },

    /// The file ends before the line with the dimensions.
    #[error("{at}: expected a size line \"{expected}\", found the end of the file")]
    NoSizeLine {
        /// The last line.
        at: Location,
        /// The numbers it should hold.
        expected: &'static str,
    },

    /// There are more rows or columns than indexes.
    #[error("{at}: expected at most {limit} {axis}s, found {found}")]
    TooLarge {
        /// The size line.
        at: Location,
        /// Whether there are too many rows or too many columns.
        axis: Axis,
        /// How many the file declares.
        found: u64,
        /// The most there can be.
        limit: u32,
    },

    /// A symmetric or skew-symmetric matrix is not square.
    #[error("{at}: expected as many rows as columns in a {symmetry} matrix, found {rows} x {columns}")]
    NotSquare {
        /// The size line.
        at: Location,
        /// What the banner says.
        symmetry: Symmetry,
        /// Declared number of rows.
        rows: u32,
        /// Declared number of columns.
        columns: u32,
    },

    /// A matrix that has to be square is not.
    #[error("{at}: expected a square matrix, found {rows} x {columns}")]
    Rectangular {
        /// The size line.
        at: Location,
        /// Declared number of rows.
        rows: u32,
        /// Declared number of columns.
        columns: u32,
    },

    /// A file that should hold a vector holds a matrix with several columns, or none.
    #[error("{at}: expected a vector, n x 1, found {rows} x {columns}")]
    NotAVector {
        /// The size line.
        at: Location,
        /// Declared number of rows.
        rows: u32,
        /// Declared number of columns.
        columns: u32,
    },

    /// A vector does not have the length it is needed with.
    #[error("{at}: expected a vector of length {expected}, found length {found}")]
    WrongLength {
        /// The size line.
        at: Location,
        /// The length needed.
        expected: usize,
        /// The length declared.
        found: u32,
    },

    /// There is no memory for a vector of the length needed.
    #[error("{}: no memory for a vector of length {length}", file.display())]
    NoMemory {
        /// The file, as the caller named it.
        file: PathBuf,
        /// The length.
        length: usize,
    },

    /// A line has more or fewer fields than its kind of file asks for.
    #[error("{at}: expected {expected} {} \"{layout}\", found {found}", plural(*expected, "field"))]
    FieldCount {
        /// The line.
        at: Location,
        /// How many fields there should be.
        expected: usize,
        /// Their names.
        layout: &'static str,
        /// How many there are.
        found: usize,
    },

    /// A field is not a number of the right kind.
    #[error("{at}: expected {expected}, found {found:?}")]
    Number {
        /// The line.
        at: Location,
        /// What kind of number.
        expected: &'static str,
        /// The field, shortened.
        found: String,
    },

    /// A value is not a number, infinite, or too large for 64 bits.
    #[error("{at}: expected a finite value, found {found:?}")]
    NotFinite {
        /// The line.
        at: Location,
        /// The field, shortened.
        found: String,
    },

    /// A row or column index does not lie in the matrix.
    #[error("{at}: expected a {axis} index from 1 to {limit}, found {found}")]
    IndexOutOfRange {
        /// The line.
        at: Location,
        /// Whether it is the row or the column.
        axis: Axis,
        /// The index found.
        found: i64,
        /// The number of rows or columns: the largest index.
        limit: u32,
    },

    /// An entry of a symmetric or skew-symmetric file lies above the diagonal, where entries follow from the others.
    #[error(
        "{at}: expected only entries on or below the diagonal of a {symmetry} matrix, found row {row} column {column}"
    )]
    WrongTriangle {
        /// The line.
        at: Location,
        /// What the banner says.
        symmetry: Symmetry,
        /// The row, from 1.
        row: u32,
        /// The column, from 1.
        column: u32,
    },

    /// A skew-symmetric file gives a diagonal entry that is not zero.
    #[error("{at}: expected zero at row {row} column {row} of a skew-symmetric matrix, found {found}")]
    SkewDiagonal {
        /// The line.
        at: Location,
        /// The row, and the column, from 1.
        row: u32,
        /// The value.
        found: f64,
    },

    /// There are more or fewer entries than the size line declares.
    ///
    /// The line is the first one too many, or the last of the file.
    #[error("{at}: expected {declared} {}, as line {declared_on} declares, found {found}", plural_entry(*declared))]
    CountMismatch {
        /// The first entry too many, or the last line.
        at: Location,
        /// The number of entries that the size line declares.
        declared: u64,
        /// The size line.
        declared_on: u64,
        /// The number of entries in the file.
        found: u64,
    },

    /// Two lines give the same entry.
    #[error(
        "{at}: expected each entry once, found row {row} column {column} again, first given on line {first}; \
         `--duplicates sum` would add them up"
    )]
    Duplicate {
        /// The second of the two lines.
        at: Location,
        /// The first of the two lines.
        first: u64,
        /// The row, from 1.
        row: u32,
        /// The column, from 1.
        column: u32,
    },

    /// The sum of the lines that give the same entry is too large for 64 bits.
    #[error("{at}: expected a finite sum of the entries at row {row} column {column}, found an overflow")]
    SumNotFinite {
        /// The line where the sum stops being finite.
        at: Location,
        /// The row, from 1.
        row: u32,
        /// The column, from 1.
        column: u32,
    },
}

/// What an error shows of `text`: all of it, or its beginning, so that a binary file cannot flood the terminal.
pub(super) fn excerpt(text: &str) -> String {
    match text.char_indices().nth(EXCERPT) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn plural(count: usize, noun: &'static str) -> String {
    if count == 1 {
        noun.to_owned()
    } else {
        format!("{noun}s")
    }
}

fn plural_entry(count: u64) -> &'static str {
    if count == 1 { "entry" } else { "entries" }
}
