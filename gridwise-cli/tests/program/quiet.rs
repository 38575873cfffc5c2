//! What the program says where nobody looks, and where somebody does.

use std::{
    fs::File,
    process::{Command, Stdio},
};

use crate::support::{POISSON, command, gridwise, outcome, wait};

#[test]
fn nothing_but_the_report_is_said_into_pipes() {
    for arguments in [&["solve", POISSON][..], &["solve", POISSON, "--json"], &["devices"]] {
        let outcome = gridwise(arguments);
        assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
        assert!(!outcome.stdout.contains(['\x1b', '\r']), "{outcome:?}");
    }
}

#[test]
fn a_terminal_sees_progress_unless_json_was_asked_for() {
    for (option, shown) in [("", true), ("--json", false)] {
        let line = format!("{} solve {POISSON} {option}", env!("CARGO_BIN_EXE_gridwise"));
        let mut script = Command::new("script");
        script
            .args(["-qec", &line, "/dev/null"])
            .env("TERM", "xterm")
            .stdin(Stdio::null());
        if Command::new("script").arg("--version").output().is_err() {
            return eprintln!("skipped: no script to make a terminal");
        }
        let outcome = outcome(&mut script);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert_eq!(outcome.stdout.contains("step 16, residual"), shown, "{outcome:?}");
        let last = outcome.stdout.trim_end().lines().last().unwrap().trim();
        assert_eq!(last, if shown { "converged" } else { "}" }, "{outcome:?}");
    }
}

#[test]
fn a_reader_that_leaves_is_no_failure() {
    for arguments in [
        &["solve", POISSON][..],
        &["solve", POISSON, "--json"],
        &["devices"],
        &["--help"],
        &["help", "solve"],
    ] {
        let mut child = command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut stderr = child.stderr.take().unwrap();
        assert_eq!(wait(child).code(), Some(0), "{arguments:?}");
        let said = std::io::read_to_string(&mut stderr).unwrap();
        assert_eq!(said, "", "{arguments:?}");
    }
}

#[test]
fn the_exit_code_is_right_though_nobody_reads() {
    let mut child = command(["solve", POISSON, "--max-steps", "2"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    drop(child.stderr.take());
    assert_eq!(wait(child).code(), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_failure() {
    let child = command(["solve", POISSON])
        .stdout(File::options().write(true).open("/dev/full").unwrap())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let outcome = child.wait_with_output().unwrap();
    let said = String::from_utf8(outcome.stderr).unwrap();
    assert_eq!(outcome.status.code(), Some(1), "{said}");
    assert!(
        said.starts_with("gridwise: cannot write to standard output: "),
        "{said}"
    );
}

#[test]
fn a_matrix_can_come_from_a_pipe() {
    let mut with_pipe = command(["solve", "/dev/stdin"]);
    with_pipe.stdin(File::open(POISSON).unwrap());
    let outcome = outcome(&mut with_pipe);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
}
