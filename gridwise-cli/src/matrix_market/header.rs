//! The banner and the size line: what a file says about itself before its entries.

use super::{
    Field, Symmetry,
    error::{Axis, BannerWord, InputError, excerpt},
    lines::Lines,
};

/// How the entries of a file are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// One line for each entry that is not zero, with its row and column.
    Coordinate,
    /// One line for each entry, column by column.
    Array,
}

/// The words of a banner.
#[derive(Clone, Copy, Debug)]
pub(super) struct Banner {
    pub(super) format: Format,
    pub(super) field: Field,
    pub(super) symmetry: Symmetry,
}

impl Banner {
    /// Reads the first line.
    pub(super) fn parse(lines: &mut Lines<'_>) -> Result<Self, InputError> {
        let Some(text) = lines.next_line()? else {
            return Err(InputError::Empty { at: lines.at() });
        };
        if text.is_empty() && lines.rest_is_blank() {
            return Err(InputError::Empty { at: lines.at() });
        }
        let bad_banner = || InputError::Banner {
            at: lines.at(),
            found: excerpt(text),
        };
        let [mark, object, format, field, symmetry] = fields(text).map_err(|_| bad_banner())?;
        if !mark.eq_ignore_ascii_case("%%MatrixMarket") {
            return Err(bad_banner());
        }

        let refuse = |word, expected, found| {
            Err(InputError::Unsupported {
                at: lines.at(),
                word,
                expected,
                found: excerpt(found),
            })
        };
        if !object.eq_ignore_ascii_case("matrix") {
            return refuse(BannerWord::Object, "matrix", object);
        }
        let format = match format {
            word if word.eq_ignore_ascii_case("coordinate") => Format::Coordinate,
            word if word.eq_ignore_ascii_case("array") => Format::Array,
            word => return refuse(BannerWord::Format, "coordinate or array", word),
        };
        let field = match field {
            word if word.eq_ignore_ascii_case("real") || word.eq_ignore_ascii_case("double") => Field::Real,
            word if word.eq_ignore_ascii_case("integer") => Field::Integer,
            // An array without values says nothing, so the format rules it out.
            word if word.eq_ignore_ascii_case("pattern") && format == Format::Array => {
                return refuse(BannerWord::Field, "real, double or integer in an array file", word);
            }
            word if word.eq_ignore_ascii_case("pattern") => Field::Pattern,
            word => return refuse(BannerWord::Field, "real, double, integer or pattern", word),
        };
        let symmetry = match symmetry {
            word if word.eq_ignore_ascii_case("general") => Symmetry::General,
            word if word.eq_ignore_ascii_case("symmetric") => Symmetry::Symmetric,
            // The ones of a pattern are a shorthand, which has no negative; the format rules this out too.
            word if word.eq_ignore_ascii_case("skew-symmetric") && field == Field::Pattern => {
                return refuse(BannerWord::Symmetry, "general or symmetric in a pattern file", word);
            }
            word if word.eq_ignore_ascii_case("skew-symmetric") => Symmetry::SkewSymmetric,
            word => return refuse(BannerWord::Symmetry, "general, symmetric or skew-symmetric", word),
        };
        Ok(Self {
            format,
            field,
            symmetry,
        })
    }
}

/// The dimensions of a matrix and the number of entries that its file gives.
#[derive(Clone, Copy, Debug)]
pub(super) struct Size {
    pub(super) rows: u32,
    pub(super) columns: u32,
    /// How many entries the file should give.
    pub(super) count: u64,
    /// The size line.
    pub(super) line: u64,
}

impl Size {
    /// Reads the size line, which follows the comments after the banner.
    pub(super) fn parse(lines: &mut Lines<'_>, banner: &Banner) -> Result<Self, InputError> {
        let expected = match banner.format {
            Format::Coordinate => "rows columns entries",
            Format::Array => "rows columns",
        };
        let Some(text) = lines.next_data()? else {
            return Err(InputError::NoSizeLine {
                at: lines.at(),
                expected,
            });
        };
        let bad_size = || InputError::SizeLine {
            at: lines.at(),
            expected,
            found: excerpt(text),
        };
        let whole = |field: &str| field.parse::<u64>().map_err(|_| bad_size());
        let (rows, columns, count) = match banner.format {
            Format::Coordinate => {
                let [rows, columns, count] = fields(text).map_err(|_| bad_size())?;
                (whole(rows)?, whole(columns)?, Some(whole(count)?))
            }
            Format::Array => {
                let [rows, columns] = fields(text).map_err(|_| bad_size())?;
                (whole(rows)?, whole(columns)?, None)
            }
        };

        let fit = |axis, found| {
            u32::try_from(found).map_err(|_| InputError::TooLarge {
                at: lines.at(),
                axis,
                found,
                limit: u32::MAX,
            })
        };
        let (rows, columns) = (fit(Axis::Row, rows)?, fit(Axis::Column, columns)?);
        let symmetry = banner.symmetry;
        if symmetry != Symmetry::General && rows != columns {
            return Err(InputError::NotSquare {
                at: lines.at(),
                symmetry,
                rows,
                columns,
            });
        }
        // Two factors of 32 bits: the products fit 64.
        let (height, width) = (u64::from(rows), u64::from(columns));
        let stored = match symmetry {
            Symmetry::General => height * width,
            Symmetry::Symmetric => height * (width + 1) / 2,
            Symmetry::SkewSymmetric => height * width.saturating_sub(1) / 2,
        };
        Ok(Self {
            rows,
            columns,
            count: count.unwrap_or(stored),
            line: lines.number(),
        })
    }
}

/// The `N` fields of a line, or how many there are instead.
pub(super) fn fields<const N: usize>(text: &str) -> Result<[&str; N], usize> {
    let mut words = text.split_ascii_whitespace();
    let mut fields = [""; N];
    for (found, field) in fields.iter_mut().enumerate() {
        *field = words.next().ok_or(found)?;
    }
    match words.count() {
        0 => Ok(fields),
        more => Err(N + more),
    }
}
