//! Matrices from public collections, where the machine has them.

use gridwise_cli::matrix_market::read_vector;

use crate::support::{Folder, gridwise, residual, shared};

/// Solves a matrix, and asserts that exit code, object, message and file tell the same; returns the object.
fn solve(name: &str, rows: usize, options: &[&str]) -> Option<serde_json::Value> {
    let path = shared("matrices")?.join(name);
    let folder = Folder::new(name);
    let x = folder.path("x.mtx");
    let fixed = ["solve", path.to_str().unwrap(), "-o", &x, "--json"];
    let outcome = gridwise([&fixed[..], options].concat());
    let json = outcome.json();
    let (reported, tolerance) = (json["residual"].as_f64().unwrap(), json["tolerance"].as_f64().unwrap());
    let converged = reported <= tolerance;
    assert_eq!(json["converged"], converged, "{json}");
    assert_eq!(outcome.code, Some(if converged { 0 } else { 1 }), "{outcome:?}");
    assert_eq!(outcome.stderr.is_empty(), converged, "{outcome:?}");
    let found = residual(&path, None, &read_vector(&x, rows, Default::default()).unwrap());
    // Sums in another order differ by rounding; a solution as good as it gets has no other residual.
    assert!(
        (found - reported).abs() <= 1e-3 * reported + 1e-14,
        "{found} {reported}"
    );
    Some(json)
}

#[test]
fn a_small_positive_definite_matrix_is_solved_by_conjugate_gradients() {
    let Some(json) = solve("LFAT5.mtx", 14, &[]) else {
        return;
    };
    assert_eq!(
        (&json["method"], &json["converged"]),
        (&"cg".into(), &true.into()),
        "{json}"
    );
}

#[test]
fn a_badly_conditioned_matrix_comes_down_to_a_modest_tolerance() {
    let Some(json) = solve("bcsstk13.mtx", 2003, &["--method", "cg", "--tolerance", "1e-2"]) else {
        return;
    };
    assert_eq!(
        (&json["nonzeros"], &json["converged"]),
        (&83883.into(), &true.into()),
        "{json}"
    );
}

#[test]
fn a_matrix_that_is_too_hard_for_bicgstab_is_judged_by_its_residual() {
    for name in ["west0067.mtx", "west0067_jumbled.mtx"] {
        let Some(json) = solve(name, 67, &[]) else {
            return;
        };
        assert_eq!(
            (&json["method"], &json["converged"]),
            (&"bicgstab".into(), &false.into()),
            "{json}"
        );
        let reason = json["method_reason"].as_str().unwrap();
        assert!(reason.starts_with("the matrix is not symmetric"), "{json}");
    }
}

/// Both break down more than once on the way.
#[test]
fn matrices_on_which_bicgstab_breaks_down_are_solved_all_the_same() {
    for (name, rows, tolerance) in [("olm1000.mtx", 1000, "1e-6"), ("jagmesh7.mtx", 1138, "1e-7")] {
        let Some(json) = solve(name, rows, &["--max-steps", "20000", "--tolerance", tolerance]) else {
            return;
        };
        assert_eq!(
            (&json["method"], &json["converged"]),
            (&"bicgstab".into(), &true.into()),
            "{json}"
        );
    }
}

#[test]
fn graphs_are_solved_or_judged_by_their_residual() {
    if let Some(json) = solve("karate.mtx", 34, &[]) {
        assert_eq!(json["method"], "bicgstab", "{json}");
    }
    if let Some(json) = solve("jagmesh7.mtx", 1138, &["--max-steps", "100"]) {
        assert_eq!(
            (&json["steps"], &json["converged"]),
            (&100.into(), &false.into()),
            "{json}"
        );
    }
}

#[test]
fn rectangular_matrices_are_refused() {
    let Some(folder) = shared("matrices") else { return };
    for (name, expected) in [
        ("lp_afiro.mtx", ":65: expected a square matrix, found 27 x 51"),
        ("empty.mtx", ":4: expected a square matrix, found 3 x 4"),
    ] {
        let path = folder.join(name).to_str().unwrap().to_owned();
        gridwise(["solve", &path]).refused(&(path.clone() + expected));
    }
}
