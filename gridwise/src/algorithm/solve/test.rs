mod choice;
mod convergence;
mod determinism;
mod files;
mod random;
mod refusals;

use super::*;
use crate::{
    algorithm::sparse::Csr,
    host::{device::Device, launch::Blocks, phases::Strategy, queue::QueueOptions},
};
use std::time::Duration;

/// A queue whose launches end: a hang is a failure.
fn queue(device: &str) -> Queue {
    let options = QueueOptions::default().timeout(Duration::from_secs(60));
    Device::open(device).unwrap().queue_with(options)
}

/// A matrix from its rows; zeros are not stored.
fn dense<const N: usize>(rows: [[f64; N]; N]) -> Csr {
    let all = (0..N).flat_map(|row| (0..N).map(move |column| (row, column)));
    let entries = all.filter(|&(row, column)| rows[row][column] != 0.0);
    let entries = entries.map(|(row, column)| (row as u32, column as u32, rows[row][column]));
    Csr::from_sorted_entries(N, N, entries).unwrap()
}

/// The 5-point stencil with zero outside on n × n points: `centre` on the diagonal, `against` and `along` for the neighbours
/// before and after.
fn stencil(n: usize, centre: f64, against: f64, along: f64) -> Csr {
    let row_of = |row: usize| {
        let (i, j) = (row / n, row % n);
        [
            (i > 0).then(|| (row - n, against)),
            (j > 0).then(|| (row - 1, against)),
            Some((row, centre)),
            (j + 1 < n).then(|| (row + 1, along)),
            (i + 1 < n).then(|| (row + n, along)),
        ]
        .into_iter()
        .flatten()
        .map(move |(column, value)| (row as u32, column as u32, value))
    };
    Csr::from_sorted_entries(n * n, n * n, (0..n * n).flat_map(row_of)).unwrap()
}

fn poisson(n: usize) -> Csr {
    stencil(n, 4.0, -1.0, -1.0)
}

/// An uneven right-hand side.
fn uneven(rows: usize) -> Vec<f64> {
    (0..rows).map(|row| 1.0 + (row * 7 % 13) as f64 / 13.0).collect()
}

/// Gauss elimination with row exchanges.
fn eliminate(matrix: &Csr, b: &[f64]) -> Vec<f64> {
    let n = b.len();
    let mut a: Vec<Vec<f64>> = (0..n)
        .map(|row| {
            let mut line = vec![0.0; n + 1];
            let (columns, values) = matrix.row(row);
            for (&column, &value) in columns.iter().zip(values) {
                line[column as usize] = value;
            }
            line[n] = b[row];
            line
        })
        .collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        let (above, below) = a.split_at_mut(k + 1);
        for line in below {
            let factor = line[k] / above[k][k];
            for (entry, above) in line[k..].iter_mut().zip(&above[k][k..]) {
                *entry -= factor * above;
            }
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * x[j]).sum();
        x[k] = (a[k][n] - known) / a[k][k];
    }
    x
}

#[track_caller]
fn assert_close(x: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(x.len(), expected.len());
    let scale = expected.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    for (i, (x, expected)) in x.iter().zip(expected).enumerate() {
        assert!(
            (x - expected).abs() <= tolerance * scale,
            "x[{i}] is {x}, not {expected}"
        );
    }
}
