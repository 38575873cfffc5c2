//! Right-hand sides.

use super::super::*;

fn vector(text: &str, length: usize) -> Result<Vec<f64>, String> {
    parse_vector(text.as_bytes(), "b.mtx", length, Duplicates::Error).map_err(|error| error.to_string())
}

#[test]
fn an_array_and_a_coordinate_file_give_the_same_vector() {
    let array = "%%MatrixMarket matrix array real general\n3 1\n1\n0\n3\n";
    let coordinate = "%%MatrixMarket matrix coordinate real general\n3 1 2\n3 1 3\n1 1 1\n";
    assert_eq!(vector(array, 3).unwrap(), [1.0, 0.0, 3.0]);
    assert_eq!(vector(coordinate, 3).unwrap(), [1.0, 0.0, 3.0]);
}

#[test]
fn a_matrix_is_no_vector() {
    let text = "%%MatrixMarket matrix array real general\n1 3\n1\n2\n3\n";
    assert_eq!(
        vector(text, 3).unwrap_err(),
        "b.mtx:2: expected a vector, n x 1, found 1 x 3"
    );
}

#[test]
fn the_length_has_to_be_the_one_needed() {
    let text = "%%MatrixMarket matrix array real general\n%\n2 1\n1\n2\n";
    assert_eq!(
        vector(text, 3).unwrap_err(),
        "b.mtx:3: expected a vector of length 3, found length 2"
    );
}

#[test]
fn duplicates_follow_the_choice_too() {
    let text = b"%%MatrixMarket matrix coordinate real general\n1 1 2\n1 1 1\n1 1 2\n";
    assert!(parse_vector(text, "b.mtx", 1, Duplicates::Error).is_err());
    assert_eq!(parse_vector(text, "b.mtx", 1, Duplicates::Sum).unwrap(), [3.0]);
}

#[test]
fn a_length_alone_takes_no_memory() {
    // 32 GB, for two entries of the file.
    let text = "%%MatrixMarket matrix array real general\n4000000000 1\n1\n2\n";
    assert_eq!(
        vector(text, 4_000_000_000).unwrap_err(),
        "b.mtx:4: expected 4000000000 entries, as line 2 declares, found 2"
    );
    // More than there can be; `vec!` would end the program.
    assert_eq!(zeros(usize::MAX / 4), None);
    assert_eq!(zeros(2).unwrap(), [0.0, 0.0]);
}
