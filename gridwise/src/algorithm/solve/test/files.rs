//! Matrices from public collections, where they are at hand.

use super::*;
use std::{env, fs, path::PathBuf};

/// A symmetric matrix in Matrix Market coordinates, lower half stored; `None` where the file is not at hand.
fn symmetric(name: &str) -> Option<Csr> {
    let folder = env::var_os("GRIDWISE_SHARED_DATA").map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data")),
        PathBuf::from,
    );
    let text = fs::read_to_string(folder.join("matrices").join(name)).ok()?;
    let mut lines = text.lines().filter(|line| !line.starts_with('%'));
    let rows = lines.next()?.split_whitespace().next()?.parse().ok()?;
    let mut entries = Vec::new();
    for line in lines {
        let mut words = line.split_whitespace();
        let mut index = || words.next().unwrap().parse::<u32>().unwrap() - 1;
        let (row, column) = (index(), index());
        let value: f64 = words.next().unwrap().parse().unwrap();
        entries.push((row, column, value));
        if row != column {
            entries.push((column, row, value));
        }
    }
    entries.sort_by_key(|&(row, column, _)| (row, column));
    Some(Csr::from_sorted_entries(rows, rows, entries).unwrap())
}

#[test]
fn the_beam_lfat5_is_solved() {
    let Some(matrix) = symmetric("LFAT5.mtx") else { return };
    let b = uneven(matrix.rows());
    let queue = queue("cpu:blocks=2");
    for method in [Method::ConjugateGradients, Method::BiCgStab] {
        let options = SolveOptions::default().method(method).tolerance(1e-12);
        let solution = solve(&queue, &matrix, &b, options).unwrap();
        assert_eq!(solution.status, Status::Converged, "{method}");
        assert!(solution.residual < 1e-9, "{method}: {}", solution.residual);
        assert_close(&solution.x, &eliminate(&matrix, &b), 1e-5);
    }
}

#[test]
fn the_badly_conditioned_bcsstk13_is_solved() {
    let Some(matrix) = symmetric("bcsstk13.mtx") else {
        return;
    };
    let mut b = vec![0.0; matrix.rows()];
    matrix.multiply(&vec![1.0; matrix.rows()], &mut b);
    let queue = queue("cpu:blocks=2");
    let solution = solve(&queue, &matrix, &b, SolveOptions::default()).unwrap();
    assert_eq!(
        (solution.method, solution.status),
        (Method::ConjugateGradients, Status::Converged)
    );
    assert!(solution.residual < 1e-7, "{}", solution.residual);
    assert!(solution.steps > 100, "it is badly conditioned: {}", solution.steps);
}
