//! Phases: one source as one resident grid or as one launch a phase, with the same result.

use std::time::Duration;

use gridwise::{
    Error,
    host::{
        phases::{Reason, RunOptions, RunReport, Structure},
        queue::Queue,
    },
    prelude::*,
};

use conformance_kernels::phases::{Endless, Log, OnChip, Smooth};

use crate::support::{options, queue, several_blocks, team};

const STRUCTURES: [(Strategy, Structure); 2] = [
    (Strategy::Persistent, Structure::Persistent),
    (Strategy::Relaunch, Structure::Relaunch),
];

/// The same with plain vectors; returns the steps.
fn smooth_sequentially(values: &mut Vec<f64>, limit: f64) -> usize {
    for step in 1.. {
        let mut largest = 0_f64;
        for phase in 0..2 {
            let n = values.len();
            let new: Vec<f64> = (0..n)
                .map(|i| 0.3 * values[i.saturating_sub(1)] + 0.4 * values[i] + 0.3 * values[(i + 1).min(n - 1)])
                .collect();
            if phase == 1 {
                largest = new
                    .iter()
                    .zip(&*values)
                    .map(|(new, old)| (new - old).abs())
                    .fold(0.0, f64::max);
            }
            *values = new;
        }
        if largest <= limit {
            return step;
        }
    }
    unreachable!("it converges")
}

fn smooth(queue: &Queue, values: &[f64], limit: f64, options: RunOptions) -> Result<(Vec<f64>, RunReport), Error> {
    let (mut a, mut b) = (queue.upload(values)?, queue.device().zeroed(values.len())?);
    let mut changes = queue.device().zeroed(values.len())?;
    let kernel = Smooth {
        limit,
        arrays: [a.span_mut(), b.span_mut()],
        changes: changes.span_mut(),
    };
    let report = queue.run(kernel, options)?;
    Ok((queue.download(&a)?, report))
}

fn start(len: usize) -> Vec<f64> {
    (0..len).map(|i| ((i * i) % 17) as f64).collect()
}

pub(crate) fn both_structures_give_the_same_bits(device: &Device) {
    let queue = queue(device);
    for (len, limit) in [(1, 0.1), (2, 0.1), (31, 0.05), (257, 0.2)] {
        let mut expected = start(len);
        let steps = smooth_sequentially(&mut expected, limit);
        for (strategy, structure) in STRUCTURES {
            for threads in 1..=team(device, 3).unwrap_or(1) {
                let options = RunOptions::from(strategy).grid(Blocks::Resident.threads(threads));
                let (values, report) = smooth(&queue, &start(len), limit, options).unwrap();
                assert_eq!((report.structure, report.reason), (structure, Reason::Asked));
                assert_eq!((report.steps, report.threads), (steps, threads));
                let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&values), bits(&expected), "{len} values, {structure}");
            }
        }
    }
}

fn logged(queue: &Queue, steps: usize, options: RunOptions) -> (Vec<u64>, usize) {
    let (mut next, mut log) = (queue.device().zeroed(1).unwrap(), queue.device().zeroed(300).unwrap());
    let kernel = Log {
        steps,
        next: next.span_mut(),
        log: log.span_mut(),
    };
    let report = queue.run(kernel, options).unwrap();
    let (next, mut log) = (queue.download(&next).unwrap(), queue.download(&log).unwrap());
    log.truncate(next[0] as usize);
    (log, report.steps)
}

fn expected_log(steps: u64) -> Vec<u64> {
    (0..steps)
        .flat_map(|step| (0..3).map(move |index| 10 * step + index))
        .collect()
}

pub(crate) fn phases_run_in_order_and_steps_count_up(device: &Device) {
    let queue = queue(device);
    for (strategy, _) in STRUCTURES {
        for steps in [1, 2, 7, 70] {
            let (log, done) = logged(&queue, steps, strategy.into());
            assert_eq!(log, expected_log(steps as u64), "{strategy:?}");
            assert_eq!(done, steps);
        }
    }
}

pub(crate) fn a_run_stops_when_told_whatever_the_checks(device: &Device) {
    let queue = queue(device);
    for check_every in [0, 1, 2, 3, 7, 100, usize::MAX] {
        for steps in [1, 2, 3, 6, 7, 8] {
            let options = RunOptions::from(Strategy::Relaunch).check_every(check_every);
            let (log, done) = logged(&queue, steps, options);
            assert_eq!(log, expected_log(steps as u64), "looking every {check_every}");
            assert_eq!(done, steps, "looking every {check_every}");
        }
    }
}

