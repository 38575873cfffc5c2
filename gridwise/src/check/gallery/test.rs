//! Every bug is found, and every twin is silent.

use std::collections::HashSet;

use super::{EXHIBITS, Exhibit};

fn with_threads(work: impl Fn(&Exhibit) -> Option<String> + Sync) {
    let wrong: Vec<String> = EXHIBITS.iter().filter_map(work).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_bug_is_found_within_its_schedules() {
    with_threads(|exhibit| {
        let report = exhibit.find();
        if exhibit.is_found(&report) {
            println!(
                "{}: {} after {}",
                exhibit.name, report.findings[0].kind, report.schedules
            );
            return None;
        }
        Some(format!("{} ({:?}): {report}", exhibit.name, exhibit.kinds))
    });
}

#[test]
fn every_twin_is_silent_over_ten_times_as_many() {
    with_threads(|exhibit| {
        let report = exhibit.check_twin();
        let silent = report.is_clean() && report.schedules == 10 * exhibit.schedules;
        (!silent).then(|| format!("{}: {report}", exhibit.name))
    });
}

#[test]
fn there_are_at_least_sixty_and_their_names_differ() {
    assert!(EXHIBITS.len() >= 60, "{}", EXHIBITS.len());
    let names: HashSet<_> = EXHIBITS.iter().map(|exhibit| exhibit.name).collect();
    assert_eq!(names.len(), EXHIBITS.len());
}

/// The classes of the catalogue that a checking device can catch: numbers of its sections, and of their rows.
const CAUGHT: [(usize, &[usize]); 11] = [
    (1, &[1, 5, 7, 10, 11, 15, 16, 17]),
    (
        2,
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 19, 20, 21],
    ),
    (3, &[1, 2, 3, 4, 5, 6]),
    (4, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]),
    (5, &[1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12]),
    (6, &[1, 2, 3, 4, 5, 6, 9, 11, 12, 13, 14, 15, 16]),
    (7, &[5, 8]),
    (8, &[1, 2, 3, 4, 5, 6, 7, 8]),
    (9, &[1, 2, 3, 4, 5, 6, 7, 9, 10, 14, 15, 16, 17, 18]),
    (10, &[1, 2, 4, 9]),
    (11, &[7]),
];

#[test]
fn every_class_that_can_be_caught_has_a_bug_or_a_reason() {
    let reasons = include_str!("README.md");
    for (section, rows) in CAUGHT {
        for row in rows {
            let class = format!("A{section}.{row}");
            let exhibited = EXHIBITS.iter().any(|exhibit| exhibit.class == class);
            let argued = reasons.contains(&format!("\n| {class} |"));
            assert!(exhibited != argued, "{class}: a bug {exhibited}, a reason {argued}");
        }
    }
    for exhibit in EXHIBITS {
        let (section, row) = exhibit.class[1..].split_once('.').expect("a section and a row");
        let (section, row): (usize, usize) = (section.parse().unwrap(), row.parse().unwrap());
        let is_caught = CAUGHT.iter().any(|(of, rows)| *of == section && rows.contains(&row));
        assert!(is_caught, "{} has class {}", exhibit.name, exhibit.class);
    }
}

#[test]
fn a_finding_names_two_lines_of_the_exhibit_and_replays() {
    let exhibit = EXHIBITS.iter().find(|exhibit| exhibit.name == "relaxed_flag");
    let report = exhibit.expect("it is there").find();
    let finding = &report.findings[0];
    let second = finding.second.expect("a race has two sides");
    for place in [finding.first, second] {
        assert!(place.location.file().ends_with("gallery/relaxed_flag.rs"), "{finding}");
    }
    assert_ne!(finding.first.location.line(), second.location.line());
    assert!(finding.replay.starts_with("random:1:"), "{finding}");
    let json = report.to_json();
    for part in [
        "\"kind\":\"global_race\"",
        "\"kernel\":\"relaxed_flag\"",
        "\"replay\":\"random:1:",
    ] {
        assert!(json.contains(part), "{json}");
    }
}
