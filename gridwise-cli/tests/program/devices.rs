//! `gridwise devices`.

use crate::support::{command, outcome, words};

#[test]
fn the_table_and_the_object_agree() {
    let text = words("devices");
    assert_eq!((text.code, text.stderr.as_str()), (Some(0), ""), "{text:?}");
    let json = words("devices --json").json();
    let device = &json["devices"][0];
    assert_eq!(json["default"], device["name"]);
    assert_eq!(text.row("device"), device["name"].as_str().unwrap());
    assert_eq!(text.row("workers"), device["workers"].to_string());
    let blocks = device["resident_blocks"].as_u64().unwrap();
    assert!(text.row("resident").starts_with(&format!("{blocks} block")), "{text:?}");
    assert!(text.row("cores").starts_with(&device["cores"].to_string()), "{text:?}");
    assert!(text.row("a block has").starts_with("1 thread, 256 KiB"), "{text:?}");
    assert!(text.row("waiting").starts_with("adaptive"), "{text:?}");
    for cost in ["barrier_nanoseconds", "launch_nanoseconds"] {
        assert!(device[cost].as_u64().unwrap() > 0, "{json}");
    }
}

#[test]
fn there_is_a_gpu_or_a_reason_why_not() {
    let text = words("devices").stdout;
    let json = words("devices --json").json();
    let why = json["missing"]
        .as_array()
        .unwrap()
        .iter()
        .find(|missing| missing["kind"] == "cuda");
    let gpus = json["devices"]
        .as_array()
        .unwrap()
        .iter()
        .any(|device| !device["gpu"].is_null());
    match why {
        Some(missing) => {
            let why = missing["why"].as_str().unwrap();
            assert!(!gpus && text.contains("Not here:"), "{text}");
            if cfg!(not(feature = "cuda")) {
                assert!(why.contains("--features cuda"), "{why}");
            }
            // In lines of 80 columns.
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>().join(" ");
            assert!(words(&text).contains(&words(&format!("cuda: {why}"))), "{text}");
        }
        None => assert!(gpus && text.contains("of compute capability"), "{text}"),
    }
}

#[test]
fn the_device_that_the_environment_names_comes_first() {
    let name = "cpu:blocks=3,threads=2,wait=passive,pin=off,shared=65536";
    let run = |arguments: &[&str]| outcome(command(arguments).env("GRIDWISE_DEVICE", name));
    let json = run(&["devices", "--json"]).json();
    assert_eq!(json["default"], name);
    assert_eq!(json["devices"].as_array().unwrap().len(), 2);
    let device = &json["devices"][0];
    for (field, value) in [
        ("workers", 6),
        ("resident_blocks", 3),
        ("threads_per_block", 2),
        ("shared_bytes", 65536),
    ] {
        assert_eq!(device[field], value, "{field}");
    }
    assert_eq!((&device["name"], &device["wait"]), (&name.into(), &"passive".into()));
    let text = run(&["devices"]);
    assert!(text.stdout.contains("as GRIDWISE_DEVICE names it"), "{text:?}");
    assert!(text.row("a block has").starts_with("2 threads, 64 KiB"), "{text:?}");
}

#[test]
fn no_line_is_wider_than_80_columns() {
    for name in [
        "",
        "cpu:blocks=2,threads=2,wait=passive",
        "cpu:blocks=3,wait=active,pin=off,shared=1000",
    ] {
        let text = outcome(command(["devices"]).env("GRIDWISE_DEVICE", name)).stdout;
        for line in text.lines() {
            assert!(line.chars().count() <= 80, "{name}: {line}");
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn an_affinity_mask_is_named_as_the_limit() {
    let everything = words("devices --json").json();
    let device = &everything["devices"][0];
    if device["cores_of_machine"].as_u64().unwrap() < 2 {
        return eprintln!("skipped: one core");
    }
    let allowed = gridwise_allowed_core();
    let Some(core) = allowed else {
        return eprintln!("skipped: no affinity mask");
    };
    let program = env!("CARGO_BIN_EXE_gridwise");
    let mut taskset = std::process::Command::new("taskset");
    taskset
        .args(["-c", &core, program, "devices"])
        .env_remove("GRIDWISE_DEVICE");
    if std::process::Command::new("taskset").arg("--version").output().is_err() {
        return eprintln!("skipped: no taskset");
    }
    let text = outcome(&mut taskset);
    assert!(text.row("cores").contains("limited by the affinity mask"), "{text:?}");
    assert!(text.stdout.contains("widen the affinity mask"), "{text:?}");
    assert_eq!(words("devices --json").json()["devices"][0]["cores"], device["cores"]);
}

/// A core that this process may use.
#[cfg(target_os = "linux")]
fn gridwise_allowed_core() -> Option<String> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let list = status
        .lines()
        .find_map(|line| line.strip_prefix("Cpus_allowed_list:"))?;
    let first = list.trim().split([',', '-']).next()?;
    Some(first.to_owned())
}
