//! The writer, for solutions and right-hand sides.

use std::{
    io::{self, BufWriter, Write},
    path::Path,
};

use crate::output::{self, OutputError};

/// Writes `vector` to `path` as a Matrix Market array, one column of real numbers.
///
/// Each number has as many digits as it takes to read the same bits back. A value that is not finite is written as
/// `NaN`, `inf` or `-inf`, which other programs may take but [`read_vector`](super::read_vector) refuses.
///
/// The file at `path` is the old one or the new one, whole: see [`output::write()`].
///
/// # Errors
///
/// [`OutputError`] where the system refuses to create, write or rename the file.
pub fn write_vector(path: impl AsRef<Path>, vector: &[f64]) -> Result<(), OutputError> {
    output::write(path, |file| write_vector_to(file, vector))
}

/// Writes `vector` to `out` as [`write_vector`] does, through a buffer that is flushed at the end.
///
/// # Errors
///
/// Those of `out`.
///
/// # Examples
///
/// ```
/// let mut text = Vec::new();
/// gridwise_cli::matrix_market::write_vector_to(&mut text, &[1.0, -0.5])?;
/// assert_eq!(text, b"%%MatrixMarket matrix array real general\n2 1\n1e0\n-5e-1\n");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_vector_to(out: impl Write, vector: &[f64]) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    writeln!(out, "%%MatrixMarket matrix array real general")?;
    writeln!(out, "{} 1", vector.len())?;
    for value in vector {
        writeln!(out, "{value:e}")?;
    }
    out.flush()
}
