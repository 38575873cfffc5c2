//! Nanoseconds per launch of an empty region that every thread must have run: hot, and after the caller has been busy elsewhere.

use gridwise::host::device::WaitPolicy;
use gridwise_benches::affinity;
use gridwise_benches::harness::{self, Comparison};
use gridwise_benches::ours::launch as ours;
use gridwise_benches::peers::launch;
use std::time::Duration;

/// Launches with workers that never sleep, and with the default policy.
fn gridwise(comparison: Comparison<'_>, threads: usize, idle: Duration, launches: u64) -> Comparison<'_> {
    let launches_with = move |wait: WaitPolicy| move |count| ours::launches(threads, wait, count, idle);
    comparison
        .add("gridwise, active", launches, launches_with(WaitPolicy::Active))
        .add("gridwise", launches, launches_with(WaitPolicy::Adaptive))
}

fn main() {
    harness::prepare();
    let threads = affinity::cores();
    let compare = |title: &str, idle: Duration, launches: u64| {
        Comparison::new(format!("launch, {threads} threads, {title}"))
            .unit("ns per launch")
            .with(|comparison| peers(comparison, threads, idle, launches))
            .with(|comparison| gridwise(comparison, threads, idle, launches))
            .run();
    };
    compare("hot", Duration::ZERO, 20_000);
    compare("after 50 µs idle", Duration::from_micros(50), 400);
    compare("after 1 ms idle", Duration::from_millis(1), 40);
}

/// `launches` is what the quick ones get; creating threads takes a hundred times as long.
fn peers(comparison: Comparison<'_>, threads: usize, idle: Duration, launches: u64) -> Comparison<'_> {
    let few = launches.min(200);
    let comparison = comparison.add("spinning pool by hand", launches, move |count| {
        launch::spinning_pool(threads, count, idle)
    });
    #[cfg(feature = "fork_union")]
    let comparison = comparison.add("fork_union", launches, move |count| {
        launch::fork_union(threads, count, idle)
    });
    openmp(comparison, threads, idle, launches)
        .add("rayon::broadcast, inside", launches, move |count| {
            launch::rayon_broadcast(threads, count, idle)
        })
        .add("std::thread::scope", few, move |count| {
            launch::scope_spawn(threads, count, idle)
        })
}

#[cfg(openmp)]
fn openmp(comparison: Comparison<'_>, threads: usize, idle: Duration, launches: u64) -> Comparison<'_> {
    use gridwise_benches::peers::openmp;
    comparison.add("omp parallel", launches, move |count| {
        openmp::launch(threads, count, idle)
    })
}

#[cfg(not(openmp))]
fn openmp(comparison: Comparison<'_>, _threads: usize, _idle: Duration, _launches: u64) -> Comparison<'_> {
    comparison
}
