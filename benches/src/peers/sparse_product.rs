//! The product of a sparse matrix and a vector, whose rows are of very different length.

use super::rayon_pool;
use gridwise::algorithm::sparse::Csr;
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// One thread. Returns the time of `repeats` products.
pub fn serial(matrix: &Csr, x: &[f64], y: &mut [f64], repeats: u64) -> Duration {
    let start = Instant::now();
    for _ in 0..repeats {
        matrix.multiply(x, y);
        std::hint::black_box(&mut *y);
    }
    start.elapsed()
}

/// rayon over the rows, `least` of them at least in a piece, from inside the pool.
pub fn rayon(matrix: &Csr, x: &[f64], y: &mut [f64], least: usize, repeats: u64, threads: usize) -> Duration {
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    pool.install(|| {
        let start = Instant::now();
        for _ in 0..repeats {
            y.par_iter_mut().enumerate().with_min_len(least).for_each(|(row, y)| {
                let (columns, values) = matrix.row(row);
                let products = columns.iter().zip(values);
                *y = products.fold(0.0, |sum, (&column, value)| sum + value * x[column as usize]);
            });
        }
        start.elapsed()
    })
}

#[cfg(test)]
mod test {
    use super::*;
    use gridwise_examples::matrix::uneven;

    #[test]
    fn every_peer_gives_the_same_bits() {
        for rows in [0, 1, 2, 1000] {
            let matrix = uneven(rows);
            let x: Vec<f64> = (0..rows).map(|row| 1.0 / (1.0 + row as f64)).collect();
            let mut expected = vec![0.0; rows];
            serial(&matrix, &x, &mut expected, 1);
            let check = |name: &str, run: &(dyn Fn(&mut [f64]) -> Duration + Sync)| {
                let mut y = vec![f64::NAN; rows];
                // On a thread of its own: peers pin their caller.
                std::thread::scope(|scope| scope.spawn(|| run(&mut y)).join().unwrap());
                let bits = |y: &[f64]| -> Vec<u64> { y.iter().map(|y| y.to_bits()).collect() };
                assert_eq!(bits(&y), bits(&expected), "{name}, {rows}");
            };
            check("rayon", &|y| rayon(&matrix, &x, y, 16, 2, 2));
            #[cfg(openmp)]
            check("OpenMP", &|y| {
                super::super::openmp::sparse_product(&matrix, &x, y, 16, 2, 2)
            });
        }
    }
}
