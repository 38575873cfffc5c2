//! That a file is the old one or the new one, and that trouble is foreseen.

use std::{env, io::Write};

use super::*;

/// A folder that goes away with its value.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("gridwise-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn names(&self) -> Vec<String> {
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

fn write_text(path: &Path, text: &str) -> Result<(), OutputError> {
    write(path, |mut file| file.write_all(text.as_bytes()))
}

#[test]
fn a_failure_leaves_the_old_file_and_no_other() {
    let folder = Folder::new("failure");
    let path = folder.0.join("x.mtx");
    fs::write(&path, "old").unwrap();
    let failed = write(&path, |mut file| {
        file.write_all(b"half a file")?;
        Err(io::Error::other("disk full"))
    });
    assert_eq!(failed.unwrap_err().source.to_string(), "disk full");
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(folder.names(), ["x.mtx"]);
}

#[test]
fn a_temporary_file_left_behind_is_no_obstacle() {
    let folder = Folder::new("leftover");
    let leftover = format!(".gridwise-{}-0.tmp", std::process::id());
    fs::write(folder.0.join(&leftover), "").unwrap();
    write_text(&folder.0.join("x.mtx"), "new").unwrap();
    assert_eq!(folder.names(), [leftover.as_str(), "x.mtx"]);
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_stays() {
    let folder = Folder::new("link");
    let (target, link) = (folder.0.join("x.mtx"), folder.0.join("link.mtx"));
    fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    write_text(&link, "new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&target).unwrap(), "new");
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
    check(&path).unwrap();
    write_text(&path, "new").unwrap();
    assert!(fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
    assert_eq!(reader.join().unwrap(), b"new");
}

#[test]
fn a_check_leaves_everything_as_it_was() {
    let folder = Folder::new("check");
    let path = folder.0.join("x.mtx");
    check(&path).unwrap();
    assert!(folder.names().is_empty());
    fs::write(&path, "old").unwrap();
    check(&path).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(folder.names(), ["x.mtx"]);
}

#[test]
fn a_check_foresees_what_writing_meets() {
    let folder = Folder::new("foresee");
    fs::write(folder.0.join("file"), "").unwrap();
    for name in ["nowhere/x.mtx", "file/x.mtx", "nowhere/", ""] {
        let path = if name.is_empty() {
            folder.0.clone()
        } else {
            folder.0.join(name)
        };
        let foreseen = check(&path).unwrap_err().to_string();
        let met = write_text(&path, "new").unwrap_err().to_string();
        let expected = format!("{}: cannot write the file: ", path.display());
        assert!(foreseen.starts_with(&expected), "{foreseen}");
        assert!(met.starts_with(&expected), "{met}");
    }
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn a_file_is_known_by_other_paths_there_or_not() {
    let folder = Folder::new("same");
    let [direct, around] = ["x.mtx", "inner/../x.mtx"].map(|name| folder.0.join(name));
    fs::create_dir(folder.0.join("inner")).unwrap();
    assert!(is_same_file(&direct, &around));
    fs::write(&direct, "").unwrap();
    assert!(is_same_file(&direct, &around));
    assert!(!is_same_file(&direct, &folder.0.join("y.mtx")));
    assert!(!is_same_file(Path::new("/dev/null"), Path::new("/dev/null")));
}
