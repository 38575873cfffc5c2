//! Finding a compiler for the device.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use crate::error::Error;

/// Names a rustup toolchain, or the path of a rustc.
pub(crate) const CHOICE: &str = "GRIDWISE_PTX_TOOLCHAIN";
/// The oldest version whose device back end is known to do: 1.96.
const OLDEST_MINOR: u32 = 96;
/// The device, to rustc.
pub(crate) const TARGET: &str = "nvptx64-nvidia-cuda";

/// A compiler that might do, or does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Toolchain {
    cargo: PathBuf,
    rustc: PathBuf,
    /// Told to the proxies of rustup.
    rustup: Option<String>,
    /// Whether it has to be told to allow unstable features.
    bootstrap: bool,
    /// Its version and LLVM's, once it was asked.
    version: String,
}

impl Toolchain {
    fn of_rustup(proxies: &Path, name: &str) -> Self {
        Self {
            cargo: proxies.join("cargo"),
            rustc: proxies.join("rustc"),
            rustup: Some(name.to_owned()),
            bootstrap: false,
            version: String::new(),
        }
    }

    fn at(rustc: PathBuf) -> Self {
        Self {
            cargo: rustc.with_file_name("cargo"),
            rustc,
            rustup: None,
            bootstrap: false,
            version: String::new(),
        }
    }

    /// What people call it.
    pub(crate) fn name(&self) -> String {
        match &self.rustup {
            Some(name) => format!("rustup's {name}"),
            None => self.rustc.display().to_string(),
        }
    }

    /// Which compiler it is, down to the commit.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// A command that runs its cargo.
    pub(crate) fn cargo(&self) -> Command {
        let mut command = Command::new(&self.cargo);
        command.env("RUSTC", &self.rustc);
        match &self.rustup {
            Some(name) => command.env("RUSTUP_TOOLCHAIN", name),
            None => command.env_remove("RUSTUP_TOOLCHAIN"),
        };
        if self.bootstrap {
            command.env("RUSTC_BOOTSTRAP", "1");
        }
        command
    }

    /// What its rustc prints, or why not.
    fn ask(&self, arguments: &[&str]) -> Result<String, String> {
        let mut command = Command::new(&self.rustc);
        match &self.rustup {
            Some(name) => command.env("RUSTUP_TOOLCHAIN", name),
            None => command.env_remove("RUSTUP_TOOLCHAIN"),
        };
        let output = command.args(arguments).output().map_err(|error| error.to_string())?;
        if output.status.success() {
            Ok(String::from_utf8_lossy(&output.stdout).into_owned())
        } else {
            let error = String::from_utf8_lossy(&output.stderr);
            Err(error.lines().next().unwrap_or("it fails").to_owned())
        }
    }

    /// Whether it will do; if not, why.
    fn probed(mut self) -> Result<Self, String> {
        let version = self.ask(&["-vV"])?;
        let release = release(&version).ok_or("it does not say which version it is")?;
        let minor = minor(release).ok_or_else(|| format!("its version, {release}, is none"))?;
        if minor < OLDEST_MINOR {
            return Err(format!("its version is {release}, at least 1.{OLDEST_MINOR} is needed"));
        }
        let sysroot = self.ask(&["--print", "sysroot"])?;
        let source = Path::new(sysroot.trim()).join("lib/rustlib/src/rust/library/core/src/lib.rs");
        if !source.exists() {
            let how = match &self.rustup {
                Some(name) => format!("rustup component add rust-src --toolchain {name}"),
                None => "apt-get install rust-web-src, where it is Debian's rustc-web".to_owned(),
            };
            return Err(format!("it has no source of the library; {how}"));
        }
        if !self
            .ask(&["--print", "target-list"])?
            .lines()
            .any(|target| target == TARGET)
        {
            return Err(format!("it does not know {TARGET}"));
        }
        self.bootstrap = !(release.contains("nightly") || release.contains("dev"));
        let line = |start: &str| version.lines().find(|line| line.starts_with(start)).unwrap_or("");
        self.version = format!("{}, {}", line("rustc "), line("LLVM version"));
        Ok(self)
    }
}

fn release(version: &str) -> Option<&str> {
    version.lines().find_map(|line| line.strip_prefix("release: "))
}

fn minor(release: &str) -> Option<u32> {
    release.strip_prefix("1.")?.split('.').next()?.parse().ok()
}

/// The directory of rustup's proxies, if there is a rustup.
fn proxies() -> Option<PathBuf> {
    let home = env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(env::var_os("HOME")?).join(".cargo")))?;
    let proxies = home.join("bin");
    proxies.join("rustup").exists().then_some(proxies)
}

/// Compilers to try, best first.
fn candidates() -> Vec<Toolchain> {
    let proxies = proxies();
    if let Some(choice) = env::var(CHOICE).ok().filter(|choice| !choice.is_empty()) {
        // Nothing else: who chooses wants to hear if that does not work.
        return vec![match &proxies {
            Some(proxies) if !choice.contains('/') => Toolchain::of_rustup(proxies, &choice),
            _ => Toolchain::at(choice.into()),
        }];
    }
    let mut candidates = Vec::new();
    // Set in build scripts.
    if let (Some(rustc), Some(cargo)) = (env::var_os("RUSTC"), env::var_os("CARGO")) {
        candidates.push(Toolchain {
            cargo: cargo.into(),
            rustc: rustc.into(),
            rustup: env::var("RUSTUP_TOOLCHAIN").ok(),
            bootstrap: false,
            version: String::new(),
        });
    }
    if let Some(proxies) = &proxies {
        candidates.push(Toolchain::of_rustup(proxies, "nightly"));
    }
    candidates.push(Toolchain::at("/usr/bin/rustc".into()));
    candidates
}

/// The first compiler that will do.
pub(crate) fn find() -> Result<Toolchain, Error> {
    let mut refused = Vec::new();
    for candidate in candidates() {
        let name = candidate.name();
        match candidate.probed() {
            Ok(toolchain) => return Ok(toolchain),
            Err(why) => refused.push((name, why)),
        }
    }
    Err(Error::NoToolchain { candidates: refused })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn versions_are_read() {
        let version = "rustc 1.96.0\nbinary: rustc\nrelease: 1.97.0-nightly\nLLVM version: 22.1\n";
        assert_eq!(release(version), Some("1.97.0-nightly"));
        assert_eq!(minor("1.97.0-nightly"), Some(97));
        assert_eq!(minor("1.96.0"), Some(96));
        assert_eq!(minor("2.0.0"), None);
    }

    #[test]
    fn a_compiler_that_is_not_there_says_so() {
        let nowhere = Toolchain::at("/nowhere/rustc".into());
        assert_eq!(nowhere.name(), "/nowhere/rustc");
        assert!(nowhere.probed().is_err());
    }
}
