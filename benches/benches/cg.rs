//! Microseconds per step of conjugate gradients on the 2-D Poisson matrix, 512², f64.

use gridwise_benches::affinity;
use gridwise_benches::harness::{self, Comparison};
use gridwise_benches::peers::barrier::{Monotonic, OneLine};
use gridwise_benches::peers::cg::{self, Problem};

const STEPS: u64 = 40;

/// gridwise goes here, each by `add`. `cg::serial` gives the residual norm to check against.
fn gridwise<'a>(comparison: Comparison<'a>, problem: &'a Problem, threads: usize) -> Comparison<'a> {
    let _ = (problem, threads);
    comparison
}

fn main() {
    harness::prepare();
    let threads = affinity::cores();
    let n = 512;
    let problem = Problem::poisson(n);
    Comparison::new(format!("conjugate gradients, Poisson {n}², {threads} threads"))
        .unit("µs per step")
        .baseline("persistent, one line")
        .with(|comparison| peers(comparison, &problem, threads))
        .with(|comparison| gridwise(comparison, &problem, threads))
        .run();
}

fn peers<'a>(comparison: Comparison<'a>, problem: &'a Problem, threads: usize) -> Comparison<'a> {
    let comparison = comparison
        .add("serial", STEPS, move |steps| cg::serial(problem, steps).elapsed)
        .add("persistent, one line", STEPS, move |s| {
            cg::persistent::<OneLine>(problem, s, threads).elapsed
        })
        .add("persistent, monotonic", STEPS, move |s| {
            cg::persistent::<Monotonic>(problem, s, threads).elapsed
        })
        .add("persistent, std::sync::Barrier", STEPS, move |s| {
            cg::persistent::<std::sync::Barrier>(problem, s, threads).elapsed
        });
    #[cfg(openmp)]
    let comparison = comparison.add("OpenMP, one region", STEPS, move |steps| {
        gridwise_benches::peers::openmp::cg(problem, steps, threads).elapsed
    });
    comparison.add("rayon, three regions a step", STEPS, move |steps| {
        cg::rayon(problem, steps, threads).elapsed
    })
}
