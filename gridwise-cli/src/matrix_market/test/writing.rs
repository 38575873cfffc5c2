//! The writer, and that the reader takes what it writes.

use std::fs;

use proptest::prelude::*;

use super::super::*;
use crate::output::test::Folder;

#[test]
fn a_file_is_replaced_and_nothing_else_is_left() {
    let folder = Folder::new("replace");
    let path = folder.0.join("x.mtx");
    write_vector(&path, &[1.0, 2.0]).unwrap();
    write_vector(&path, &[0.1]).unwrap();
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        "%%MatrixMarket matrix array real general\n1 1\n1e-1\n"
    );
    assert_eq!(read_vector(&path, 1, Duplicates::Error).unwrap(), [0.1]);
    assert_eq!(folder.names(), ["x.mtx"]);
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = write_vector("/nowhere/x.mtx", &[1.0]).unwrap_err();
    assert!(
        error.to_string().starts_with("/nowhere/x.mtx: cannot write the file: "),
        "{error}"
    );
}

proptest! {
    #[test]
    fn a_vector_written_reads_back_bit_for_bit(bits in prop::collection::vec(any::<u64>(), 0..50)) {
        let vector: Vec<f64> = bits.into_iter().map(f64::from_bits).filter(|value| value.is_finite()).collect();
        let mut text = Vec::new();
        write_vector_to(&mut text, &vector).unwrap();
        let read = parse_vector(&text, "x.mtx", vector.len(), Duplicates::Error).unwrap();
        let bits = |vector: &[f64]| vector.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits(&read), bits(&vector));
    }
}
