//! The writer, and that the reader takes what it writes.

use std::{env, fs, io, path::PathBuf};

use proptest::prelude::*;

use super::super::*;

/// A folder that goes away with its value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("gridwise-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let mut names: Vec<_> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_file_is_replaced_and_nothing_else_is_left() {
    let folder = Folder::new("replace");
    let path = folder.0.join("x.mtx");
    write_vector(&path, &[1.0, 2.0]).unwrap();
    write_vector(&path, &[0.1]).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "%%MatrixMarket matrix array real general\n1 1\n1e-1\n"
    );
    assert_eq!(read_vector(&path, 1, Duplicates::Error).unwrap(), [0.1]);
    assert_eq!(folder.names(), ["x.mtx"]);
}

#[test]
fn a_failure_leaves_the_old_file_and_no_other() {
    let folder = Folder::new("failure");
    let path = folder.0.join("x.mtx");
    fs::write(&path, "old").unwrap();
    let failed = write::replace(&path, |mut file| {
        io::Write::write_all(&mut file, b"half a file")?;
        Err(io::Error::other("disk full"))
    });
    assert_eq!(failed.unwrap_err().to_string(), "disk full");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(folder.names(), ["x.mtx"]);
}

#[test]
fn a_temporary_file_left_behind_is_no_obstacle() {
    let folder = Folder::new("leftover");
    let leftover = format!(".gridwise-{}-0.tmp", std::process::id());
    fs::write(folder.0.join(&leftover), "").unwrap();
    write_vector(folder.0.join("x.mtx"), &[1.0]).unwrap();
    assert_eq!(folder.names(), [leftover.as_str(), "x.mtx"]);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = write_vector("/nowhere/x.mtx", &[1.0]).unwrap_err();
    assert!(
        error.to_string().starts_with("/nowhere/x.mtx: cannot write the file: "),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_stays() {
    let folder = Folder::new("link");
    let (target, link) = (folder.0.join("x.mtx"), folder.0.join("link.mtx"));
    fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    write_vector(&link, &[1.0]).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(read_vector(&target, 1, Duplicates::Error).unwrap(), [1.0]);
}

#[cfg(unix)]
#[test]
fn a_device_is_written_not_replaced() {
    use std::os::unix::fs::FileTypeExt;
    // A pipe of our own: a mistake here must not replace a device of the machine.
    let folder = Folder::new("pipe");
    let path = folder.0.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    if !made.is_ok_and(|status| status.success()) {
        eprintln!("skipped: no mkfifo here");
        return;
    }
    let reader = std::thread::spawn({
        let path = path.clone();
        move || fs::read(path).unwrap()
    });
    write_vector(&path, &[1.0]).unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
    assert_eq!(
        parse_vector(&reader.join().unwrap(), "pipe", 1, Duplicates::Error).unwrap(),
        [1.0]
    );
}

proptest! {
    #[test]
    fn a_vector_written_reads_back_bit_for_bit(bits in prop::collection::vec(any::<u64>(), 0..50)) {
        let vector: Vec<f64> = bits.into_iter().map(f64::from_bits).filter(|value| value.is_finite()).collect();
        let mut text = Vec::new();
        write_vector_to(&mut text, &vector).unwrap();
        let read = parse_vector(&text, "x.mtx", vector.len(), Duplicates::Error).unwrap();
        let bits = |vector: &[f64]| vector.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&read), bits(&vector));
    }
}
