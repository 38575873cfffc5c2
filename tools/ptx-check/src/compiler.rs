//! Which compiler made what is committed, and which is here. Two compilers order and name things differently, so what they make is not
//! compared.

use std::env;

use gridwise_ptx::Ptx;

use crate::{Failure, prebuilt, workspace};

/// As in `gridwise-ptx`.
const CHOICE: &str = "GRIDWISE_PTX_TOOLCHAIN";
/// Starts the line that says which compiler made a file.
pub(crate) const MADE_BY: &str = "// Compiled by ";

/// Whether what this compiler made may be compared with what is committed, or replace it; if not, how it may.
pub(crate) fn is_that_of_the_committed(ptx: &Ptx) -> Result<(), Failure> {
    let file = workspace(prebuilt::FILE);
    let committed = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
    compare(made_by(&committed), &ptx.compiler, &ptx.toolchain).map_err(Failure::Missing)
}

/// As [`is_that_of_the_committed`]; a compiler that was chosen by name may also replace what another one made.
pub(crate) fn may_replace_the_committed(ptx: &Ptx) -> Result<(), Failure> {
    match env::var_os(CHOICE) {
        Some(choice) if !choice.is_empty() => Ok(()),
        _ => is_that_of_the_committed(ptx),
    }
}

fn made_by(committed: &str) -> &str {
    let mut lines = committed.lines();
    lines
        .find_map(|line| line.strip_prefix(MADE_BY))
        .unwrap_or("nobody knows what")
}

fn compare(by: &str, here: &str, toolchain: &str) -> Result<(), String> {
    let why = format!(
        "orders and names things differently. Choose the first: {CHOICE} takes the name of a rustup toolchain, or the path of a rustc; \
         Debian's rustc-web is {CHOICE}=/usr/bin/rustc"
    );
    is_the_same(by, here, toolchain, &why)
}

/// Whether what made the committed files is the tool that is here, at some `place`; if not, `why` that matters and what to do.
pub(crate) fn is_the_same(by: &str, here: &str, place: &str, why: &str) -> Result<(), String> {
    if by == here {
        return Ok(());
    }
    Err(format!(
        "NOT CHECKED: what is committed was made by\n    {by}\nand here it would be by\n    {here} ({place})\nwhich {why}"
    ))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn another_compiler_is_named_and_the_way_to_the_one_that_is_needed() {
        let by = made_by("// A comment.\n// Compiled by rustc 1, LLVM 2\n.version 7.8\n");
        assert_eq!(compare(by, "rustc 1, LLVM 2", "/usr/bin/rustc"), Ok(()));
        let said = compare(by, "rustc 3, LLVM 4", "rustup's nightly").unwrap_err();
        for part in [
            "by\n    rustc 1, LLVM 2\n",
            "by\n    rustc 3, LLVM 4 (rustup's nightly)\n",
            "GRIDWISE_PTX_TOOLCHAIN=/usr/bin/rustc",
        ] {
            assert!(said.contains(part), "{said}");
        }
    }
}
