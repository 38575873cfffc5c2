//! Products of sparse matrices and vectors: the bits of the sequential product, however rows are claimed.

use gridwise::{
    algorithm::sparse::{Csr, DeviceCsr},
    prelude::*,
};

use crate::support::{lengths, queue, random_numbers};

/// A few rows are full, most have a handful of entries, every third has none.
fn uneven(rows: usize, columns: usize) -> Csr {
    let numbers = random_numbers(rows.max(1) * 8);
    let entries = (0..rows).flat_map(|row| {
        let number = |which: usize| numbers[(row * 8 + which) % numbers.len()];
        let mut at: Vec<usize> = match row % 31 {
            7 => (0..columns).collect(),
            row if row % 3 == 0 => Vec::new(),
            _ if columns == 0 => Vec::new(),
            row => (0..row % 8).map(|which| number(which) as usize % columns).collect(),
        };
        at.sort_unstable();
        at.dedup();
        let value = move |column: usize| (number(0) as f64 / 3.0).sin() * 1e3 + (column as f64).sqrt();
        at.into_iter()
            .map(|column| (row as u32, column as u32, value(column)))
            .collect::<Vec<_>>()
    });
    Csr::from_sorted_entries(rows, columns, entries).unwrap()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

pub(crate) fn products_have_the_bits_of_the_sequential_one(device: &Device) {
    let queue = queue(device);
    for rows in lengths(16).into_iter().filter(|&rows| rows < 2000) {
        for columns in [0, 1, 33] {
            let matrix = uneven(rows, columns);
            let x: Vec<f64> = (0..columns).map(|column| 1.0 / (1.0 + column as f64)).collect();
            let mut expected = vec![f64::NAN; rows];
            matrix.multiply(&x, &mut expected);
            let mut by_default = DeviceCsr::upload(&queue, &matrix).unwrap();
            assert_eq!(
                bits(&by_default.multiply(&queue, &x).unwrap()),
                bits(&expected),
                "{rows}"
            );
            for chunking in [
                Chunking::Fixed(1),
                Chunking::Fixed(16),
                Chunking::Guided { divisor: 2, minimum: 3 },
                Chunking::Factoring { minimum: 1 },
            ] {
                let mut chunked = DeviceCsr::upload_chunked(&queue, &matrix, chunking).unwrap();
                let product = chunked.multiply(&queue, &x).unwrap();
                assert_eq!(bits(&product), bits(&expected), "{rows} {columns} {chunking:?}");
            }
        }
    }
}

pub(crate) fn a_matrix_is_multiplied_many_times(device: &Device) {
    let queue = queue(device);
    let matrix = uneven(97, 97);
    let mut on_device = DeviceCsr::upload(&queue, &matrix).unwrap();
    let (mut expected, mut product) = (vec![1e-6; 97], vec![1e-6; 97]);
    for _ in 0..3 {
        let x = expected.clone();
        matrix.multiply(&x, &mut expected);
        product = on_device.multiply(&queue, &product).unwrap();
    }
    assert_eq!(bits(&product), bits(&expected));
}
