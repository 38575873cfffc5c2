//! Microseconds per Jacobi iteration, 5-point stencil, f32, small to medium grids.

use gridwise::prelude::Strategy;
use gridwise_benches::affinity;
use gridwise_benches::harness::{self, Comparison};
use gridwise_benches::ours::jacobi as ours;
use gridwise_benches::peers::barrier::{Monotonic, OneLine};
use gridwise_benches::peers::jacobi;

/// One launch with grid barriers, the inner loops over slices and over spans; as phases, both ways; and one block alone.
fn gridwise(comparison: Comparison<'_>, n: usize, steps: u64, threads: usize) -> Comparison<'_> {
    let phases = move |strategy: Strategy| move |steps| ours::phases(n, steps, threads, strategy);
    comparison
        .add("gridwise", steps, move |steps| {
            ours::persistent::<{ ours::SLICES }>(n, steps, threads).elapsed
        })
        .add("gridwise, spans", steps, move |steps| {
            ours::persistent::<{ ours::SPANS }>(n, steps, threads).elapsed
        })
        .add("gridwise, phases persistent", steps, phases(Strategy::Persistent))
        .add("gridwise, phases by relaunch", steps, phases(Strategy::Relaunch))
        .add("gridwise, one block", steps, move |steps| {
            ours::persistent::<{ ours::SLICES }>(n, steps, 1).elapsed
        })
        .add("gridwise, one block, spans", steps, move |steps| {
            ours::persistent::<{ ours::SPANS }>(n, steps, 1).elapsed
        })
}

/// The ways to write the inner loops, one block alone.
fn forms(n: usize, steps: u64) {
    Comparison::new(format!("jacobi, {n}², one block, forms of the loop"))
        .unit("µs per step")
        .baseline("slices")
        .add("slices", steps, move |steps| {
            ours::persistent::<{ ours::SLICES }>(n, steps, 1).elapsed
        })
        .add("runs and spans", steps, move |steps| {
            ours::persistent::<{ ours::SPANS }>(n, steps, 1).elapsed
        })
        .add("indices, for_each", steps, move |steps| {
            ours::persistent::<{ ours::INDICES }>(n, steps, 1).elapsed
        })
        .add("indices, for", steps, move |steps| {
            ours::persistent::<{ ours::INDICES_ONE_BY_ONE }>(n, steps, 1).elapsed
        })
        .run();
}

fn main() {
    harness::prepare();
    let threads = affinity::cores();
    for (n, steps) in [(64, 20_000), (256, 3_000), (1024, 150)] {
        Comparison::new(format!("jacobi, {n}², {threads} threads"))
            .unit("µs per step")
            .baseline("persistent, one line")
            .with(|comparison| peers(comparison, n, steps, threads))
            .with(|comparison| gridwise(comparison, n, steps, threads))
            .run();
    }
    forms(256, 3_000);
}

fn peers(comparison: Comparison<'_>, n: usize, steps: u64, threads: usize) -> Comparison<'_> {
    let comparison = comparison
        .add("serial", steps, move |steps| jacobi::serial(n, steps).elapsed)
        .add("persistent, one line", steps, move |steps| {
            jacobi::persistent::<OneLine>(n, steps, threads).elapsed
        })
        .add("persistent, monotonic", steps, move |steps| {
            jacobi::persistent::<Monotonic>(n, steps, threads).elapsed
        });
    #[cfg(feature = "fork_union")]
    let comparison = comparison.add("fork_union, region per step", steps, move |steps| {
        jacobi::fork_union(n, steps, threads).elapsed
    });
    openmp(comparison, n, steps, threads)
        .add("spinning pool, launch per step", steps, move |steps| {
            jacobi::spinning_pool(n, steps, threads).elapsed
        })
        .add("rayon, loop per step", steps, move |steps| {
            jacobi::rayon(n, steps, threads).elapsed
        })
}

#[cfg(openmp)]
fn openmp(comparison: Comparison<'_>, n: usize, steps: u64, threads: usize) -> Comparison<'_> {
    use gridwise_benches::peers::openmp;
    comparison.add("OpenMP, one region", steps, move |steps| {
        openmp::jacobi(n, steps, threads).elapsed
    })
}

#[cfg(not(openmp))]
fn openmp(comparison: Comparison<'_>, _n: usize, _steps: u64, _threads: usize) -> Comparison<'_> {
    comparison
}
