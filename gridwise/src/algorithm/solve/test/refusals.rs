//! Systems that are refused, and failures of the device.

use super::*;
use crate::host::phases::RunOptions;

#[track_caller]
fn refusal(matrix: &Csr, b: &[f64], options: SolveOptions) -> SolveError {
    let queue = queue("cpu:blocks=2");
    solve(&queue, matrix, b, options).expect_err("the system should be refused")
}

#[test]
fn shapes_that_do_not_fit_are_refused() {
    let oblong = Csr::from_sorted_entries(2, 3, []).unwrap();
    let error = refusal(&oblong, &[1.0; 2], SolveOptions::default());
    assert!(
        matches!(error, SolveError::NotSquare { rows: 2, columns: 3 }),
        "{error}"
    );
    let error = refusal(&poisson(2), &[1.0; 3], SolveOptions::default());
    assert!(
        matches!(error, SolveError::RightHandSide { len: 3, rows: 4 }),
        "{error}"
    );
}

#[test]
fn numbers_that_are_not_finite_are_refused_with_their_place() {
    let entries = [(1, 0, 1.0), (3, 1, f64::INFINITY), (3, 2, 1.0)];
    let matrix = Csr::from_sorted_entries(4, 4, entries).unwrap();
    let error = refusal(&matrix, &[1.0; 4], SolveOptions::default());
    assert!(
        matches!(error, SolveError::MatrixNotFinite { row: 3, column: 1, .. }),
        "{error}"
    );
    assert_eq!(
        error.to_string(),
        "the matrix has inf in row 4, column 2, counted from 1"
    );
    let error = refusal(&poisson(2), &[1.0, f64::NAN, 1.0, 1.0], SolveOptions::default());
    assert!(
        matches!(error, SolveError::RightHandSideNotFinite { row: 1, .. }),
        "{error}"
    );
}

#[test]
fn tolerances_without_meaning_are_refused() {
    for tolerance in [-1e-9, f64::NAN, f64::INFINITY] {
        let error = refusal(&poisson(2), &[1.0; 4], SolveOptions::default().tolerance(tolerance));
        assert!(matches!(error, SolveError::Tolerance { .. }), "{error}");
    }
}

#[test]
fn conjugate_gradients_refuse_a_matrix_that_they_cannot_handle() {
    let options = SolveOptions::default().method(Method::ConjugateGradients);
    let error = refusal(&dense([[2.0, 0.0], [1.0, 2.0]]), &[1.0; 2], options);
    assert!(
        matches!(error, SolveError::NotSymmetric { row: 1, column: 0 }),
        "{error}"
    );
    let error = refusal(&dense([[2.0, 1.0], [1.0, -2.0]]), &[1.0; 2], options);
    assert!(matches!(error, SolveError::Diagonal { row: 1, value: -2.0 }), "{error}");
    let error = refusal(&dense([[0.0, 1.0], [1.0, 2.0]]), &[1.0; 2], options);
    assert!(matches!(error, SolveError::Diagonal { row: 0, value: 0.0 }), "{error}");
    assert_eq!(
        error.to_string(),
        "conjugate gradients need a positive diagonal, but it is 0 in row 1, counted from 1; use bicgstab"
    );
}

#[test]
fn grids_without_blocks_are_refused() {
    let run = RunOptions::default().grid(Blocks::Exactly(0));
    let error = refusal(&poisson(2), &[1.0; 4], SolveOptions::default().run(run));
    assert!(error.to_string().contains("conjugate_gradients"), "{error}");
}

#[test]
fn a_persistent_grid_that_does_not_fit_is_refused() {
    let run = RunOptions::from(Strategy::Persistent).grid(Blocks::Exactly(3));
    let error = refusal(&poisson(2), &[1.0; 4], SolveOptions::default().run(run));
    assert!(error.to_string().contains("conjugate_gradients"), "{error}");
}

#[test]
fn a_solve_whose_run_failed_begins_again() {
    // The clock is read at every 1024th barrier, in the middle of a step; short runs do not get there.
    let options = QueueOptions::default().timeout(Duration::from_nanos(1));
    let brief = Device::open("cpu:blocks=1").unwrap().queue_with(options);
    let entries = (0..600_u32).flat_map(|row| {
        let neighbours = [row.checked_sub(1), Some(row), Some(row + 1).filter(|&next| next < 600)];
        neighbours.into_iter().flatten().map(move |column| {
            let value = if column == row { 2.0 } else { -1.0 };
            (row, column, value)
        })
    });
    let (matrix, b) = (Csr::from_sorted_entries(600, 600, entries).unwrap(), uneven(600));
    let options = SolveOptions::default().method(Method::BiCgStab).max_steps(250);
    let options = options.run(Strategy::Persistent);
    let mut solver = Solver::new(&brief, &matrix, &b, options).unwrap();
    solver.advance(250).unwrap_err();
    assert_eq!(
        (solver.progress().status, solver.progress().steps),
        (Status::Running, 0)
    );
    for _ in 0..5 {
        solver.advance(50).unwrap();
    }
    let whole = solve(&queue("cpu:blocks=1"), &matrix, &b, options).unwrap();
    let again = solver.finish().unwrap();
    assert_eq!((again.status, again.steps), (Status::OutOfSteps, 250));
    assert_eq!((again.x, again.residuals), (whole.x, whole.residuals));
}
