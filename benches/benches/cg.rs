//! Microseconds per step of conjugate gradients on the 2-D Poisson matrix, 512², f64.

use std::time::{Duration, Instant};

use gridwise::algorithm::{
    solve::{Method, SolveOptions, Solver},
    sparse::Csr,
};
use gridwise::prelude::*;
use gridwise_benches::affinity;
use gridwise_benches::harness::{self, Comparison};
use gridwise_benches::peers::barrier::{Monotonic, OneLine};
use gridwise_benches::peers::cg::{self, Problem};

const STEPS: u64 = 40;

/// The library's solver, told to do that many steps whatever the residual; it starts from the same residual as the peers.
fn gridwise<'a>(comparison: Comparison<'a>, problem: &'a Problem, threads: usize) -> Comparison<'a> {
    let matrix: &'static Csr = Box::leak(Box::new(csr(problem)));
    let steps_of = move |strategy| move |steps| solve_steps(problem, matrix, steps, threads, strategy);
    comparison
        .add("gridwise, persistent", STEPS, steps_of(Strategy::Persistent))
        .add("gridwise, relaunch", STEPS, steps_of(Strategy::Relaunch))
}

/// The time of `steps` steps, and a check that they lead where `cg::serial` leads.
fn solve_steps(problem: &Problem, matrix: &Csr, steps: u64, threads: usize, strategy: Strategy) -> Duration {
    let device = Device::open(&format!("cpu:blocks={threads}")).expect("a device with a block a core");
    let queue = device.queue();
    let options = SolveOptions::default()
        .method(Method::ConjugateGradients)
        .tolerance(0.0)
        .max_steps(steps as usize)
        .run(strategy);
    let mut solver = Solver::new(&queue, matrix, &problem.b, options).expect("a system that can be solved");
    let start = Instant::now();
    solver.advance(usize::MAX).expect("the steps");
    let elapsed = start.elapsed();
    let solution = solver.finish().expect("a solution");
    let length = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
    let expected = cg::serial(problem, steps).norm / length(&problem.b);
    let residual = solution.residuals[steps as usize];
    assert!(
        (residual - expected).abs() <= 1e-9 * expected,
        "{residual} instead of {expected}"
    );
    elapsed
}

fn csr(problem: &Problem) -> Csr {
    let matrix = &problem.matrix;
    let entries = (0..matrix.rows()).flat_map(|row| {
        let of = matrix.entries(row);
        let entry = move |at: usize| (row as u32, matrix.columns()[at], matrix.values()[at]);
        of.map(entry)
    });
    Csr::from_sorted_entries(matrix.rows(), matrix.rows(), entries).expect("sorted entries")
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
