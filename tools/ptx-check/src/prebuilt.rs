//! The library's own kernels: what is committed is what their source gives.

use crate::{Failure, compile, snapshot, workspace};

const CRATE: &str = "tools/prebuilt";
const FILE: &str = "gridwise/src/backend/cuda/prebuilt.ptx";
/// Starts the line that says which compiler made the file.
const MADE_BY: &str = "// Compiled by ";

pub(crate) fn check(bless: bool) -> Result<String, Failure> {
    let (ptx, text) = compile(CRATE, "prebuilt", &[])?;
    let now = format!(
        "// The library's own kernels: tools/prebuilt, made by `cargo run -p ptx-check -- prebuilt --bless`.\n{MADE_BY}{}\n{text}",
        ptx.compiler
    );
    let file = workspace(FILE);
    if !bless {
        let committed = std::fs::read_to_string(&file).map_err(|error| format!("{FILE}: {error}"))?;
        let by = committed
            .lines()
            .find_map(|line| line.strip_prefix(MADE_BY))
            .unwrap_or("nobody knows what");
        if by != ptx.compiler {
            return Err(Failure::Missing(format!(
                "{FILE} was compiled by {by}; here is {}, which orders and names things differently: not compared",
                ptx.compiler
            )));
        }
    }
    snapshot::check(&file, &now, bless, "prebuilt")
}
