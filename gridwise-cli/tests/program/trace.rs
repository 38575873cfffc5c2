//! `--trace`: timelines of what was launched.

use std::fs;

use serde_json::Value;

use crate::support::{Folder, POISSON, gridwise};

/// The file, and the events in it.
fn read(path: &str) -> (Value, Vec<Value>) {
    let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let events = file["traceEvents"].as_array().unwrap().clone();
    for event in &events {
        assert!(
            event["pid"].is_u64() && event["tid"].is_u64() && event["name"].is_string(),
            "{event}"
        );
        match event["ph"].as_str().unwrap() {
            "M" => assert!(event["args"]["name"].is_string(), "{event}"),
            "X" => assert!(
                event["ts"].as_f64() >= Some(0.0) && event["dur"].as_f64() >= Some(0.0),
                "{event}"
            ),
            "i" => assert!(event["ts"].as_f64() >= Some(0.0) && event["s"] == "t", "{event}"),
            other => panic!("{other}: {event}"),
        }
    }
    (file, events)
}

fn count(events: &[Value], key: &str, value: &str) -> usize {
    events.iter().filter(|event| event[key] == value).count()
}

#[test]
fn a_solve_is_launches_with_work_and_waits_in_their_blocks() {
    let folder = Folder::new("trace-solve");
    let trace = folder.path("trace.json");
    let solve = [
        "solve",
        POISSON,
        "--device",
        "cpu:blocks=2",
        "--strategy",
        "persistent",
        "--trace",
        &trace,
    ];
    let outcome = gridwise(solve);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    assert!(outcome.stdout.contains(&format!("trace to {trace}")), "{outcome:?}");
    let (file, events) = read(&trace);
    assert_eq!(file["otherData"]["dropped_events"], 0);
    assert_eq!(file["otherData"]["device"], "cpu:blocks=2,threads=1");
    assert!(count(&events, "cat", "launch") > 0 && count(&events, "name", "work") > 0);
    // A barrier after each of at least two phases of each step, which each of two blocks arrives at.
    let steps: usize = outcome.row("steps").parse().unwrap();
    let barriers = |track: u64| {
        let waits = events
            .iter()
            .filter(|event| event["cat"] == "wait" && event["tid"] == track);
        waits
            .filter(|event| event["name"].as_str().unwrap().starts_with("grid barrier"))
            .count()
    };
    assert!(barriers(2) >= 2 * steps, "{steps} steps, {} barriers", barriers(2));
    assert_eq!(barriers(2), barriers(3));
    for event in events.iter().filter(|event| event["cat"] == "wait") {
        let at = event["args"]["at"].as_str().unwrap();
        let (file, line) = at.rsplit_once(':').unwrap();
        assert!(file.ends_with(".rs") && line.parse::<u32>().is_ok(), "{event}");
    }
}

#[test]
fn a_solve_that_fails_leaves_its_trace() {
    let folder = Folder::new("trace-failed");
    let trace = folder.path("trace.json");
    let outcome = gridwise(["solve", POISSON, "--max-steps", "2", "--json", "--trace", &trace]);
    assert_eq!(outcome.code, Some(1), "{outcome:?}");
    assert_eq!(outcome.json()["trace"], trace.as_str());
    assert!(count(&read(&trace).1, "cat", "launch") > 0);
}

#[test]
fn no_more_events_are_kept_than_were_asked_for_and_both_ways_of_saying_so_agree() {
    let folder = Folder::new("trace-bounded");
    let trace = folder.path("trace.json");
    let solve = [
        "solve",
        POISSON,
        "--device",
        "cpu:blocks=1",
        "--strategy",
        "relaunch",
        "--trace",
        &trace,
    ];
    let outcome = gridwise([&solve[..], &["--trace-events", "50"]].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let (file, events) = read(&trace);
    assert_eq!(file["otherData"]["most_events"], 50);
    let dropped = file["otherData"]["dropped_events"].as_u64().unwrap();
    assert!(dropped > 0, "{file}");
    let said = format!("gridwise: {trace}: keeps 50 events; {dropped} events that came later are not in it");
    assert!(outcome.stderr.starts_with(&said), "{outcome:?}");
    let kept = ["launch", "block", "wait"].map(|category| count(&events, "cat", category));
    assert!((1..=50).contains(&kept.iter().sum::<usize>()), "{kept:?}");
}

#[test]
fn a_bench_shows_a_run_by_either_strategy() {
    let folder = Folder::new("trace-bench");
    let trace = folder.path("trace.json");
    let outcome = gridwise([
        "bench",
        "--quick",
        "--json",
        "--device",
        "cpu:blocks=2",
        "--trace",
        &trace,
    ]);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    assert_eq!(outcome.json()["trace"], trace.as_str());
    let (_, events) = read(&trace);
    let launches = count(&events, "cat", "launch");
    assert!(
        (65..=66).contains(&launches),
        "one persistent, and one for each step: {launches}"
    );
    assert_eq!(count(&events, "name", "bench_phases, block 1"), launches);
    let barriers = events
        .iter()
        .filter(|event| event["cat"] == "wait" && event["tid"] == 2);
    assert_eq!(barriers.count(), 64);
}

#[test]
fn devices_that_are_not_traced_are_refused() {
    let folder = Folder::new("trace-refused");
    let trace = folder.path("trace.json");
    gridwise(["solve", POISSON, "--device", "check", "--trace", &trace])
        .refused("--device check: there are no traces of `check`: only cpu devices record them");
    gridwise(["bench", "--trace", &trace, "--plot", &trace])
        .refused(&format!("{trace}: --trace names the same file as --plot"));
    assert!(folder.names().is_empty());
}
