//! `gridwise solve`: from a matrix in a file to a solution in a file.

mod problem;
mod progress;
mod report;

use std::{fs::File, io::Write, time::Instant};

use gridwise::{
    algorithm::solve::{self, Breakdown, Solution, SolveOptions, Solver, Status},
    host::{device::Device, phases::RunOptions},
};

use crate::{
    arguments::{Method, SolveArguments},
    console, device,
    failure::Failure,
    matrix_market, output, plot,
    trace::Timeline,
};
use problem::Problem;
use progress::Watch;
use report::Report;
pub use report::Verdict;

/// Solves the system, writes what was asked for, and reports.
///
/// # Errors
///
/// [`Failure`] where the input is bad, or the solution's residual is not within the tolerance; in the second case what
/// was asked for has been written and reported all the same.
pub fn run(arguments: &SolveArguments) -> Result<(), Failure> {
    // All that can be wrong and is quick to find out comes before the long work.
    check_paths(arguments)?;
    let timeline = Timeline::asked_for(&arguments.trace);
    let device = device::open_traced(arguments.device.as_deref(), timeline.as_ref().map(Timeline::tracer))?;
    let mut watch = Watch::new(!arguments.json, arguments.tolerance);
    let problem = Problem::read(arguments)?;
    let solution = iterate(&device, &problem, arguments, &mut watch);
    drop(watch);
    // Also of a launch that failed.
    if let Some(timeline) = &timeline {
        timeline.write(&device)?;
    }
    let solution = solution?;
    if let (Status::Broken(Breakdown::NotPositiveDefinite { step }), Method::Cg) = (solution.status, arguments.method) {
        return Err(Failure::NotPositiveDefinite {
            file: arguments.matrix.clone(),
            step,
        });
    }
    let report = Report::new(arguments, &device, &problem, &solution);
    if let Some(path) = &arguments.output {
        matrix_market::write_vector(path, &solution.x)?;
    }
    if let Some(path) = &arguments.plot {
        let svg = plot::residual_svg(&solution.residuals, &report.title(), arguments.tolerance);
        output::write(path, |mut file: &File| file.write_all(svg.as_bytes()))?;
    }
    if arguments.json {
        console::print_json(&report)?;
    } else {
        console::print(report.text())?;
    }
    match report.verdict() {
        Verdict::Converged => Ok(()),
        verdict => Err(Failure::Unsolved {
            file: arguments.matrix.clone(),
            verdict,
            steps: report.steps,
            residual: report.residual,
            tolerance: arguments.tolerance,
        }),
    }
}

fn check_paths(arguments: &SolveArguments) -> Result<(), Failure> {
    output::check_all(
        &[
            ("--output", arguments.output.as_deref()),
            ("--plot", arguments.plot.as_deref()),
            ("--trace", arguments.trace.path.as_deref()),
        ],
        &[
            ("the matrix", Some(&arguments.matrix)),
            ("--rhs", arguments.rhs.as_deref()),
        ],
    )
}

fn iterate(
    device: &Device,
    problem: &Problem,
    arguments: &SolveArguments,
    watch: &mut Watch,
) -> Result<Solution, Failure> {
    let failed = |source| Failure::Solve {
        file: arguments.matrix.clone(),
        source,
    };
    let mut options = SolveOptions::default()
        .method(match arguments.method {
            Method::Auto => None,
            Method::Cg => Some(solve::Method::ConjugateGradients),
            Method::Bicgstab => Some(solve::Method::BiCgStab),
        })
        .tolerance(arguments.tolerance)
        .run(RunOptions::default().strategy(arguments.strategy.into()));
    if let Some(steps) = arguments.max_steps {
        options = options.max_steps(steps);
    }
    let queue = device.queue();
    let mut solver = Solver::new(&queue, &problem.matrix, &problem.rhs, options).map_err(failed)?;
    let mut progress = solver.progress();
    while progress.status == Status::Running {
        let start = Instant::now();
        let before = progress.steps;
        progress = solver.advance(watch.steps()).map_err(failed)?;
        watch.look(progress.steps.saturating_sub(before), start.elapsed(), &progress);
    }
    solver.finish().map_err(failed)
}
