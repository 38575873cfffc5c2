//! Random systems against elimination.

use super::*;
use proptest::prelude::*;

/// A diagonally dominant matrix with random off-diagonal entries at random places, and a right-hand side.
fn dominant(symmetric: bool) -> impl Strategy_<Value = (Csr, Vec<f64>)> {
    (1_usize..30).prop_flat_map(move |n| {
        let entry = prop_oneof![2 => Just(0.0), 1 => -1.0..1.0];
        (
            prop::collection::vec(entry, n * n),
            prop::collection::vec(-10.0..10.0, n),
        )
            .prop_map(move |(mut a, b)| {
                for i in 0..n {
                    for j in 0..i {
                        if symmetric {
                            a[i * n + j] = a[j * n + i];
                        }
                    }
                }
                for i in 0..n {
                    a[i * n + i] = 0.0;
                    let sum: f64 = a[i * n..(i + 1) * n].iter().map(|entry: &f64| entry.abs()).sum();
                    a[i * n + i] = 1.0 + sum;
                }
                let all = (0..n * n).filter(|&at| a[at] != 0.0);
                let entries = all.map(|at| ((at / n) as u32, (at % n) as u32, a[at]));
                (Csr::from_sorted_entries(n, n, entries).unwrap(), b)
            })
    })
}
use proptest::strategy::Strategy as Strategy_;

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn symmetric_dominant_systems_are_solved((matrix, b) in dominant(true), blocks in 1_usize..4) {
        check(&matrix, &b, blocks, Method::ConjugateGradients);
    }

    #[test]
    fn dominant_systems_are_solved((matrix, b) in dominant(false), blocks in 1_usize..4) {
        check(&matrix, &b, blocks, Method::BiCgStab);
    }
}

fn check(matrix: &Csr, b: &[f64], blocks: usize, method: Method) {
    let queue = queue(&format!("cpu:blocks={blocks}"));
    let options = SolveOptions::default().method(method).tolerance(1e-10);
    let solution = solve(&queue, matrix, b, options).unwrap();
    assert_eq!(solution.status, Status::Converged);
    assert!(solution.residual <= 1e-9, "{}", solution.residual);
    assert_close(&solution.x, &eliminate(matrix, b), 1e-7);
}
