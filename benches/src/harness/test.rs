use super::*;
use std::sync::Mutex;

fn parse(arguments: &[&str]) -> Result<Option<Options>, String> {
    Options::parse(arguments.iter().map(|&argument| argument.to_owned()))
}

fn fixed(nanoseconds: u64) -> impl FnMut(u64) -> Duration + Send {
    move |iterations| Duration::from_nanos(nanoseconds * iterations)
}

fn options(filters: &[&str]) -> Options {
    let filters = filters.iter().map(|&filter| filter.to_owned()).collect();
    Options {
        quick: true,
        rounds: 3,
        filters,
        ..Options::default()
    }
}

#[test]
fn quartiles_are_interpolated() {
    let quartiles = Quartiles::of([4.0, 1.0, 3.0, 2.0]);
    assert_eq!(
        quartiles,
        Quartiles {
            lower: 1.75,
            median: 2.5,
            upper: 3.25
        }
    );
    assert_eq!(
        Quartiles::of([7.0]),
        Quartiles {
            lower: 7.0,
            median: 7.0,
            upper: 7.0
        }
    );
    assert!(Quartiles::of([]).median.is_nan());
}

#[test]
fn values_are_in_the_unit_and_ratios_against_the_baseline() {
    let report = Comparison::new("sums")
        .unit("µs per element")
        .per_iteration(2)
        .baseline("fast")
        .add("slow", 10, fixed(12_000))
        .add("fast", 10, fixed(4_000))
        .options(options(&[]))
        .run();
    let (slow, fast) = (report.row("slow").unwrap(), report.row("fast").unwrap());
    assert!(
        (slow.value.median - 6.0).abs() < 1e-6 && (slow.ratio - 3.0).abs() < 1e-6,
        "{slow:?}"
    );
    assert!(
        (fast.value.median - 2.0).abs() < 1e-6 && (fast.ratio - 1.0).abs() < 1e-6,
        "{fast:?}"
    );
    assert!((slow.ratio_by_round.upper - 3.0).abs() < 1e-6);
    assert!(report.text().contains("sums, µs per element"));
    assert!(
        report
            .markdown()
            .contains("| slow | 6.00 | 6.00 to 6.00 | 3.00 | 3.00 to 3.00 |"),
        "{}",
        report.markdown()
    );
}

#[test]
fn a_filter_keeps_what_it_matches_and_the_baseline() {
    let comparison = |filters: &[&str]| {
        let report = Comparison::new("sizes/64")
            .add("serial", 1, fixed(1))
            .add("OpenMP", 1, fixed(1))
            .add("rayon", 1, fixed(1))
            .options(options(filters))
            .run();
        report.rows.into_iter().map(|row| row.name).collect::<Vec<_>>()
    };
    assert_eq!(comparison(&["openmp"]), ["serial", "OpenMP"]);
    assert_eq!(comparison(&["sizes"]), ["serial", "OpenMP", "rayon"]);
    assert!(comparison(&["sizes/128"]).is_empty());
}

#[test]
fn samples_of_all_contenders_are_interleaved() {
    let log = Mutex::new(Vec::new());
    let log = &log;
    let logging = |name: &'static str| {
        move |_| {
            log.lock().unwrap().push(name);
            Duration::from_nanos(1)
        }
    };
    let _ = Comparison::new("order")
        .add("a", 1, logging("a"))
        .add("b", 1, logging("b"))
        .options(options(&[]))
        .run();
    let log = log.lock().unwrap();
    assert_eq!(log.len(), 2 * (1 + 3)); // warm-up, then three rounds
    for round in log.chunks(2) {
        assert!(round.contains(&"a") && round.contains(&"b"), "{log:?}");
    }
}

#[test]
fn a_slow_contender_gets_fewer_iterations() {
    let asked = Mutex::new(0);
    let slow = |iterations| {
        *asked.lock().unwrap() = iterations;
        Duration::from_millis(iterations)
    };
    let _ = Comparison::new("slow")
        .add("slow", 600, slow)
        .options(options(&[]))
        .run();
    let asked = *asked.lock().unwrap();
    assert!((1..=15).contains(&asked), "{asked}");
}

#[test]
fn a_contender_may_pin_its_caller() {
    let seen = Mutex::new(Vec::new());
    let sample = |_| {
        seen.lock()
            .unwrap()
            .push(std::thread::available_parallelism().unwrap().get());
        crate::affinity::pin(0);
        Duration::from_nanos(1)
    };
    let _ = Comparison::new("pins")
        .add("pins", 1, sample)
        .options(options(&[]))
        .run();
    let seen = seen.lock().unwrap();
    assert!(seen.iter().all(|&cores| cores == seen[0]), "{seen:?}");
}

#[test]
fn the_command_line_is_understood() {
    assert_eq!(
        parse(&["--bench"]),
        Ok(Some(Options {
            rounds: 11,
            ..Options::default()
        }))
    );
    let quick = parse(&["--quick", "--markdown", "RAYON", "--bench"]).unwrap().unwrap();
    assert_eq!(
        quick,
        Options {
            quick: true,
            markdown: true,
            rounds: 3,
            filters: vec!["rayon".to_owned()]
        }
    );
    assert_eq!(parse(&["--rounds", "21"]).unwrap().unwrap().rounds, 21);
    assert!(
        parse(&[]).unwrap().unwrap().quick,
        "cargo test --all-targets does not measure"
    );
    assert_eq!(parse(&["--help"]), Ok(None));
    assert!(parse(&["--rounds", "0"]).is_err());
    assert!(parse(&["--colour"]).is_err());
}
