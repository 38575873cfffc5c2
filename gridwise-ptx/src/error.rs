//! What can go wrong.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// Why there is no PTX.
///
/// Its `Debug` form is its `Display` form, because that is what a build script shows that returns it from `main`.
#[non_exhaustive]
pub enum Error {
    /// No compiler can do it. For each that was looked at: what it is, and why not.
    NoToolchain {
        /// Compilers and reasons.
        candidates: Vec<(String, String)>,
    },
    /// The crate does not compile for the device.
    Compile {
        /// The crate's directory.
        kernels: PathBuf,
        /// What compiled it.
        toolchain: String,
        /// What cargo said.
        output: String,
    },
    /// The device's code calls a function that nothing provides.
    Unresolved {
        /// The declaration.
        function: String,
    },
    /// A file could not be read or written.
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// An environment variable that cargo sets for build scripts is missing.
    NotABuildScript {
        /// The variable.
        variable: &'static str,
    },
}

impl Error {
    pub(crate) fn file(path: &Path, error: std::io::Error) -> Self {
        Self::File {
            path: path.to_owned(),
            error,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoToolchain { candidates } => {
                writeln!(f, "no compiler for the device was found:")?;
                for (who, why) in candidates {
                    writeln!(f, "  {who}: {why}")?;
                }
                write!(
                    f,
                    "install one of\n  \
                     rustup toolchain install nightly --component rust-src\n  \
                     apt-get install rustc-web cargo-web rust-web-src\n\
                     or name one in GRIDWISE_PTX_TOOLCHAIN: a rustup toolchain, or the path of a rustc"
                )
            }
            Self::Compile {
                kernels,
                toolchain,
                output,
            } => write!(
                f,
                "{} does not compile for the device with {toolchain}:\n{output}",
                kernels.display()
            ),
            Self::Unresolved { function } => {
                write!(
                    f,
                    "a kernel calls a function that nothing provides on the device: {function}"
                )
            }
            Self::File { path, error } => write!(f, "{}: {error}", path.display()),
            Self::NotABuildScript { variable } => {
                write!(
                    f,
                    "{variable} is not set: this is for build scripts, elsewhere use Build::compile"
                )
            }
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}
