//! Compiling a crate of kernels.

use std::{
    env,
    ffi::OsStr,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    error::Error,
    sources,
    toolchain::{self, CHOICE, TARGET, Toolchain},
};

/// How to compile a crate of kernels.
///
/// ```no_run
/// # fn main() -> Result<(), gridwise_ptx::Error> {
/// gridwise_ptx::Build::new("../kernels").cpu("sm_80").fallback("kernels.ptx").run()
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Build {
    kernels: PathBuf,
    cpu: String,
    ptx_version: u32,
    features: Vec<String>,
    variable: Option<String>,
    fallback: Option<PathBuf>,
    lines: bool,
    flags: Vec<String>,
}

/// A compiled crate.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ptx {
    /// Where the text is.
    pub path: PathBuf,
    /// What it was compiled from: every source file of the crate and of its path dependencies, and its manifest.
    pub sources: Vec<PathBuf>,
    /// What compiled it: the name of a toolchain or the path of a compiler.
    pub toolchain: String,
    /// Which compiler that is: its version and LLVM's. Another one makes another text.
    pub compiler: String,
}

impl Build {
    /// Of the crate in that directory; in a build script, relative to the package that is being built.
    pub fn new(kernels: impl Into<PathBuf>) -> Self {
        Self {
            kernels: kernels.into(),
            cpu: "sm_70".to_owned(),
            ptx_version: 78,
            features: Vec::new(),
            variable: None,
            fallback: None,
            lines: false,
            flags: Vec::new(),
        }
    }

    /// The oldest device that is to run it: `sm_70` by default, the oldest that gridwise runs on. The driver compiles for newer
    /// ones.
    pub fn cpu(mut self, cpu: impl Into<String>) -> Self {
        self.cpu = cpu.into();
        self
    }

    /// Version of the language, times ten: 78 by default, which drivers from CUDA 11.8 on read.
    pub fn ptx_version(mut self, version: u32) -> Self {
        self.ptx_version = version;
        self
    }

    /// Features of the crate to turn on.
    pub fn features(mut self, features: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.features.extend(features.into_iter().map(Into::into));
        self
    }

    /// The environment variable in which the program finds the path. By default the name of the package in capitals, and
    /// `_PTX`: `KERNELS_PTX`.
    pub fn variable(mut self, name: impl Into<String>) -> Self {
        self.variable = Some(name.into());
        self
    }

    /// A text to take where there is no compiler for the device: the path of what a build on another machine left in `OUT_DIR`,
    /// committed. Cargo shows a warning then. Where there is a compiler, it is not looked at.
    pub fn fallback(mut self, ptx: impl Into<PathBuf>) -> Self {
        self.fallback = Some(ptx.into());
        self
    }

    /// Whether the text says of each instruction which line of the source it comes from, for profilers. No by default.
    pub fn lines(mut self, lines: bool) -> Self {
        self.lines = lines;
        self
    }

    /// A further flag for rustc, after all others.
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }

    /// From a build script: compiles, and tells cargo the path and what it depends on.
    ///
    /// # Errors
    /// If there is no compiler and no [fallback](Self::fallback), the crate does not compile, or a file cannot be read or
    /// written.
    pub fn run(&self) -> Result<(), Error> {
        let variable = "OUT_DIR";
        let out = env::var_os(variable).ok_or(Error::NotABuildScript { variable })?;
        println!("cargo:rerun-if-env-changed={CHOICE}");
        let path = match (self.compile(Path::new(&out)), &self.fallback) {
            (Ok(ptx), _) => {
                for source in ptx.sources {
                    println!("cargo:rerun-if-changed={}", source.display());
                }
                ptx.path
            }
            (Err(error @ Error::NoToolchain { .. }), Some(fallback)) => {
                let fallback = absolute(fallback)?;
                for line in error.to_string().lines() {
                    println!("cargo:warning={line}");
                }
                println!("cargo:warning=taking {} as it is", fallback.display());
                println!("cargo:rerun-if-changed={}", fallback.display());
                fallback
            }
            (Err(error), _) => return Err(error),
        };
        println!("cargo:rustc-env={}={}", self.variable_name()?, path.display());
        Ok(())
    }

    /// Compiles into a directory, which keeps what can be used again the next time.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn compile(&self, out: &Path) -> Result<Ptx, Error> {
        let toolchain = toolchain::find()?;
        let manifest = absolute(&self.kernels.join("Cargo.toml"))?;
        let target = out.join(format!("gridwise-ptx-{}", self.cpu));
        fs::create_dir_all(&target).map_err(|error| Error::file(&target, error))?;
        let target = absolute(&target)?;
        let assembly = target.join(format!("{}.ptx", self.package()?));

        let mut cargo = self.command(&toolchain, &manifest, &target, &assembly);
        let output = cargo
            .output()
            .map_err(|error| Error::file(cargo.get_program().as_ref(), error))?;
        if !output.status.success() {
            return Err(Error::Compile {
                kernels: self.kernels.clone(),
                toolchain: toolchain.name(),
                output: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
        }
        let text = fs::read_to_string(&assembly).map_err(|error| Error::file(&assembly, error))?;
        let unresolved = text.lines().find(|line| line.trim_start().starts_with(".extern .func"));
        if let Some(function) = unresolved {
            return Err(Error::Unresolved {
                function: function.to_owned(),
            });
        }
        Ok(Ptx {
            path: assembly,
            sources: sources_of(&target, &manifest)?,
            toolchain: toolchain.name(),
            compiler: toolchain.version().to_owned(),
        })
    }

    fn command(&self, toolchain: &Toolchain, manifest: &Path, target: &Path, assembly: &Path) -> Command {
        let mut cargo = toolchain.cargo();
        for (name, _) in env::vars_os() {
            if is_of_the_host(&name) {
                cargo.env_remove(name);
            }
        }
        let mut flags = vec![
            "-Zunstable-options".to_owned(),
            format!("-Ctarget-cpu={}", self.cpu),
            format!("-Ctarget-feature=+ptx{}", self.ptx_version),
            // Before 1.97 it copies barriers into the arms of a branch.
            "-Zmir-enable-passes=-JumpThreading".to_owned(),
        ];
        flags.extend(self.flags.iter().cloned());
        cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
        // Outside the crate, where configuration for the host might lie about.
        cargo.args(["rustc", "--lib", "--crate-type", "cdylib", "--release"]);
        cargo.args(["--target", TARGET, "-Zbuild-std=core"]);
        cargo.arg("--manifest-path").arg(manifest);
        cargo.arg("--target-dir").arg(target);
        for setting in [
            "lto=\"fat\"",
            "codegen-units=1",
            "opt-level=3",
            "panic=\"abort\"",
            if self.lines {
                "debug=\"line-directives-only\""
            } else {
                "debug=false"
            },
            "overflow-checks=false",
            "debug-assertions=false",
            "incremental=false",
            "strip=false",
        ] {
            cargo.arg("--config").arg(format!("profile.release.{setting}"));
        }
        if !self.features.is_empty() {
            cargo.arg("--features").arg(self.features.join(","));
        }
        let mut emit = std::ffi::OsString::from("--emit=asm=");
        emit.push(assembly);
        cargo.arg("--").arg(emit);
        // There is nothing to link: the text is complete.
        cargo.arg("-Clinker=true");
        // What `export!` needs, so that the crate need not ask for it.
        cargo.arg("-Zcrate-attr=feature(abi_ptx)");
        cargo
    }

    /// Name of the package, from its manifest.
    fn package(&self) -> Result<String, Error> {
        let path = self.kernels.join("Cargo.toml");
        let manifest = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
        package_name(&manifest).ok_or_else(|| {
            let error = std::io::Error::new(std::io::ErrorKind::InvalidData, "there is no name of a package");
            Error::file(&path, error)
        })
    }

    fn variable_name(&self) -> Result<String, Error> {
        Ok(match &self.variable {
            Some(name) => name.clone(),
            None => format!("{}_PTX", self.package()?.to_uppercase().replace('-', "_")),
        })
    }
}

