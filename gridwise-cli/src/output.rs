//! Files that are written whole or not at all.

#[cfg(test)]
pub(crate) mod test;

use std::{
    fs::{self, File, OpenOptions},
    io,
    path::{Path, PathBuf},
    process,
};

use crate::failure::Failure;

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

/// Puts a file with what `fill` writes at `path`, in one step.
///
/// The text goes to a temporary file in the same folder, which then takes the name `path`: whatever fails, the file
/// at `path` is the old one or the new one, whole. A link is followed; a path that is no regular file, such as
/// `/dev/stdout`, is written directly.
///
/// # Errors
///
/// [`OutputError`] where the system refuses to create, write or rename the file.
pub fn write(path: impl AsRef<Path>, fill: impl FnOnce(&File) -> io::Result<()>) -> Result<(), OutputError> {
    let path = path.as_ref();
    replace(&Target::of(path), fill).map_err(|source| OutputError {
        file: path.to_path_buf(),
        source,
    })
}

/// Whether [`write()`] could begin: found out before the work whose result is to be written, and without changing what
/// stands at `path`.
///
/// # Errors
///
/// [`OutputError`] where the system refuses to create a file there.
pub fn check(path: impl AsRef<Path>) -> Result<(), OutputError> {
    let path = path.as_ref();
    let tried = match Target::of(path) {
        // To open a pipe would wait for its reader; that a folder cannot be written to is all that is sure to be known.
        Target::Direct(target) if target.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Target::Direct(target) => fs::metadata(&target).map(drop),
        Target::File(target) => create_beside(&target).and_then(|(_, temporary)| fs::remove_file(temporary)),
    };
    tried.map_err(|source| OutputError {
        file: path.to_path_buf(),
        source,
    })
}

/// Refuses what is to be written and cannot be, or would take the place of something else that is written or read. Each path has
/// the option that names it, or what it is.
///
/// # Errors
///
/// [`Failure::Output`] or [`Failure::SameFile`].
pub fn check_all(
    written: &[(&'static str, Option<&Path>)],
    read: &[(&'static str, Option<&Path>)],
) -> Result<(), Failure> {
    let mut others = read.to_vec();
    for &(option, path) in written {
        let Some(path) = path else { continue };
        check(path)?;
        let same = |other: &&(&str, Option<&Path>)| other.1.is_some_and(|other| is_same_file(path, other));
        if let Some(&(other, _)) = others.iter().find(same) {
            return Err(Failure::SameFile {
                option,
                other,
                file: path.to_path_buf(),
            });
        }
        others.push((option, Some(path)));
    }
    Ok(())
}

/// Whether both paths lead to the same file, there already or not. A device or a pipe can be told to take several things.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (Target::of(one), Target::of(other)) {
        (Target::File(one), Target::File(other)) => one == other,
        _ => false,
    }
}

/// Where a path leads.
enum Target {
    /// To a regular file, or to none yet.
    File(PathBuf),
    /// To a device, a pipe or a folder: nothing that a file may take the place of.
    Direct(PathBuf),
}

impl Target {
    fn of(path: &Path) -> Self {
        // `folder/` would be taken for the file `folder`.
        if path.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Self::Direct(path.to_path_buf());
        }
        // A rename would put the file in place of a link, not where the link points.
        match fs::canonicalize(path).ok().or_else(|| with_real_folder(path)) {
            // And it would put a regular file in place of a device or a pipe.
            Some(target) if fs::metadata(&target).is_ok_and(|metadata| !metadata.is_file()) => Self::Direct(target),
            Some(target) => Self::File(target),
            // The system will say what is wrong.
            None => Self::Direct(path.to_path_buf()),
        }
    }
}

/// The path of a file that is not there yet, in the folder that is.
fn with_real_folder(path: &Path) -> Option<PathBuf> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    Some(fs::canonicalize(folder).ok()?.join(path.file_name()?))
}

fn replace(target: &Target, fill: impl FnOnce(&File) -> io::Result<()>) -> io::Result<()> {
    let target = match target {
        Target::Direct(target) => return fill(&File::create(target)?),
        Target::File(target) => target,
    };
    let (file, temporary) = create_beside(target)?;
    let written = fill(&file)
        // Otherwise a power cut could leave the new name with none of the new contents.
        .and_then(|()| file.sync_all())
        .and_then(|()| fs::rename(&temporary, target));
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
