//! The writer, for solutions and right-hand sides.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process,
};

/// A file could not be written; what stood at its path before still does.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write the file: {source}", file.display())]
#[non_exhaustive]
pub struct OutputError {
    /// The file, as the caller named it.
    pub file: PathBuf,
    /// What the system said.
    pub source: io::Error,
}

/// Writes `vector` to `path` as a Matrix Market array, one column of real numbers.
///
/// Each number has as many digits as it takes to read the same bits back. A value that is not finite is written as
/// `NaN`, `inf` or `-inf`, which other programs may take but [`read_vector`](super::read_vector) refuses.
///
/// The text goes to a temporary file in the same folder, which then takes the name `path`: whatever fails, the file
/// at `path` is the old one or the new one, whole. A link is followed; a path that is no regular file, such as
/// `/dev/stdout`, is written directly.
///
/// # Errors
///
/// [`OutputError`] where the system refuses to create, write or rename the file.
pub fn write_vector(path: impl AsRef<Path>, vector: &[f64]) -> Result<(), OutputError> {
    let path = path.as_ref();
    replace(path, |file| write_vector_to(file, vector)).map_err(|source| OutputError {
        file: path.to_path_buf(),
        source,
    })
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

/// Puts a file with what `fill` writes at `path`, in one step.
pub(super) fn replace(path: &Path, fill: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    // A rename would put the file in place of a link, not where the link points.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    // And it would put a regular file in place of a device or a pipe.
    let special = fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file());
    if special || target.file_name().is_none() {
        return fill(&File::create(&target)?);
    }
    let (file, temporary) = create_beside(&target)?;
    let written = fill(&file)
        // Otherwise a power cut could leave the new name with none of the new contents.
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, &target));
    if written.is_err() {
        // The first error says more than one about the clean-up would.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A new file in the folder of `target`, and its path.
fn create_beside(target: &Path) -> io::Result<(File, PathBuf)> {
    let mut serial = 0_u64;
    loop {
        let path = target.with_file_name(format!(".gridwise-{}-{serial}.tmp", process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            // Another thread's, or left behind by a process that was killed and had the same number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => serial += 1,
            Err(error) => return Err(error),
        }
    }
}