/// Whether a variable is about how the host's code is compiled.
fn is_of_the_host(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    match &*name {
        "CARGO_HOME" | "CARGO_NET_OFFLINE" | "CARGO_NET_RETRY" | "CARGO_HTTP_TIMEOUT" | "CARGO_HTTP_PROXY"
        | "CARGO_HTTP_CAINFO" => false,
        "RUSTFLAGS"
        | "RUSTDOCFLAGS"
        | "RUSTC_WRAPPER"
        | "RUSTC_WORKSPACE_WRAPPER"
        | "RUSTDOC"
        | "CARGO"
        | "TARGET"
        | "HOST"
        | "OUT_DIR"
        | "PROFILE"
        | "OPT_LEVEL"
        | "DEBUG"
        | "NUM_JOBS" => true,
        // Which registries there are is not about the host.
        other => {
            other.starts_with("DEP_")
                || (other.starts_with("CARGO_")
                    && !other.starts_with("CARGO_REGISTR")
                    && !other.starts_with("CARGO_SOURCE_"))
        }
    }
}

/// The name in the section of the package.
fn package_name(manifest: &str) -> Option<String> {
    let mut lines = manifest
        .lines()
        .map(str::trim)
        .skip_while(|line| *line != "[package]")
        .skip(1);
    lines
        .by_ref()
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| {
            let (key, value) = line.split_once('=')?;
            let value = value.trim().strip_prefix('"')?.split('"').next()?;
            (key.trim() == "name").then(|| value.to_owned())
        })
}

fn absolute(path: &Path) -> Result<PathBuf, Error> {
    path.canonicalize().map_err(|error| Error::file(path, error))
}

/// Every file that cargo says the crate was compiled from.
fn sources_of(target: &Path, manifest: &Path) -> Result<Vec<PathBuf>, Error> {
    let release = target.join(TARGET).join("release");
    let mut sources = vec![manifest.to_owned()];
    let entries = fs::read_dir(&release).map_err(|error| Error::file(&release, error))?;
    for entry in entries.flatten() {
        let path = entry.path();
        if path.extension() == Some(OsStr::new("d")) {
            let text = fs::read_to_string(&path).map_err(|error| Error::file(&path, error))?;
            sources.extend(sources::in_dep_info(&text));
        }
    }
    Ok(sources)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn the_name_of_a_package_is_found_in_its_section() {
        let manifest =
            "[lib]\nname = \"other\"\n[package]\nversion = \"1.0.0\"\nname = \"my-kernels\" # here\n[features]\n";
        assert_eq!(package_name(manifest), Some("my-kernels".to_owned()));
        assert_eq!(package_name("[package]\n[lib]\nname = \"other\"\n"), None);
    }

    #[test]
    fn the_hosts_settings_are_told_from_those_of_the_network() {
        for host in [
            "RUSTFLAGS",
            "CARGO_ENCODED_RUSTFLAGS",
            "CARGO_BUILD_TARGET",
            "CARGO_PROFILE_RELEASE_LTO",
            "DEP_Z_ROOT",
        ] {
            assert!(is_of_the_host(OsStr::new(host)), "{host}");
        }
        for kept in [
            "CARGO_HOME",
            "CARGO_NET_OFFLINE",
            "PATH",
            "HTTPS_PROXY",
            "CARGO_REGISTRIES_OURS_INDEX",
        ] {
            assert!(!is_of_the_host(OsStr::new(kept)), "{kept}");
        }
    }
}
