//! Which method is used, and what ends it early.

use super::*;

/// Symmetric with a positive diagonal, but of eigenvalues 3 and -1.
fn indefinite() -> Csr {
    dense([[1.0, 2.0], [2.0, 1.0]])
}

#[test]
fn an_indefinite_matrix_goes_over_to_bicgstab() {
    let queue = queue("cpu:blocks=2");
    let solution = solve(&queue, &indefinite(), &[1.0, -4.0], SolveOptions::default()).unwrap();
    assert_eq!(solution.status, Status::Converged);
    assert_eq!(solution.method, Method::BiCgStab);
    assert!(matches!(solution.why_method, WhyMethod::NotPositiveDefinite { .. }));
    assert_close(&solution.x, &[-3.0, 2.0], 1e-7);
    assert_eq!(solution.residuals.len(), solution.steps + 1);
}

#[test]
fn conjugate_gradients_asked_for_stop_at_an_indefinite_matrix() {
    let queue = queue("cpu:blocks=2");
    let options = SolveOptions::default().method(Method::ConjugateGradients);
    // p = z = r = (1, -1) has p·Ap = -2.
    let solution = solve(&queue, &indefinite(), &[1.0, -1.0], options).unwrap();
    assert_eq!(
        solution.status,
        Status::Broken(Breakdown::NotPositiveDefinite { step: 0 })
    );
    assert_eq!((solution.steps, solution.x, solution.residual), (0, vec![0.0; 2], 1.0));
}

#[test]
fn the_matrix_decides_on_the_method() {
    let queue = queue("cpu:blocks=1");
    let of = |matrix: Csr| {
        let b = vec![1.0; matrix.rows()];
        let solver = Solver::new(&queue, &matrix, &b, SolveOptions::default()).unwrap();
        solver.method()
    };
    let (cg, bicgstab) = (Method::ConjugateGradients, Method::BiCgStab);
    assert_eq!(of(poisson(3)), (cg, WhyMethod::Symmetric));
    let not_symmetric = dense([[2.0, 1.0], [0.5, 2.0]]);
    assert_eq!(
        of(not_symmetric),
        (bicgstab, WhyMethod::NotSymmetric { row: 0, column: 1 })
    );
    assert_eq!(
        of(dense([[2.0, 1.0], [1.0, 0.0]])),
        (bicgstab, WhyMethod::Diagonal { row: 1 })
    );
    assert_eq!(
        of(dense([[-2.0, 1.0], [1.0, 3.0]])),
        (bicgstab, WhyMethod::Diagonal { row: 0 })
    );
}

#[test]
fn a_singular_system_without_a_solution_breaks_down_and_keeps_a_finite_iterate() {
    let queue = queue("cpu:blocks=2");
    for matrix in [
        dense([[1.0, 2.0, 3.0], [2.0, 4.0, 6.5], [0.0, 0.0, 0.0]]),
        dense([[0.0, 1.0], [0.0, 0.0]]),
        dense([[1.0, 1.0], [1.0, 1.0]]),
        Csr::from_sorted_entries(2, 2, []).unwrap(),
    ] {
        let b = &[1.0, 3.0, 2.0][..matrix.rows()];
        let solution = solve(&queue, &matrix, b, SolveOptions::default()).unwrap();
        assert!(
            !matches!(solution.status, Status::Converged | Status::Running),
            "{solution:?}"
        );
        assert!(solution.x.iter().all(|x| x.is_finite()), "{solution:?}");
        assert!(solution.residual <= 1.0 + 1e-12, "{solution:?}");
    }
}

#[test]
fn a_skew_symmetric_matrix_breaks_bicgstab_at_once() {
    // x·Ax = 0 for every x: the very first product of shadow residual and direction's image vanishes, and a new start is the same.
    let queue = queue("cpu:blocks=2");
    let matrix = dense([[0.0, 1.0], [-1.0, 0.0]]);
    let solution = solve(&queue, &matrix, &[1.0, 2.0], SolveOptions::default()).unwrap();
    assert_eq!(solution.status, Status::Broken(Breakdown::ShadowOrthogonal { step: 0 }));
    assert_eq!((solution.steps, solution.residual), (0, 1.0));
}

#[test]
fn a_residual_orthogonal_to_its_shadow_is_survived_by_a_new_start() {
    // The shadow residual is e1, and after the first step the residual has no first component.
    let queue = queue("cpu:blocks=2");
    let matrix = dense([[1.0, 1.0, -1.0], [1.0, 1.0, 2.0], [1.0, 0.25, 1.0]]);
    let b = [1.0, 0.0, 0.0];
    let solution = solve(&queue, &matrix, &b, SolveOptions::default().tolerance(1e-10)).unwrap();
    assert_eq!(solution.status, Status::Converged, "{solution:?}");
    assert_close(&solution.x, &eliminate(&matrix, &b), 1e-8);
}

