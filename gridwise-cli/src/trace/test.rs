use gridwise::{
    host::phases::Strategy,
    kernel::{Acc, Phase, Phased},
};

use super::*;

/// Steps of two phases that do nothing.
#[repr(C)]
struct Steps(usize);

#[expect(unsafe_code, reason = "kernels are unsafe to implement")]
// SAFETY: it accesses no memory.
unsafe impl Phased for Steps {
    const NAME: &'static str = "steps";
    type Shared = ();
    const PHASES: usize = 2;

    fn phase<A: Acc>(self, _: A, _: (), _: Phase) {}

    fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
        step + 1 < self.0
    }
}

const PLENTY: usize = 1000;

/// The events of three steps, by a strategy.
fn run(name: &str, strategy: Strategy, most_events: usize) -> (Value, Vec<Value>) {
    let tracer = Tracer::new(most_events);
    let device = Device::open_traced(name, &tracer).unwrap();
    device.queue().run(Steps(3), strategy).unwrap();
    let mut text = Vec::new();
    timeline(&mut text, "the \"device\"", most_events, &tracer.trace()).unwrap();
    let value: Value = serde_json::from_slice(&text).unwrap();
    let events = value["traceEvents"].as_array().unwrap().clone();
    (value, events)
}

fn named<'a>(events: &'a [Value], key: &str, name: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event[key] == name).collect()
}

/// Spans of a track lie inside one another, or apart.
#[track_caller]
fn assert_stacked(events: &[Value]) {
    let mut open: BTreeMap<(u64, u64), Vec<f64>> = BTreeMap::new();
    for event in named(events, "ph", "X") {
        let track = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
        let ends = open.entry(track).or_default();
        let start = event["ts"].as_f64().unwrap();
        // Times have steps of a thousandth, and sums of them an error.
        let end = start + event["dur"].as_f64().unwrap();
        while ends.last().is_some_and(|end| start > end - 5e-4) {
            ends.pop();
        }
        assert!(ends.last().is_none_or(|outer| end < outer + 5e-4), "{event}");
        ends.push(end);
    }
}

#[test]
fn a_persistent_run_is_one_launch_with_a_track_for_each_block() {
    let (file, events) = run("cpu:blocks=2", Strategy::Persistent, PLENTY);
    assert_eq!(file["otherData"]["device"], "the \"device\"");
    assert_eq!(file["otherData"]["dropped_events"], 0);
    let names: Vec<_> = named(&events, "name", "thread_name")
        .iter()
        .map(|event| &event["args"]["name"])
        .collect();
    assert_eq!(names, ["launches", "resident block 0", "resident block 1"]);
    let launches = named(&events, "cat", "launch");
    assert_eq!(launches.len(), 1);
    assert_eq!(
        (&launches[0]["name"], &launches[0]["tid"]),
        (&"steps".into(), &1.into())
    );
    for block in 0..2 {
        let blocks = named(&events, "name", &format!("steps, block {block}"));
        assert_eq!(blocks.len(), 1);
        let rounds: Vec<_> = events
            .iter()
            .filter(|event| event["cat"] == "wait" && event["tid"] == block + 2)
            .map(|event| {
                assert!(event["name"].as_str().unwrap().starts_with("grid barrier"), "{event}");
                let at = event["args"]["at"].as_str().unwrap();
                assert!(at.contains("phased.rs:"), "{event}");
                event["args"]["round"].as_u64().unwrap()
            })
            .collect();
        assert_eq!(
            rounds,
            [1, 2, 3, 4, 5, 6],
            "a barrier after each of two phases, three times"
        );
    }
    assert_stacked(&events);
}

#[test]
fn a_run_by_relaunch_is_a_launch_for_each_phase() {
    let (_, events) = run("cpu:blocks=2", Strategy::Relaunch, PLENTY);
    let launches = named(&events, "cat", "launch").len();
    // One more finds that the run is over.
    assert!((6..=7).contains(&launches), "{launches}");
    assert_eq!(named(&events, "name", "steps, block 1").len(), launches);
    assert!(named(&events, "cat", "wait").is_empty());
    assert_stacked(&events);
}

#[test]
fn each_thread_of_a_block_has_a_track() {
    let (_, events) = run("cpu:blocks=2,threads=2", Strategy::Persistent, PLENTY);
    let names: Vec<_> = named(&events, "name", "thread_name")
        .iter()
        .map(|event| &event["args"]["name"])
        .collect();
    assert_eq!(names.len(), 5);
    assert_eq!(*names[4], "resident block 1, thread 1");
    let mut tracks: Vec<_> = named(&events, "cat", "block")
        .iter()
        .map(|event| event["tid"].as_u64().unwrap())
        .collect();
    tracks.sort_unstable();
    assert_eq!(tracks, [2, 3, 4, 5]);
    for name in ["block barrier", "grid barrier"] {
        let waits = events
            .iter()
            .filter(|event| event["name"].as_str().unwrap().starts_with(name));
        assert!(waits.count() > 0, "{name}");
    }
    assert_stacked(&events);
}

#[test]
fn what_was_dropped_is_counted_and_not_shown_as_work() {
    let (file, events) = run("cpu:blocks=2", Strategy::Persistent, 7);
    assert!(file["otherData"]["dropped_events"].as_u64().unwrap() > 0);
    assert_eq!(named(&events, "name", "not recorded").len(), 2);
    assert_stacked(&events);
    let (file, events) = run("cpu:blocks=2", Strategy::Relaunch, 0);
    assert!(file["otherData"]["dropped_events"].as_u64().unwrap() > 0);
    assert!(events.is_empty());
}
