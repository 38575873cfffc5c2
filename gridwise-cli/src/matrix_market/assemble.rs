//! From the entries of a file to the entries of a matrix: repeated ones settled, mirrored ones added, all in order.

use std::path::Path;

use super::{
    Duplicates, Entry, Symmetry,
    error::InputError,
    lines::locate,
    parse::{Stored, cell},
};

/// The entries of the matrix whose file gives `stored`, by row, then by column.
pub(super) fn assemble(
    mut stored: Vec<Stored>,
    symmetry: Symmetry,
    duplicates: Duplicates,
    file: &Path,
) -> Result<Vec<Entry>, InputError> {
    // A stable sort: entries of one cell keep the order of the file, in which they are compared and added up.
    stored.sort_by_key(Stored::cell);
    match duplicates {
        Duplicates::Error => refuse_duplicates(&stored, file)?,
        Duplicates::Sum => sum_duplicates(&mut stored, file)?,
    }
    Ok(expand(&stored, symmetry))
}

/// Reports the repeated entry whose repetition comes first in the file.
fn refuse_duplicates(sorted: &[Stored], file: &Path) -> Result<(), InputError> {
    let pairs = sorted.windows(2).filter(|pair| pair[0].cell() == pair[1].cell());
    match pairs.min_by_key(|pair| pair[1].line) {
        Some(pair) => Err(InputError::Duplicate {
            at: locate(file, pair[1].line),
            first: pair[0].line,
            row: pair[1].row + 1,
            column: pair[1].column + 1,
        }),
        None => Ok(()),
    }
}

/// Leaves one entry in each cell: the sum, added up in the order of the file.
fn sum_duplicates(sorted: &mut Vec<Stored>, file: &Path) -> Result<(), InputError> {
    let mut overflow = None;
    sorted.dedup_by(|next, sum| {
        if next.cell() != sum.cell() {
            return false;
        }
        sum.value += next.value;
        if !sum.value.is_finite() && overflow.is_none() {
            overflow = Some(*next);
        }
        true
    });
    match overflow {
        Some(entry) => Err(InputError::SumNotFinite {
            at: locate(file, entry.line),
            row: entry.row + 1,
            column: entry.column + 1,
        }),
        None => Ok(()),
    }
}

/// Adds the entries above the diagonal, where `symmetry` says that they follow from those below.
fn expand(sorted: &[Stored], symmetry: Symmetry) -> Vec<Entry> {
    let entry = |stored: &Stored| Entry {
        row: stored.row,
        column: stored.column,
        value: stored.value,
    };
    let sign = match symmetry {
        Symmetry::General => return sorted.iter().map(entry).collect(),
        Symmetry::Symmetric => 1.0,
        Symmetry::SkewSymmetric => -1.0,
    };
    let mirrored = |stored: &Stored| Entry {
        row: stored.column,
        column: stored.row,
        value: sign * stored.value,
    };
    let below = sorted.iter().filter(|stored| stored.row != stored.column);
    let mut entries: Vec<Entry> = sorted.iter().map(entry).chain(below.map(mirrored)).collect();
    entries.sort_unstable_by_key(|entry| cell(entry.row, entry.column));
    entries
}