#[test]
fn bicgstab_starts_anew_as_often_as_it_breaks_down_after_a_step() {
    // Rational arithmetic has the residual orthogonal to its shadow after the first step and after the second.
    let queue = queue("cpu:blocks=2");
    let matrix = dense([[-2.0, 0.0, 1.0], [2.0, 2.0, 0.0], [0.0, -2.0, -2.0]]);
    let b = [1.0, 0.0, 0.0];
    let solution = solve(&queue, &matrix, &b, SolveOptions::default().tolerance(1e-10)).unwrap();
    assert_eq!(solution.status, Status::Converged, "{solution:?}");
    assert_close(&solution.x, &eliminate(&matrix, &b), 1e-8);
}

#[test]
fn a_second_half_that_leads_nowhere_stops_bicgstab_after_the_first() {
    // After half a step the residual is s = -(e2 + e3), and A s = -2 e1 is orthogonal to it.
    let queue = queue("cpu:blocks=2");
    let matrix = dense([[1.0, 1.0, 1.0], [0.5, 1.0, -1.0], [0.5, -1.0, 1.0]]);
    let solution = solve(&queue, &matrix, &[1.0, 0.0, 0.0], SolveOptions::default()).unwrap();
    assert_eq!(solution.status, Status::Broken(Breakdown::Stagnation { step: 0 }));
    assert_eq!(solution.x, [1.0, 0.0, 0.0]);
    assert!((solution.residual - 0.5_f64.sqrt()).abs() < 1e-12);
    assert_eq!(solution.steps, 1);
}

#[test]
fn numbers_that_overflow_end_the_iteration_with_a_finite_iterate() {
    let queue = queue("cpu:blocks=2");
    let matrix = dense([[1e-300, 1e300], [0.0, 1e-300]]);
    let solution = solve(&queue, &matrix, &[1.0, 1.0], SolveOptions::default()).unwrap();
    assert_eq!(solution.status, Status::Broken(Breakdown::NotFinite), "{solution:?}");
    assert_eq!((solution.x, solution.residual), (vec![0.0; 2], 1.0));
    let matrix = dense([[1e-200, 1e200], [1e200, 1e-200]]);
    let options = SolveOptions::default().method(Method::ConjugateGradients);
    let solution = solve(&queue, &matrix, &[1.0, 1.0], options).unwrap();
    assert_eq!(solution.status, Status::Broken(Breakdown::NotFinite), "{solution:?}");
    assert_eq!((solution.x, solution.residual), (vec![0.0; 2], 1.0));
}

#[test]
fn without_convergence_the_best_iterate_is_returned() {
    let queue = queue("cpu:blocks=2");
    let mut rose = [false; 2];
    for (which, matrix) in [wild_symmetric(), wild()].into_iter().enumerate() {
        let b = uneven(matrix.rows());
        for steps in 1..40 {
            let options = SolveOptions::default().tolerance(0.0).max_steps(steps);
            let solution = solve(&queue, &matrix, &b, options).unwrap();
            assert_eq!((solution.status, solution.steps), (Status::OutOfSteps, steps));
            let best = solution.residuals.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(
                (solution.residual - best).abs() <= 1e-6 * best,
                "{steps}: {} and {best}",
                solution.residual
            );
            rose[which] |= solution.residuals[steps] > 2.0 * best;
        }
    }
    assert_eq!(rose, [true; 2], "these systems should not be monotone");
}

/// Badly conditioned: the residual of conjugate gradients rises before it falls.
fn wild_symmetric() -> Csr {
    let n = 60_u32;
    let row_of = |row: u32| {
        let below = row.checked_sub(1).map(|column| (row, column, -1.0));
        let above = (row + 1 < n).then_some((row, row + 1, -1.0));
        below
            .into_iter()
            .chain([(row, row, 2.0 + 1e-6 * f64::from(row))])
            .chain(above)
    };
    Csr::from_sorted_entries(60, 60, (0..n).flat_map(row_of)).unwrap()
}

/// Strongly skewed: the residual falls for two steps, then rises for many.
fn wild() -> Csr {
    stencil(10, 4.0, -3.0, -1.0)
}

#[test]
fn no_steps_allowed_is_out_of_steps_at_once() {
    let queue = queue("cpu:blocks=2");
    let solution = solve(&queue, &poisson(3), &[1.0; 9], SolveOptions::default().max_steps(0)).unwrap();
    assert_eq!(
        (solution.status, solution.steps, solution.residual),
        (Status::OutOfSteps, 0, 1.0)
    );
    assert_eq!(solution.x, [0.0; 9]);
}
