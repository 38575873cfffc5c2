//! Misuse that the compiler refuses, each with what it says.
//!
//! The messages in the `.stderr` files are those of Rust 1.95, which CI pins; on another compiler the test is skipped, with a
//! line that says so. `TRYBUILD=overwrite cargo test --test compile_fail` writes them anew.

use std::{env, process::Command};

/// The compiler that the messages are of.
const COMPILER: &str = "rustc 1.95.";

#[test]
fn misuse_does_not_compile() {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let version = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("rustc runs")
        .stdout;
    let version = String::from_utf8_lossy(&version);
    if !version.starts_with(COMPILER) {
        println!(
            "skipped: the expected messages are those of {COMPILER}x, this is {}",
            version.trim()
        );
        return;
    }
    let cases = trybuild::TestCases::new();
    cases.compile_fail("../tests/compile_fail/a_*.rs");
    // With a program that has to run, all are built and not only checked: some errors come with the code of a kernel.
    cases.pass("../tests/compile_fail/right_use.rs");
}
