//! The library's own kernels: what is committed is what their source gives.

use crate::{
    Failure, compile,
    compiler::{self, MADE_BY},
    snapshot, workspace,
};

const CRATE: &str = "tools/prebuilt";
pub(crate) const FILE: &str = "gridwise/src/backend/cuda/prebuilt.ptx";

pub(crate) fn check(bless: bool) -> Result<String, Failure> {
    let (ptx, text) = compile(CRATE, "prebuilt", &[])?;
    match bless {
        true => compiler::may_replace_the_committed(&ptx)?,
        false => compiler::is_that_of_the_committed(&ptx)?,
    }
    let now = format!(
        "// The library's own kernels: tools/prebuilt, made by `cargo run -p ptx-check -- prebuilt --bless`.\n{MADE_BY}{}\n{text}",
        ptx.compiler
    );
    snapshot::check(&workspace(FILE), &now, bless, "prebuilt")
}
