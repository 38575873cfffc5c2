//! `gridwise bench`.

use std::fs;

use serde_json::Value;

use crate::support::{Folder, gridwise, words};

const TIMING: [&str; 2] = ["median_nanoseconds", "fastest_nanoseconds"];

#[track_caller]
fn assert_times(timing: &Value, names: &[&str]) {
    for name in names {
        assert!(timing[name].as_f64().is_some_and(|time| time > 0.0), "{name}: {timing}");
    }
}

#[test]
fn every_cost_is_measured_and_positive() {
    let outcome = words("bench --quick --json");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    let json = outcome.json();
    assert!(json["device"].as_str().unwrap().starts_with("cpu:blocks="), "{json}");
    assert_eq!(json["quick"], true);
    let barriers = json["grid_barriers"].as_array().unwrap();
    let shapes: Vec<_> = barriers
        .iter()
        .map(|barrier| barrier["shape"].as_str().unwrap())
        .collect();
    assert_eq!(shapes, ["flip", "counter", "tree"]);
    assert_eq!(barriers.iter().filter(|barrier| barrier["default"] == true).count(), 1);
    for timing in barriers
        .iter()
        .chain([&json["launch"]["hot"], &json["launch"]["after_idle"]])
    {
        assert_times(timing, &TIMING);
        assert!(timing[TIMING[1]].as_f64() <= timing[TIMING[0]].as_f64(), "{timing}");
    }
    let phases = json["phases"].as_array().unwrap();
    assert!(phases.len() >= 3, "{json}");
    for phase in phases {
        assert_times(
            phase,
            &["phase_nanoseconds", "persistent_nanoseconds", "relaunch_nanoseconds"],
        );
    }
    let length = |phase: &Value| phase["phase_nanoseconds"].as_f64().unwrap();
    assert!(phases.is_sorted_by(|a, b| length(a) < length(b)), "{json}");
    assert!(
        json["seconds"].as_f64().unwrap() > 0.0 && json["plot"].is_null(),
        "{json}"
    );
}

#[test]
fn the_break_even_lies_among_the_lengths_unless_there_is_none() {
    let json = words("bench --quick --json --device cpu:blocks=1").json();
    let found = &json["break_even"];
    let lengths: Vec<f64> = json["phases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|phase| phase["phase_nanoseconds"].as_f64().unwrap())
        .collect();
    let (shortest, longest) = (lengths[0], lengths[lengths.len() - 1]);
    match found["persistent_wins"].as_str().unwrap() {
        "below" => assert!(
            (shortest..=longest).contains(&found["nanoseconds"].as_f64().unwrap()),
            "{found}"
        ),
        "always" | "never" => assert!(found["nanoseconds"].is_null(), "{found}"),
        other => panic!("{other}"),
    }
    let length = |side: &str| found[side]["phase_nanoseconds"].as_f64().unwrap();
    assert!(length("auto_below") < length("auto_above"), "{found}");
    for side in ["auto_below", "auto_above"] {
        assert!(
            ["persistent", "relaunch"].contains(&found[side]["strategy"].as_str().unwrap()),
            "{found}"
        );
        assert!(found[side]["reason"].as_str().unwrap().contains("barrier"), "{found}");
    }
}

#[test]
fn the_tables_name_the_grid_and_all_that_was_measured() {
    let outcome = words("bench --quick --device cpu:blocks=1");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (Some(0), ""), "{outcome:?}");
    assert!(
        outcome
            .stdout
            .starts_with(" cpu:blocks=1,threads=1: 1 block of 1 thread"),
        "{outcome:?}"
    );
    for label in [
        "grid barrier, flip",
        "grid barrier, counter",
        "grid barrier, tree",
        "launch, hot",
        "launch, after 20 ms idle",
        "100 ns",
        "10.0 µs",
    ] {
        assert!(
            outcome.row(label).chars().any(|character| character.is_ascii_digit()),
            "{label}: {outcome:?}"
        );
    }
    assert!(
        outcome.row("grid barrier, flip").ends_with("the default here"),
        "{outcome:?}"
    );
    for said in ["reak-even", "Strategy::Auto chooses"] {
        assert!(outcome.stdout.contains(said), "{said}: {outcome:?}");
    }
    assert!(
        !outcome.stdout.contains("block barrier"),
        "blocks of one thread have none"
    );
}

#[test]
fn blocks_of_several_threads_have_a_block_barrier() {
    let json = words("bench --quick --json --device cpu:blocks=1,threads=2").json();
    assert_eq!((&json["blocks"], &json["threads_per_block"]), (&1.into(), &2.into()));
    assert_times(&json["block_barrier"], &TIMING);
    let json = words("bench --quick --json --device cpu:blocks=1,threads=1").json();
    assert!(json["block_barrier"].is_null(), "{json}");
}

#[test]
fn the_plot_is_a_picture_of_both_strategies() {
    let folder = Folder::new("bench-plot");
    let plot = folder.path("break_even.svg");
    let outcome = gridwise([
        "bench",
        "--quick",
        "--json",
        "--device",
        "cpu:blocks=1",
        "--plot",
        &plot,
    ]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let json = outcome.json();
    assert_eq!(json["plot"], plot.as_str());
    let text = fs::read_to_string(&plot).unwrap();
    let svg = roxmltree::Document::parse(&text).unwrap();
    let lines: Vec<_> = svg.descendants().filter(|node| node.has_tag_name("polyline")).collect();
    assert_eq!(lines.len(), 2);
    let measured = json["phases"].as_array().unwrap().len();
    for line in lines {
        assert_eq!(line.attribute("points").unwrap().split_whitespace().count(), measured);
    }
    for name in ["persistent", "relaunch", "work in a phase"] {
        assert!(text.contains(name), "{name}");
    }
    assert_eq!(
        text.contains("break-even at"),
        !json["break_even"]["nanoseconds"].is_null(),
        "{json}"
    );
}

#[test]
fn a_device_without_times_is_refused_with_the_reason() {
    let outcome = words("bench --device check");
    outcome.refused("check:");
    assert!(
        outcome.stderr.contains("it is simulated") && outcome.stderr.contains("cpu:blocks=2"),
        "{outcome:?}"
    );
}

#[test]
fn a_plot_that_cannot_be_written_is_found_out_before_anything_is_measured() {
    gridwise(["bench", "--plot", "/nowhere/break_even.svg"])
        .refused("/nowhere/break_even.svg: cannot write the file: ");
}
