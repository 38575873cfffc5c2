//! Nanoseconds per barrier: two threads that do nothing else, with a microsecond of work between, and with more threads than cores.

use gridwise::kernel::grid_barrier::BarrierShape;
use gridwise_benches::harness::{self, Comparison};
use gridwise_benches::ours::barrier as ours;
use gridwise_benches::peers::barrier::{self, Barrier, Monotonic, OneLine, Yield, overhead};
use gridwise_benches::{affinity, busy};
use std::time::Duration;

/// The grid barriers. `threads` blocks, each with `work` steps of `busy::work` before each arrival.
fn gridwise(mut comparison: Comparison<'_>, threads: usize, work: u64) -> Comparison<'_> {
    let rounds = if threads > affinity::cores() { 50_000 } else { 200_000 };
    for (name, shape) in [
        ("gridwise, flip", BarrierShape::Flip),
        ("gridwise, counter", BarrierShape::Counter),
        ("gridwise, tree", BarrierShape::Tree),
    ] {
        comparison = comparison.add(name, fewer(rounds, work), move |rounds| {
            overhead(rounds, work, || ours::grid_barrier(threads, shape, rounds, work))
        });
    }
    if work == 0 {
        comparison = comparison.add("gridwise, reduction", rounds, move |rounds| {
            ours::grid_reduction(threads, BarrierShape::Flip, rounds)
        });
    }
    comparison
}

fn main() {
    harness::prepare();
    let cores = affinity::cores();
    let microsecond = busy::steps_for(Duration::from_micros(1));

    Comparison::new(format!("barrier, {cores} threads"))
        .unit("ns per barrier")
        .with(|comparison| spinning(comparison, cores, 0))
        .with(|comparison| yielding(comparison, cores, 0))
        .with(|comparison| gridwise(comparison, cores, 0))
        .run();
    Comparison::new(format!("barrier, {cores} threads, overhead over 1 µs of work"))
        .unit("ns per barrier")
        .with(|comparison| spinning(comparison, cores, microsecond))
        .with(|comparison| yielding(comparison, cores, microsecond))
        .with(|comparison| gridwise(comparison, cores, microsecond))
        .run();
    for threads in [2 * cores, 4 * cores] {
        Comparison::new(format!("barrier, {threads} threads on {cores} cores"))
            .unit("ns per barrier")
            .with(|comparison| yielding(comparison, threads, 0))
            .with(|comparison| gridwise(comparison, threads, 0))
            .run();
    }
}

/// Waiting that takes a core a thread.
fn spinning(comparison: Comparison<'_>, threads: usize, work: u64) -> Comparison<'_> {
    let comparison = peer::<OneLine>(comparison, "one line, PAUSE", 200_000, threads, work);
    peer::<Monotonic>(comparison, "monotonic, PAUSE", 200_000, threads, work)
}

/// Waiting that lets others run.
fn yielding(comparison: Comparison<'_>, threads: usize, work: u64) -> Comparison<'_> {
    let comparison = peer::<OneLine<Yield>>(comparison, "one line, yield", 50_000, threads, work);
    let comparison = peer::<Monotonic<Yield>>(comparison, "monotonic, yield", 50_000, threads, work);
    let comparison = openmp(comparison, threads, work);
    peer::<std::sync::Barrier>(comparison, "std::sync::Barrier", 1_000, threads, work)
}

/// With work between them barriers take ten times as long, and the work is measured alone as well.
fn fewer(rounds: u64, work: u64) -> u64 {
    if work == 0 { rounds } else { rounds.min(20_000) }
}

fn peer<'a, B: Barrier>(c: Comparison<'a>, name: &str, rounds: u64, threads: usize, work: u64) -> Comparison<'a> {
    c.add(name, fewer(rounds, work), move |rounds| {
        overhead(rounds, work, || barrier::measure::<B>(threads, rounds, work))
    })
}

#[cfg(openmp)]
fn openmp(comparison: Comparison<'_>, threads: usize, work: u64) -> Comparison<'_> {
    use gridwise_benches::peers::openmp;
    comparison.add("omp barrier", fewer(50_000, work), move |rounds| {
        overhead(rounds, work, || openmp::barrier(threads, rounds, work))
    })
}

#[cfg(not(openmp))]
fn openmp(comparison: Comparison<'_>, _threads: usize, _work: u64) -> Comparison<'_> {
    comparison
}