pub(crate) fn what_is_kept_on_chip_is_loaded_and_stored(device: &Device) {
    let queue = queue(device);
    let blocks = device.most_resident_blocks();
    for (strategy, _) in STRUCTURES {
        let start: Vec<u64> = (1..=blocks as u64).collect();
        let mut numbers = queue.upload(&start).unwrap();
        let kernel = OnChip {
            steps: 5,
            numbers: numbers.span_mut(),
        };
        queue.run(kernel, strategy).unwrap();
        let expected: Vec<u64> = start.iter().map(|&x| (0..5).fold(x, |x, _| (x * 3) * 3 + 1)).collect();
        assert_eq!(queue.download(&numbers).unwrap(), expected, "{strategy:?}");
    }
}

pub(crate) fn auto_runs_what_fits(device: &Device) {
    let queue = queue(device);
    let mut expected = start(40);
    let steps = smooth_sequentially(&mut expected, 0.05);
    for _ in 0..3 {
        let (values, report) = smooth(&queue, &start(40), 0.05, RunOptions::default()).unwrap();
        assert_eq!((values, report.steps), (expected.clone(), steps));
        assert_eq!(report.blocks, device.most_resident_blocks());
        let measured = matches!(
            report.reason,
            Reason::Boundary { .. } | Reason::Simulated | Reason::NotMeasured
        );
        assert!(measured && !report.reason.to_string().is_empty(), "{report:?}");
    }
}

// fault A1.9
pub(crate) fn auto_relaunches_what_does_not_fit(device: &Device) {
    let queue = queue(device);
    let (fits, asked) = (device.most_resident_blocks(), device.most_resident_blocks() + 3);
    let mut expected = start(40);
    smooth_sequentially(&mut expected, 0.05);
    let options = RunOptions::default().grid(Blocks::Exactly(asked));
    let (values, report) = smooth(&queue, &start(40), 0.05, options).unwrap();
    assert_eq!(values, expected);
    assert_eq!((report.structure, report.blocks), (Structure::Relaunch, asked));
    match report.reason {
        Reason::NotResident {
            requested, capacity, ..
        } => assert_eq!((requested, capacity), (asked, fits)),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn headroom_gives_both_structures_the_same_grid(device: &Device) {
    let Some(fits) = several_blocks(device) else { return };
    let queue = device.queue_with(options().headroom(1));
    for strategy in [Strategy::Persistent, Strategy::Relaunch, Strategy::Auto] {
        let (_, report) = smooth(&queue, &start(40), 0.05, strategy.into()).unwrap();
        assert_eq!(report.blocks, fits - 1, "{strategy:?}");
    }
}

pub(crate) fn persistent_is_refused_where_it_does_not_fit(device: &Device) {
    let queue = queue(device);
    let grid = Blocks::Exactly(device.most_resident_blocks() + 1);
    let refused = smooth(
        &queue,
        &start(4),
        0.5,
        RunOptions::from(Strategy::Persistent).grid(grid),
    );
    match refused {
        Err(Error::Launch(LaunchError::NotResident { kernel, .. })) => assert_eq!(kernel, "smooth"),
        other => panic!("{other:?}"),
    }
}

// fault A10.6: no elements, on a persistent grid and by relaunch; and no frames at all.
pub(crate) fn an_empty_problem_runs(device: &Device) {
    let queue = queue(device);
    for strategy in [Strategy::Persistent, Strategy::Relaunch, Strategy::Auto] {
        let (values, report) = smooth(&queue, &[], 0.1, strategy.into()).unwrap();
        assert_eq!((values.len(), report.steps), (0, 1));
        let no_frames = RunOptions::from(strategy).grid(Frames::new(0, 16));
        let (_, report) = smooth(&queue, &[], 0.1, no_frames).unwrap();
        assert_eq!((report.steps, report.blocks), (0, 0));
    }
}

pub(crate) fn a_time_limit_covers_all_launches_of_a_run(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let queue = device.queue_with(options().timeout(Duration::from_millis(150)));
    for (strategy, _) in STRUCTURES {
        let mut next = device.zeroed(1).unwrap();
        let kernel = Endless { count: next.span_mut() };
        match queue.run(kernel, strategy) {
            Err(Error::Launch(LaunchError::TimedOut { kernel: "endless", .. })) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(logged(&queue, 2, Strategy::Persistent.into()).1, 2);
}

/// One step of many takes long, and is one of those that are timed.
#[derive(Clone, Copy)]
struct SlowStep;

// SAFETY: touches no memory.
unsafe impl Phased for SlowStep {
    const NAME: &'static str = "slow_step";
    type Shared = ();
    const PHASES: usize = 1;

    fn phase<A: Acc>(self, acc: A, _: (), at: Phase) {
        if at.step == 31 && acc.block_index() == 0 {
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
        step + 1 < 64
    }
}

pub(crate) fn no_more_time_is_reported_in_barriers_than_in_all(device: &Device) {
    if !crate::support::runs_host_kernels(device) || several_blocks(device).is_none() {
        return;
    }
    let report = queue(device).run(SlowStep, Strategy::Persistent).unwrap();
    let in_barriers = report.in_barriers.expect("one step was timed");
    assert!(in_barriers <= report.elapsed, "{report:?}");
}
