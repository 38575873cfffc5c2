//! A sparse matrix times a vector. Rows are of very different length, so blocks claim them in chunks, each as it has finished the
//! one before; a row is summed in order by one thread, so the bits are those of the sequential product.
//!
//! `cargo run --release --example 09_sparse_product [MATRIX.mtx]`

use std::env;

use gridwise::{algorithm::sparse::DeviceCsr, prelude::*};
use gridwise_examples::{failure::Failure, matrix};

fn main() -> Result<(), Failure> {
    let matrix = match env::args_os().nth(1) {
        Some(path) => matrix::read(path.as_ref())?,
        None => matrix::uneven(20_000),
    };
    let x: Vec<f64> = (0..matrix.columns())
        .map(|column| 1.0 / (1.0 + column as f64))
        .collect();
    let mut expected = vec![0.0; matrix.rows()];
    matrix.multiply(&x, &mut expected);
    let bits = |numbers: &[f64]| -> Vec<u64> { numbers.iter().map(|number| number.to_bits()).collect() };

    let device = Device::from_env()?;
    let queue = device.queue();
    for chunking in [
        Chunking::Fixed(64),
        Chunking::Guided { divisor: 2, minimum: 8 },
        Chunking::Factoring { minimum: 8 },
    ] {
        let mut on_device = DeviceCsr::upload_chunked(&queue, &matrix, chunking)?;
        let product = on_device.multiply(&queue, &x)?;
        assert_eq!(bits(&product), bits(&expected), "{chunking:?}");
    }
    let lengths = matrix.row_offsets().array_windows().map(|[start, end]| end - start);
    println!(
        "{}: {} by {}, {} entries, {} to {} in a row: the sequential product, bit for bit",
        device.name(),
        matrix.rows(),
        matrix.columns(),
        matrix.nonzeros(),
        lengths.clone().min().unwrap_or(0),
        lengths.max().unwrap_or(0)
    );
    Ok(())
}
