//! Compares compiled kernels with what is committed, and looks for what compilers are known to get wrong.
//!
//! ```text
//! ptx-check prebuilt [--bless]    the library's own kernels are what their source gives
//! ptx-check lint [--bless]        barriers, atomics and address spaces, of those and of the conformance suite's
//! ptx-check registers [--bless]   what ptxas makes of the library's own kernels on several devices
//! ptx-check driver                what the library takes CUDA's driver to be, against its header
//! ```
//!
//! With `--bless` the committed files are replaced instead. Exit code 2 means that a tool is missing, or another one than made the
//! committed files was taken, and which.
#![forbid(unsafe_code)]

mod compiler;
mod driver;
mod lint;
mod listing;
mod prebuilt;
mod registers;
mod snapshot;

use std::{
    env,
    path::{Path, PathBuf},
    process::ExitCode,
};

use gridwise_ptx::{Build, Ptx};

/// Why a check did not pass.
enum Failure {
    /// Something is wrong.
    Wrong(String),
    /// It cannot be told here.
    Missing(String),
}

impl From<String> for Failure {
    fn from(text: String) -> Self {
        Self::Wrong(text)
    }
}

/// A path in the workspace.
fn workspace(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Compiles a crate of the workspace; what is kept between runs lies below `target`, by the name of the variant.
fn compile(kernels: &str, variant: &str, flags: &[&str]) -> Result<(Ptx, String), Failure> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace("target"), PathBuf::from);
    let mut build = Build::new(workspace(kernels));
    for flag in flags {
        build = build.flag(*flag);
    }
    let ptx = build
        .compile(&target.join("ptx-check").join(variant))
        .map_err(|error| match error {
            gridwise_ptx::Error::NoToolchain { .. } => Failure::Missing(error.to_string()),
            error => Failure::Wrong(error.to_string()),
        })?;
    let what = [&[kernels], flags].concat().join(" ");
    println!("{what}: compiled by {} ({})", ptx.compiler, ptx.toolchain);
    let text = std::fs::read_to_string(&ptx.path).map_err(|error| error.to_string())?;
    Ok((ptx, text))
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (command, bless) = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [command] => (command.to_owned(), false),
        [command, "--bless"] => (command.to_owned(), true),
        _ => (String::new(), false),
    };
    let result = match &*command {
        "prebuilt" => prebuilt::check(bless),
        "lint" => lint::check(bless),
        "registers" => registers::check(bless),
        "driver" if !bless => driver::check(),
        _ => Err(Failure::Wrong(
            "usage: ptx-check prebuilt|lint|registers [--bless], ptx-check driver".to_owned(),
        )),
    };
    match result {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(Failure::Wrong(what)) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
        Err(Failure::Missing(what)) => {
            eprintln!("{what}");
            ExitCode::from(2)
        }
    }
}
