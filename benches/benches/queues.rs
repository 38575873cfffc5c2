//! Work that is dealt out while it runs: loops by chunk counters, the even end of a two-level queue, and tasks that make tasks.

use gridwise::host::device::WaitPolicy;
use gridwise::prelude::*;
use gridwise_benches::harness::{self, Comparison};
use gridwise_benches::ours::queues as ours;
use gridwise_benches::peers::loops::{self, Items};
use gridwise_benches::peers::tasks::{self, Chains};
use gridwise_benches::{affinity, busy};
use std::time::Duration;

/// How long an item or a task takes.
const ITEM: Duration = Duration::from_nanos(50);
const ITEMS: usize = 200_000;
/// Of a loop that is short, as in a step of a simulation.
const FEW_ITEMS: usize = 2_000;

fn main() {
    harness::prepare();
    let threads = affinity::cores();
    let steps = busy::steps_for(ITEM);
    loops_with_chunks(threads, &Items::even(ITEMS, steps));
    for (len, chunk) in [(ITEMS, 64), (FEW_ITEMS, 8)] {
        uneven_loop(threads, "of 0 to 100 ns, growing", &Items::growing(len, steps), chunk);
        uneven_loop(
            threads,
            "of 5 and 450 ns, the long ones in one place",
            &Items::clustered(len, steps),
            chunk,
        );
    }
    // The longest that gives them a mean of about 50 ns.
    let harmonic = (ITEMS as f64).ln() + 0.577;
    let longest = (steps as f64 * ITEMS as f64 / harmonic) as u64;
    uneven_loop(
        threads,
        "of 1 ns to 0.8 ms, as Zipf says, in random places",
        &Items::zipf(ITEMS, longest),
        64,
    );
    drain(threads);
    chains(threads, &Chains::new(1000, 1000, steps));
    known(threads, steps);
    empty_runs(threads);
    termination(threads);
}

fn loops_with_chunks(threads: usize, items: &Items) {
    for chunk in [1, 8, 64] {
        let comparison = Comparison::new(format!("loop, {threads} threads, items of 50 ns, chunks of {chunk}"))
            .unit("ns per item")
            .per_iteration(ITEMS as u64)
            .add("counter by hand", 4, move |passes| {
                loops::by_hand(items, chunk, passes, threads)
            });
        #[cfg(openmp)]
        let comparison = comparison.with(|comparison| openmp(comparison, items, threads, &[("dynamic", chunk)]));
        comparison
            .add("gridwise", 4, move |passes| {
                ours::chunks(items, Chunking::Fixed(chunk), passes, threads)
            })
            .run();
    }
    Comparison::new(format!("loop, {threads} threads, items of 50 ns, guided"))
        .unit("ns per item")
        .per_iteration(ITEMS as u64)
        .baseline(if cfg!(openmp) {
            "omp guided, 1"
        } else {
            "gridwise, guided"
        })
        .with(|comparison| peers(comparison, items, threads, 64))
        .run();
}

fn uneven_loop(threads: usize, how: &str, items: &Items, chunk: usize) {
    Comparison::new(format!("loop, {threads} threads, {} items {how}", items.len()))
        .unit("ns per item")
        .per_iteration(items.len() as u64)
        .baseline("rayon")
        .with(|comparison| peers(comparison, items, threads, chunk))
        .run();
}

/// Passes over the items for a sample.
fn passes(items: &Items) -> u64 {
    4 * (ITEMS / items.len()) as u64
}

fn peers<'a>(comparison: Comparison<'a>, items: &'a Items, threads: usize, chunk: usize) -> Comparison<'a> {
    let count = passes(items);
    #[cfg(openmp)]
    let comparison = openmp(comparison, items, threads, &[("guided", 1), ("dynamic", chunk)]);
    let guided = Chunking::Guided { divisor: 2, minimum: 1 };
    let factoring = Chunking::Factoring { minimum: 1 };
    comparison
        .add("rayon", count, move |passes| loops::rayon(items, passes, threads))
        .add("gridwise, guided", count, move |passes| {
            ours::chunks(items, guided, passes, threads)
        })
        .add("gridwise, factoring", count, move |passes| {
            ours::chunks(items, factoring, passes, threads)
        })
        .add(format!("gridwise, {chunk}"), count, move |passes| {
            ours::chunks(items, Chunking::Fixed(chunk), passes, threads)
        })
        .add("gridwise, two levels", count, move |passes| {
            ours::pieces(items, 4, chunk, passes, threads)
        })
}

#[cfg(openmp)]
fn openmp<'a>(
    mut comparison: Comparison<'a>,
    items: &'a Items,
    threads: usize,
    schedules: &[(&str, usize)],
) -> Comparison<'a> {
    use gridwise_benches::peers::openmp::{self, Schedule};
    let count = passes(items);
    for &(name, chunk) in schedules {
        let schedule = match name {
            "guided" => Schedule::Guided(chunk),
            _ => Schedule::Dynamic(chunk),
        };
        comparison = comparison.add(format!("omp {name}, {chunk}"), count, move |passes| {
            openmp::loops(items, schedule, passes, threads)
        });
    }
    comparison
}

