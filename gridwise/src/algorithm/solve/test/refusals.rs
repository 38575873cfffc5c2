//! Systems that are refused, and failures of the device.

use super::*;
use crate::host::{launch::Frames, phases::RunOptions};

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
    let run = RunOptions::default().grid(Frames::new(0, 8));
    let error = refusal(&poisson(2), &[1.0; 4], SolveOptions::default().run(run));
    assert!(matches!(error, SolveError::EmptyGrid), "{error}");
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
