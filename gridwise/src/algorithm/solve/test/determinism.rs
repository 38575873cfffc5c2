//! The same grid gives the same bits.

use super::*;
use crate::host::phases::{RunOptions, Structure};

/// Every bit of what a solve leaves.
fn bits(solution: &Solution) -> (Vec<u64>, Vec<u64>, usize, Status) {
    let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect();
    (
        bits(&solution.x),
        bits(&solution.residuals),
        solution.steps,
        solution.status,
    )
}

fn systems() -> [(Csr, SolveOptions); 3] {
    let options = SolveOptions::default().tolerance(1e-10);
    [
        (poisson(13), options),
        (stencil(13, 4.0, -1.7, -0.3), options),
        // Not converged, with the best iterate before the last.
        (stencil(10, 4.0, -3.0, -1.0), options.max_steps(31)),
    ]
}

const DEVICES: [&str; 5] = [
    "cpu:blocks=1",
    "cpu:blocks=2",
    "cpu:blocks=3",
    "cpu:blocks=1,threads=2",
    "cpu:blocks=2,threads=2",
];

#[test]
fn persistent_and_relaunch_give_the_same_bits_run_after_run() {
    for device in DEVICES {
        let queue = queue(device);
        for (matrix, options) in systems() {
            let b = uneven(matrix.rows());
            let with = |run: RunOptions| solve(&queue, &matrix, &b, options.run(run)).unwrap();
            let first = with(Strategy::Persistent.into());
            assert_eq!(first.report.structure, Structure::Persistent);
            assert!(first.residual < 1.0);
            for _ in 0..2 {
                assert_eq!(bits(&with(Strategy::Persistent.into())), bits(&first), "{device}");
            }
            let relaunched = with(Strategy::Relaunch.into());
            assert_eq!(relaunched.report.structure, Structure::Relaunch);
            assert_eq!(bits(&relaunched), bits(&first), "{device}");
            let seldom = with(RunOptions::from(Strategy::Relaunch).check_every(5));
            assert_eq!(bits(&seldom), bits(&first), "{device}");
        }
    }
}

#[test]
fn in_pieces_gives_the_same_bits_as_in_one_go() {
    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        let queue = queue("cpu:blocks=2");
        for (matrix, options) in systems() {
            let b = uneven(matrix.rows());
            let options = options.run(strategy);
            let whole = solve(&queue, &matrix, &b, options).unwrap();
            let mut solver = Solver::new(&queue, &matrix, &b, options).unwrap();
            let mut steps = 0;
            while solver.progress().status == Status::Running {
                let progress = solver.advance(7).unwrap();
                assert!(progress.steps <= steps + 7);
                assert_eq!(
                    progress.steps == steps + 7,
                    progress.status == Status::Running || progress.steps.is_multiple_of(7)
                );
                steps = progress.steps;
                assert_eq!(solver.residuals().len(), steps + 1);
                assert_eq!(solver.residuals()[steps], progress.residual);
            }
            let pieces = solver.finish().unwrap();
            assert_eq!(bits(&pieces), bits(&whole));
            assert_eq!(pieces.report.steps, whole.report.steps);
        }
    }
}

#[test]
fn a_grid_that_cannot_be_resident_is_run_by_relaunch() {
    let queue = queue("cpu:blocks=2");
    let matrix = poisson(8);
    let b = uneven(64);
    let run = RunOptions::default().grid(Blocks::Exactly(5));
    let solution = solve(&queue, &matrix, &b, SolveOptions::default().run(run)).unwrap();
    assert_eq!(solution.status, Status::Converged);
    assert_eq!(
        (solution.report.structure, solution.report.blocks),
        (Structure::Relaunch, 5)
    );
    assert!(solution.residual <= 1e-7);
}

#[test]
fn a_finished_solver_advances_no_further() {
    let queue = queue("cpu:blocks=2");
    let matrix = poisson(5);
    let b = uneven(25);
    let mut solver = Solver::new(&queue, &matrix, &b, SolveOptions::default()).unwrap();
    let done = solver.advance(usize::MAX).unwrap();
    assert_eq!(done.status, Status::Converged);
    assert_eq!(solver.advance(10).unwrap(), done);
    assert_eq!(solver.finish().unwrap().steps, done.steps);
}
