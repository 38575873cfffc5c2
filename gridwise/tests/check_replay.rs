//! What a token in the environment runs. Each search is run in a process of its own.

use gridwise::{
    check::{self, Builder, Explore, Report, gallery::EXHIBITS},
    prelude::*,
};

fn tell(report: &Report) {
    println!("schedules: {}, findings: {}", report.schedules, report.findings.len());
    for finding in &report.findings {
        println!("grid: {}, replay: {}", finding.grid, finding.replay);
    }
}

#[test]
#[ignore = "run by `a_token_in_the_environment_runs_that_schedule_alone`"]
fn finds_the_erased_flag() {
    let exhibit = EXHIBITS.iter().find(|exhibit| exhibit.name == "flag_erased").unwrap();
    tell(&exhibit.find());
}

/// Every other block stores to one element.
#[repr(C)]
struct EveryOther<'a> {
    data: SpanMut<'a, u32>,
}

// SAFETY: not kept by three blocks, and run on the checking device alone.
unsafe impl Kernel for EveryOther<'_> {
    const NAME: &'static str = "every_other";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        if acc.thread_index() == 0 {
            self.data.set(acc, acc.block_index() % 2, 1);
        }
    }
}

#[test]
#[ignore = "run by `a_token_of_one_of_several_shapes_runs_that_shape`"]
fn finds_what_three_blocks_do_wrong() {
    tell(&Builder::new().run(|device| {
        let mut data = device.zeroed(2).unwrap();
        let data = data.span_mut();
        let _ = device.queue().launch(Blocks::Resident, EveryOther { data });
    }));
}

/// A loop reads what one of another length has written.
#[repr(C)]
struct TwoLoops<'a> {
    data: SpanMut<'a, u32>,
    shorter: usize,
}

// SAFETY: not kept where contiguous parts of different lengths are dealt out, and run on the checking device alone.
unsafe impl Kernel for TwoLoops<'_> {
    const NAME: &'static str = "two_loops";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..16) {
            self.data.set(acc, i, 1);
        }
        for i in acc.threads_in_grid(0..16 - self.shorter) {
            self.data.set(acc, i, 2);
        }
    }
}

fn two_loops(shorter: usize) -> Report {
    Builder::new().explore(Explore::Exhaustive).run(|device| {
        let mut data = device.zeroed(16).unwrap();
        let data = data.span_mut();
        let _ = device
            .queue()
            .launch(Blocks::Exactly(2).threads(1), TwoLoops { data, shorter });
    })
}

#[test]
#[ignore = "run by `an_exhaustive_exploration_deals_out_indices_both_ways`"]
fn finds_loops_of_different_length() {
    tell(&two_loops(4));
}

#[test]
fn an_exhaustive_exploration_deals_out_indices_both_ways() {
    let alike = two_loops(0);
    assert!(
        alike.is_clean() && alike.complete && alike.schedules == 2,
        "one schedule for each way: {alike}"
    );
    let finding = search_and_replay("finds_loops_of_different_length");
    assert_eq!(finding, "grid: 2 blocks of 1 thread, replay: contiguous:");
}

/// Runs one of the above, and returns whether it succeeded, and what it said.
fn run(test: &str, token: Option<&str>) -> (bool, String) {
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", test, "--ignored", "--nocapture"])
        .env_remove(check::REPLAY_VARIABLE)
        .env_remove(check::SCHEDULES_VARIABLE);
    if let Some(token) = token {
        command.env(check::REPLAY_VARIABLE, token);
    }
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    (output.status.success(), said)
}

/// Searches, and replays what it found. Returns what the search said of the finding.
fn search_and_replay(test: &str) -> String {
    let (_, searched) = run(test, None);
    assert!(!searched.contains("schedules: 1,"), "{searched}");
    let found = |said: &str| said.lines().find(|line| line.starts_with("grid: ")).unwrap().to_owned();
    let finding = found(&searched);
    let (_, token) = finding.split_once("replay: ").unwrap();
    let (_, replayed) = run(test, Some(token));
    assert!(replayed.contains("schedules: 1, findings: 1"), "{replayed}");
    assert_eq!(found(&replayed), finding);
    finding
}

#[test]
fn a_token_in_the_environment_runs_that_schedule_alone() {
    search_and_replay("finds_the_erased_flag");
    assert!(
        !run("finds_the_erased_flag", Some("nonsense")).0,
        "a token that is none is refused"
    );
}

#[test]
fn a_token_of_one_of_several_shapes_runs_that_shape() {
    let finding = search_and_replay("finds_what_three_blocks_do_wrong");
    assert_eq!(finding, "grid: 3 blocks of 3 threads, replay: random:1:0@3x3");
}
