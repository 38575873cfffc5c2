//! Systems with a known solution.

use super::*;

#[test]
fn conjugate_gradients_solve_what_elimination_solves() {
    let matrix = poisson(9);
    let b = uneven(81);
    let queue = queue("cpu:blocks=2");
    let solution = solve(&queue, &matrix, &b, SolveOptions::default().tolerance(1e-12)).unwrap();
    assert_eq!(solution.status, Status::Converged);
    assert_eq!(
        (solution.method, solution.why_method),
        (Method::ConjugateGradients, WhyMethod::Symmetric)
    );
    assert!(solution.residual < 1e-11, "{}", solution.residual);
    assert_close(&solution.x, &eliminate(&matrix, &b), 1e-10);
    assert_eq!(solution.residuals.len(), solution.steps + 1);
    assert_eq!(solution.residuals[0], 1.0);
    assert!(solution.residuals[solution.steps] <= 1e-12);
    assert!(
        solution.residuals[solution.steps - 1] > 1e-12,
        "it should have stopped before"
    );
    assert_eq!(solution.report.steps, solution.steps);
    assert_eq!(solution.report.blocks, 2);
}

#[test]
fn bicgstab_solves_what_elimination_solves() {
    let matrix = stencil(9, 4.0, -1.7, -0.3);
    let b = uneven(81);
    let queue = queue("cpu:blocks=2");
    let solution = solve(&queue, &matrix, &b, SolveOptions::default().tolerance(1e-12)).unwrap();
    assert_eq!(solution.status, Status::Converged);
    assert_eq!(solution.method, Method::BiCgStab);
    assert!(solution.residual < 1e-11, "{}", solution.residual);
    assert_close(&solution.x, &eliminate(&matrix, &b), 1e-10);
    assert_eq!(solution.residuals.len(), solution.steps + 1);
}

#[test]
fn the_preconditioner_makes_a_diagonal_matrix_a_matter_of_one_step() {
    let queue = queue("cpu:blocks=2");
    let n = 50_u32;
    let matrix = Csr::from_sorted_entries(50, 50, (0..n).map(|i| (i, i, 10.0_f64.powi(i as i32 % 9)))).unwrap();
    for method in [Method::ConjugateGradients, Method::BiCgStab] {
        let solution = solve(&queue, &matrix, &uneven(50), SolveOptions::default().method(method)).unwrap();
        assert_eq!((solution.status, solution.steps), (Status::Converged, 1), "{method}");
        assert!(solution.residual < 1e-12);
    }
}

#[test]
fn bicgstab_does_without_the_preconditioner_in_rows_without_a_diagonal_entry() {
    let queue = queue("cpu:blocks=1");
    let matrix = dense([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [4.0, 1.0, 5.0]]);
    let b = [7.0, 10.0, 21.0];
    let solution = solve(&queue, &matrix, &b, SolveOptions::default().tolerance(1e-12)).unwrap();
    assert_eq!(solution.status, Status::Converged);
    assert_close(&solution.x, &[1.0, 2.0, 3.0], 1e-9);
}

#[test]
fn systems_of_none_and_one_are_solved() {
    let queue = queue("cpu:blocks=2");
    for method in [None, Some(Method::ConjugateGradients), Some(Method::BiCgStab)] {
        let options = SolveOptions::default().method(method);
        let none = Csr::from_sorted_entries(0, 0, []).unwrap();
        let solution = solve(&queue, &none, &[], options).unwrap();
        assert_eq!(
            (solution.status, solution.steps, solution.x.len()),
            (Status::Converged, 0, 0)
        );
        assert_eq!(solution.report.blocks, 0);
        let solution = solve(&queue, &dense([[4.0]]), &[2.0], options).unwrap();
        assert_eq!((solution.status, solution.steps), (Status::Converged, 1));
        assert_eq!(solution.x, [0.5]);
    }
}

#[test]
fn a_right_hand_side_of_zeros_takes_no_step() {
    let queue = queue("cpu:blocks=2");
    for method in [Method::ConjugateGradients, Method::BiCgStab] {
        let solution = solve(&queue, &poisson(3), &[0.0; 9], SolveOptions::default().method(method)).unwrap();
        assert_eq!((solution.status, solution.steps), (Status::Converged, 0));
        assert_eq!(solution.x, [0.0; 9]);
        assert_eq!((solution.residual, solution.residuals), (0.0, vec![0.0]));
    }
}

#[test]
fn right_hand_sides_whose_squares_overflow_or_vanish_are_solved() {
    let queue = queue("cpu:blocks=2");
    let matrix = poisson(4);
    let expected = eliminate(&matrix, &uneven(16));
    for method in [Method::ConjugateGradients, Method::BiCgStab] {
        for factor in [1e-310, 1e-200, 1e200, 1e307] {
            let b: Vec<f64> = uneven(16).iter().map(|b| b * factor).collect();
            let options = SolveOptions::default().method(method).tolerance(1e-12);
            let solution = solve(&queue, &matrix, &b, options).unwrap();
            assert_eq!(solution.status, Status::Converged, "{method}, {factor}");
            let x: Vec<f64> = solution.x.iter().map(|x| x / factor).collect();
            assert_close(&x, &expected, if factor < 1e-300 { 1e-8 } else { 1e-10 });
        }
    }
}

#[test]
fn a_tolerance_of_one_is_met_at_once() {
    let queue = queue("cpu:blocks=2");
    let solution = solve(&queue, &poisson(3), &[1.0; 9], SolveOptions::default().tolerance(1.0)).unwrap();
    assert_eq!((solution.status, solution.steps), (Status::Converged, 0));
}

#[test]
fn more_blocks_than_rows_is_no_harm() {
    let queue = queue("cpu:blocks=4");
    let matrix = dense([[4.0, 1.0], [1.0, 3.0]]);
    for method in [Method::ConjugateGradients, Method::BiCgStab] {
        let solution = solve(&queue, &matrix, &[6.0, 7.0], SolveOptions::default().method(method)).unwrap();
        assert_eq!(solution.status, Status::Converged);
        assert_close(&solution.x, &[1.0, 2.0], 1e-7);
    }
}

#[test]
fn rows_are_cut_by_their_work() {
    // One heavy row among light ones.
    let row_offsets = [0, 1, 2, 3, 13, 14, 15, 16];
    assert_eq!(rows::cuts(&row_offsets, 1), [0, 7]);
    assert_eq!(rows::cuts(&row_offsets, 2), [0, 3, 7]);
    assert_eq!(rows::cuts(&row_offsets, 3), [0, 3, 4, 7]);
    assert_eq!(rows::cuts(&[0], 3), [0, 0, 0, 0]);
    assert_eq!(rows::cuts(&[0, 0, 0], 4), [0, 0, 1, 1, 2]);
}
