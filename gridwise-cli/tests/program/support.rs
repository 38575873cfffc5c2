//! Running the program, and files for it.

use std::{
    env,
    ffi::OsStr,
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

/// No call of the program takes anything like that long: a hang becomes a failure.
const LIMIT: Duration = Duration::from_secs(120);

/// What a call of the program left.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Outcome {
    /// The object on standard output.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// What the table on standard output says in the row `label`, continued lines included.
    #[track_caller]
    pub(crate) fn row(&self, label: &str) -> String {
        let mut lines = self.stdout.lines();
        let first = lines
            .by_ref()
            .find_map(|line| line.strip_prefix(' ')?.strip_prefix(label)?.strip_prefix(' '))
            .unwrap_or_else(|| panic!("no row {label}: {self:?}"));
        let more = lines.take_while(|line| line.starts_with("    "));
        let words = std::iter::once(first).chain(more).flat_map(str::split_whitespace);
        words.collect::<Vec<_>>().join(" ")
    }

    /// Asserts that it was bad input: exit code 2, nothing on standard output, and one line that begins so.
    #[track_caller]
    pub(crate) fn refused(&self, message: &str) {
        assert_eq!((self.code, self.stdout.as_str()), (Some(2), ""), "{self:?}");
        assert!(self.stderr.starts_with(&format!("gridwise: {message}")), "{self:?}");
        assert_eq!(self.stderr.lines().count(), 1, "{self:?}");
    }
}

/// The program with these arguments, no device named in the environment, and nothing to read.
pub(crate) fn command(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gridwise"));
    command
        .args(arguments)
        .env_remove("GRIDWISE_DEVICE")
        .stdin(Stdio::null());
    command
}

/// Runs the program.
#[track_caller]
pub(crate) fn gridwise(arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> Outcome {
    outcome(&mut command(arguments))
}

/// Runs the program on words separated by spaces.
#[track_caller]
pub(crate) fn words(line: &str) -> Outcome {
    gridwise(line.split_whitespace())
}

/// Runs a command to its end, with pipes for its output.
#[track_caller]
pub(crate) fn outcome(command: &mut Command) -> Outcome {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stdout = collect(child.stdout.take().unwrap());
    let stderr = collect(child.stderr.take().unwrap());
    let status = wait(child);
    Outcome {
        code: status.code(),
        stdout: stdout.join().unwrap(),
        stderr: stderr.join().unwrap(),
    }
}

fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut text = String::new();
        pipe.read_to_string(&mut text).unwrap();
        text
    })
}

/// Waits for the end, but not for ever.
#[track_caller]
pub(crate) fn wait(mut child: Child) -> ExitStatus {
    let deadline = Instant::now() + LIMIT;
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("the program hangs");
        }
        thread::sleep(Duration::from_millis(2));
    }
}

/// A folder that goes away with its value.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = env::temp_dir().join(format!("gridwise-program-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// A new file.
    pub(crate) fn file(&self, name: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// A new coordinate file: `kind` is the field and the symmetry.
    pub(crate) fn matrix(&self, name: &str, kind: &str, body: &str) -> String {
        self.file(name, format!("%%MatrixMarket matrix coordinate {kind}\n{body}\n"))
    }

    /// A new file with a column.
    pub(crate) fn vector(&self, name: &str, values: &[f64]) -> String {
        let path = self.path(name);
        gridwise_cli::matrix_market::write_vector(&path, values).unwrap();
        path
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

/// The example matrix of the repository.
pub(crate) const POISSON: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/poisson_24.mtx");

/// The folder `name` of the shared test data, unless it is not on this machine.
pub(crate) fn shared(name: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");
    let root = env::var_os("GRIDWISE_SHARED_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let folder = root.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no test data at {}", folder.display());
    None
}

/// |b - A x| / |b| for the matrix in a file; b is A times ones where none is given.
pub(crate) fn residual(matrix: impl AsRef<Path>, rhs: Option<&[f64]>, x: &[f64]) -> f64 {
    use gridwise_cli::matrix_market::{Duplicates, read_matrix};
    let matrix = read_matrix(matrix, Duplicates::Sum).unwrap();
    let times = |x: &[f64]| {
        let mut product = vec![0.0; x.len()];
        for entry in &matrix.entries {
            product[entry.row as usize] += entry.value * x[entry.column as usize];
        }
        product
    };
    let b = rhs.map_or_else(|| times(&vec![1.0; x.len()]), <[f64]>::to_vec);
    let norm = |vector: &[f64]| vector.iter().map(|value| value * value).sum::<f64>().sqrt();
    let difference: Vec<f64> = b.iter().zip(times(x)).map(|(b, product)| b - product).collect();
    norm(&difference) / norm(&b)
}
