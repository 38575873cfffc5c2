//! The lines after the size line: one entry each.

use super::{
    Field, Symmetry,
    error::{Axis, InputError, excerpt},
    header::{Banner, Format, Size, fields},
    lines::Lines,
};

/// An entry as a line of a file gives it, with indexes from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stored {
    pub(super) row: u32,
    pub(super) column: u32,
    pub(super) value: f64,
    /// The line, for messages about several entries.
    pub(super) line: u64,
}

impl Stored {
    /// Where the entry stands, as [`cell`] numbers it.
    pub(super) fn cell(&self) -> u64 {
        cell(self.row, self.column)
    }
}

/// Row and column as one number, which orders by row, then by column.
pub(super) fn cell(row: u32, column: u32) -> u64 {
    u64::from(row) << 32 | u64::from(column)
}

/// Reads the rest of the file: as many entries as `size` says, in the order of the file.
///
/// The memory taken follows from the lines that are there, never from the numbers in the size line.
pub(super) fn entries(lines: &mut Lines<'_>, banner: &Banner, size: &Size) -> Result<Vec<Stored>, InputError> {
    let mut stored = Vec::new();
    let mut next_cell = (first_row(banner.symmetry, 0), 0);
    while let Some(text) = lines.next_data()? {
        let found = stored.len() as u64;
        if found == size.count {
            return Err(count_mismatch(lines, size, found + 1 + lines.count_data()));
        }
        stored.push(match banner.format {
            Format::Coordinate => coordinate(lines, text, banner, size)?,
            Format::Array => {
                let [value] = exactly(lines, text, "value")?;
                let (row, column) = next_cell;
                // Within the declared count, so the cell lies in the matrix.
                next_cell = if row + 1 < size.rows {
                    (row + 1, column)
                } else {
                    (first_row(banner.symmetry, column + 1), column + 1)
                };
                Stored {
                    row,
                    column,
                    value: number(lines, value, banner.field)?,
                    line: lines.number(),
                }
            }
        });
    }
    let found = stored.len() as u64;
    if found < size.count {
        return Err(count_mismatch(lines, size, found));
    }
    Ok(stored)
}

/// The row in which an array file begins the column `column`.
fn first_row(symmetry: Symmetry, column: u32) -> u32 {
    match symmetry {
        Symmetry::General => 0,
        Symmetry::Symmetric => column,
        Symmetry::SkewSymmetric => column.saturating_add(1),
    }
}

fn count_mismatch(lines: &Lines<'_>, size: &Size, found: u64) -> InputError {
    InputError::CountMismatch {
        at: lines.at(),
        declared: size.count,
        declared_on: size.line,
        found,
    }
}

/// The entry that a line of a coordinate file gives.
fn coordinate(lines: &Lines<'_>, text: &str, banner: &Banner, size: &Size) -> Result<Stored, InputError> {
    let (row, column, value) = if banner.field == Field::Pattern {
        let [row, column] = exactly(lines, text, "row column")?;
        (row, column, None)
    } else {
        let [row, column, value] = exactly(lines, text, "row column value")?;
        (row, column, Some(value))
    };
    let row = index(lines, row, Axis::Row, size.rows)?;
    let column = index(lines, column, Axis::Column, size.columns)?;
    let value = match value {
        Some(value) => number(lines, value, banner.field)?,
        None => 1.0,
    };

    let symmetry = banner.symmetry;
    if symmetry != Symmetry::General && row < column {
        return Err(InputError::WrongTriangle {
            at: lines.at(),
            symmetry,
            row: row + 1,
            column: column + 1,
        });
    }
    if symmetry == Symmetry::SkewSymmetric && row == column && value != 0.0 {
        return Err(InputError::SkewDiagonal {
            at: lines.at(),
            row: row + 1,
            found: value,
        });
    }
    Ok(Stored {
        row,
        column,
        value,
        line: lines.number(),
    })
}

/// The fields of a line, which are those that `layout` names.
fn exactly<'a, const N: usize>(
    lines: &Lines<'_>,
    text: &'a str,
    layout: &'static str,
) -> Result<[&'a str; N], InputError> {
    fields(text).map_err(|found| InputError::FieldCount {
        at: lines.at(),
        expected: N,
        layout,
        found,
    })
}

/// An index that the file counts from 1, counted from 0.
fn index(lines: &Lines<'_>, field: &str, axis: Axis, limit: u32) -> Result<u32, InputError> {
    let Ok(found) = field.parse::<i64>() else {
        let expected = match axis {
            Axis::Row => "a row index, a whole number",
            Axis::Column => "a column index, a whole number",
        };
        return Err(InputError::Number {
            at: lines.at(),
            expected,
            found: excerpt(field),
        });
    };
    match u32::try_from(found) {
        Ok(index) if 1 <= index && index <= limit => Ok(index - 1),
        _ => Err(InputError::IndexOutOfRange {
            at: lines.at(),
            axis,
            found,
            limit,
        }),
    }
}

/// A finite value, whole where the banner promises integers.
fn number(lines: &Lines<'_>, field: &str, kind: Field) -> Result<f64, InputError> {
    let bad_number = |expected| InputError::Number {
        at: lines.at(),
        expected,
        found: excerpt(field),
    };
    let value = decimal(field).ok_or_else(|| bad_number("a number"))?;
    if !value.is_finite() {
        return Err(InputError::NotFinite {
            at: lines.at(),
            found: excerpt(field),
        });
    }
    if kind == Field::Integer && value.fract() != 0.0 {
        return Err(bad_number("a whole number in an integer file"));
    }
    Ok(value)
}

/// A number as Rust writes it, or with the exponent of Fortran's double precision, `1.0D+03`.
fn decimal(field: &str) -> Option<f64> {
    if let Ok(value) = field.parse() {
        return Some(value);
    }
    // A whole file may be written with D, so the usual number is rewritten on the stack, not on the heap.
    let mut short = [0_u8; 64];
    let mut long = Vec::new();
    let copy = match short.get_mut(..field.len()) {
        Some(copy) => copy,
        None => {
            long.resize(field.len(), 0);
            &mut long[..]
        }
    };
    copy.copy_from_slice(field.as_bytes());
    let letter = copy.iter().position(|byte| matches!(byte, b'd' | b'D'))?;
    copy[letter] = b'e';
    str::from_utf8(copy).ok()?.parse().ok()
}
