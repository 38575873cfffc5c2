//! Wrong and right command lines.

use crate::support::{Folder, POISSON, command, gridwise, outcome, words};

#[test]
fn wrong_usage_ends_with_2_and_says_what_was_expected() {
    for (line, expected) in [
        ("solve", "<A.mtx>"),
        ("solv A.mtx", "'solve'"),
        ("solve A.mtx --metod cg", "'--method'"),
        ("solve A.mtx --method jacobi", "auto, cg, bicgstab"),
        ("solve A.mtx --strategy fast", "auto, persistent, relaunch"),
        ("solve A.mtx --duplicates keep", "error, sum"),
        ("solve A.mtx --tolerance 0", "expected a positive number"),
        ("solve A.mtx --tolerance -1e-3", "expected a positive number"),
        ("solve A.mtx --tolerance nan", "expected a positive number"),
        ("solve A.mtx --max-steps many", "expected a whole number"),
        ("solve A.mtx --max-steps -3", "expected a whole number"),
        ("solve A.mtx B.mtx", "B.mtx"),
        ("devices --fast", "--fast"),
        ("bench --fast", "--fast"),
        ("bench A.mtx", "A.mtx"),
        ("bench --plot", "--plot"),
        ("solve A.mtx --trace-events 5", "--trace"),
        (
            "solve A.mtx --trace t.json --trace-events many",
            "expected a whole number",
        ),
        ("gallery nothing", "no exhibit `nothing`"),
        ("gallery --list --json", "--json"),
        ("", "Usage: gridwise"),
    ] {
        let outcome = words(line);
        assert_eq!(
            (outcome.code, outcome.stdout.as_str()),
            (Some(2), ""),
            "{line}: {outcome:?}"
        );
        assert!(outcome.stderr.contains(expected), "{line}: {outcome:?}");
    }
}

#[test]
fn a_schedule_that_is_none_is_refused_and_one_of_a_finding_runs_alone() {
    let gallery = |token| outcome(command(["gallery", "torn_read"]).env("GRIDWISE_CHECK_REPLAY", token));
    let refused = gallery("fast");
    assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
    assert!(
        refused.stderr.contains("GRIDWISE_CHECK_REPLAY is `fast`"),
        "{refused:?}"
    );

    let found = words("gallery torn_read").stdout;
    let (_, token) = found
        .split_once("GRIDWISE_CHECK_REPLAY=")
        .expect("a finding has a token");
    let again = gallery(token.split_whitespace().next().unwrap());
    assert_eq!(again.code, Some(0), "{again:?}");
    let one = ["unfinished work", "1 schedule, 1 launch"];
    assert!(one.iter().all(|text| again.stdout.contains(text)), "{again:?}");
}

#[test]
fn help_names_every_option_and_ends_with_0() {
    let outcome = words("help solve");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    for option in [
        "--rhs",
        "--method",
        "--tolerance",
        "--max-steps",
        "--strategy",
        "--device",
        "--duplicates",
        "-o, --output",
        "--plot",
        "--trace",
        "--trace-events",
        "--json",
        "Examples:",
        "Exit codes:",
        "GRIDWISE_DEVICE",
        "bicgstab",
        "relaunch",
        "1e-8",
    ] {
        assert!(outcome.stdout.contains(option), "{option}: {}", outcome.stdout);
    }
    for line in ["--help", "--version", "devices --help", "bench --help"] {
        assert_eq!(words(line).code, Some(0), "{line}");
    }
}

#[test]
fn a_device_that_is_not_there_is_refused_with_the_words_that_named_it() {
    for (name, expected) in [
        ("gpu", "there is no device `gpu`"),
        #[cfg(not(feature = "cuda"))]
        ("cuda:0", "this program was built without CUDA"),
        ("cpu:blocks=0", "device option blocks is 0"),
        ("cpu:blocks=many", "device option `blocks=many` is not understood"),
        ("cpu:speed=2", "device option `speed=2` is not understood"),
    ] {
        gridwise(["solve", POISSON, "--device", name]).refused(&format!("--device {name}: {expected}"));
        for line in [&["solve", POISSON][..], &["devices"], &["bench"]] {
            outcome(command(line).env("GRIDWISE_DEVICE", name)).refused(&format!("GRIDWISE_DEVICE={name}: {expected}"));
        }
    }
}

#[cfg(unix)]
#[test]
fn a_device_whose_name_is_no_text_is_refused() {
    let garbled = std::os::unix::ffi::OsStrExt::from_bytes(b"cpu:\xff");
    outcome(command(["devices"]).env::<_, &std::ffi::OsStr>("GRIDWISE_DEVICE", garbled))
        .refused("GRIDWISE_DEVICE=cpu:");
}

#[test]
fn the_environment_names_the_device_unless_the_command_line_does() {
    let blocks = |name: &str, arguments: &[&str]| {
        let mut command = command([&["solve", POISSON, "--json"], arguments].concat());
        let json = outcome(command.env("GRIDWISE_DEVICE", name)).json();
        (
            json["blocks"].as_u64().unwrap(),
            json["device"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(blocks("cpu:blocks=1", &[]), (1, "cpu:blocks=1,threads=1".to_owned()));
    assert_eq!(blocks("cpu:blocks=3", &[]), (3, "cpu:blocks=3,threads=1".to_owned()));
    let asked = ["--device", "cpu:blocks=2,threads=2,wait=passive"];
    assert_eq!(
        blocks("cpu:blocks=3", &asked),
        (2, "cpu:blocks=2,threads=2,wait=passive".to_owned())
    );
    // One that is not asked for need not be right.
    assert_eq!(blocks("gpu", &asked).0, 2);
}

#[test]
fn what_cannot_be_written_is_found_out_before_anything_is_read() {
    let folder = Folder::new("unwritable");
    let file = folder.file("file", "");
    for option in ["--output", "--plot", "--trace"] {
        for path in [
            "/nowhere/result".to_owned(),
            format!("{file}/result"),
            folder.path(""),
            folder.path("new/"),
        ] {
            gridwise(["solve", "/no/such/matrix.mtx", option, &path])
                .refused(&format!("{path}: cannot write the file: "));
        }
    }
    assert_eq!(folder.names(), ["file"]);
}

#[test]
fn no_file_is_written_over_another_of_the_same_call() {
    let folder = Folder::new("same-file");
    let matrix = folder.matrix("A.mtx", "real general", "1 1 1\n1 1 2");
    let rhs = folder.vector("b.mtx", &[2.0]);
    let before = folder.names();
    let solve = ["solve", &matrix, "--rhs", &rhs];
    let result = folder.path("result");
    let around = folder.path("../") + folder.path("").trim_end_matches('/').rsplit('/').next().unwrap() + "/result";
    for (options, expected) in [
        (
            ["--output", &matrix].to_vec(),
            format!("{matrix}: --output names the same file as the matrix"),
        ),
        (
            ["--plot", &matrix].to_vec(),
            format!("{matrix}: --plot names the same file as the matrix"),
        ),
        (
            ["--output", &rhs].to_vec(),
            format!("{rhs}: --output names the same file as --rhs"),
        ),
        (
            ["--trace", &matrix].to_vec(),
            format!("{matrix}: --trace names the same file as the matrix"),
        ),
        (
            ["--output", &result, "--plot", &around].to_vec(),
            format!("{around}: --plot names the same file as --output"),
        ),
    ] {
        gridwise([&solve[..], &options].concat()).refused(&expected);
    }
    assert_eq!(folder.names(), before);
}