/// Small pieces of this many items; the costliest has the longest item in it.
const SMALL: usize = 16;

fn drain(threads: usize) {
    let items = &Items::zipf(1 << 14, busy::steps_for(Duration::from_micros(20)));
    let costs = || items.steps().chunks(SMALL).map(|piece| piece.iter().sum::<u32>());
    let longest = costs().max().unwrap_or(0);
    // In units of the costliest small piece.
    let unit = busy::alone(100, u64::from(longest)).as_nanos() as u64 / 100;
    let mean = items.steps().iter().sum::<u32>() / costs().count() as u32;
    let title = format!(
        "end of a loop over Zipf-sized items, {threads} threads, pieces of {SMALL}: the costliest takes {:.1} µs, the mean one {:.1} µs",
        unit as f64 / 1e3,
        unit as f64 / 1e3 * f64::from(mean) / f64::from(longest)
    );
    Comparison::new(title)
        .unit("µs from the first thread without work to the last")
        .add("counter by hand", 50, move |passes| {
            loops::drain_by_hand(items, SMALL, passes, threads)
        })
        .add("halves by hand", 50, move |passes| {
            loops::drain_by_hand(items, items.len().div_ceil(threads), passes, threads)
        })
        .add("gridwise, two levels", 50, move |passes| {
            ours::drain(items, 4, SMALL, passes, threads).spread
        })
        .add("gridwise, the last block's last piece", 50, move |passes| {
            ours::drain(items, 4, SMALL, passes, threads).last_piece
        })
        .add("gridwise, spread beyond that piece", 50, move |passes| {
            ours::drain(items, 4, SMALL, passes, threads).beyond
        })
        .run();
}

fn chains(threads: usize, problem: &Chains) {
    let comparison = Comparison::new(format!("tasks of 50 ns, {threads} threads, 1000 chains of 1000"))
        .unit("ns per task")
        .per_iteration(1_000_000)
        .add("crossbeam-deque by hand", 1, move |passes| {
            tasks::crossbeam(problem, passes, threads)
        })
        .add("rayon::scope", 1, move |passes| tasks::rayon(problem, passes, threads));
    #[cfg(openmp)]
    let comparison = comparison.add("omp task", 1, move |passes| {
        gridwise_benches::peers::openmp::chains(problem, passes, threads)
    });
    let ours =
        move |threads, strategy| move |passes| ours::chains(problem, passes, threads, TaskOptions::from(strategy));
    comparison
        .add("gridwise", 1, ours(threads, Strategy::Persistent))
        .add("gridwise, by generations", 1, ours(threads, Strategy::Relaunch))
        .run();
    Comparison::new("tasks of 50 ns, 1 thread, 1000 chains of 1000")
        .unit("ns per task")
        .per_iteration(1_000_000)
        .add("plain stack", 1, move |passes| tasks::stack(problem, passes))
        .add("crossbeam-deque by hand", 1, move |passes| {
            tasks::crossbeam(problem, passes, 1)
        })
        .add("gridwise", 1, ours(1, Strategy::Persistent))
        .run();
}

fn known(threads: usize, steps: u64) {
    const TASKS: u32 = 1_000_000;
    Comparison::new(format!("one million known tasks of 50 ns, {threads} threads"))
        .unit("ns per task")
        .per_iteration(u64::from(TASKS))
        .add("crossbeam-deque, batches", 1, move |passes| {
            tasks::crossbeam_known(TASKS, steps, passes, threads)
        })
        .add("gridwise", 1, move |passes| ours::known(TASKS, steps, passes, threads))
        .run();
}

fn empty_runs(threads: usize) {
    Comparison::new(format!("runs with next to nothing to do, {threads} threads"))
        .unit("ns per run")
        .add("two empty launches", 5_000, move |runs| {
            gridwise_benches::ours::launch::launches(threads, WaitPolicy::Active, 2 * runs, Duration::ZERO)
        })
        .add("no task", 20_000, move |runs| ours::empty_runs(0, runs, threads))
        .add("one task", 2_000, move |runs| ours::empty_runs(1, runs, threads))
        .add("a task a block", 2_000, move |runs| {
            ours::empty_runs(threads as u32, runs, threads)
        })
        .run();
}

/// The other blocks wait for so long before the last task ends: the longest is longer than they stay awake if they wait adaptively.
const LAST: [Duration; 3] = [
    Duration::from_micros(5),
    Duration::from_micros(200),
    Duration::from_millis(4),
];

fn termination(threads: usize) {
    let comparison =
        Comparison::new(format!("the end of a run, {threads} threads")).unit("ns from the last task to the end");
    let waits = [WaitPolicy::Active, WaitPolicy::Adaptive];
    waits
        .into_iter()
        .flat_map(|wait| LAST.map(|last| (wait, last)))
        .fold(comparison, |comparison, (wait, last)| {
            let steps = busy::steps_for(last);
            comparison.add(format!("wait={wait}, after a last task of {last:?}"), 50, move |runs| {
                ours::termination(steps, runs, threads, wait)
            })
        })
        .run();
}
