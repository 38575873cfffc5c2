//! What is read.

use super::*;

#[test]
fn coordinate_entries_come_sorted_by_row_then_column() {
    let text = "%%MatrixMarket matrix coordinate real general\n2 3 4\n2 3 4\n1 2 2.5\n2 1 0\n1 1 -1e-3\n";
    let matrix = parse(text).unwrap();
    assert_eq!((matrix.rows, matrix.columns), (2, 3));
    assert_eq!((matrix.symmetry, matrix.field), (Symmetry::General, Field::Real));
    assert_eq!(
        triplets(&matrix),
        [(0, 0, -1e-3), (0, 1, 2.5), (1, 0, 0.0), (1, 2, 4.0)]
    );
}

#[test]
fn an_array_is_read_column_by_column_and_its_zeros_are_dropped() {
    let text = "%%MatrixMarket matrix array real general\n2 3\n1\n0\n3\n4\n5\n6\n";
    gives(text, &[(0, 0, 1.0), (0, 1, 3.0), (0, 2, 5.0), (1, 1, 4.0), (1, 2, 6.0)]);
}

#[test]
fn symmetric_files_are_mirrored() {
    let expected = [(0, 0, 1.0), (0, 1, 2.0), (1, 0, 2.0), (1, 1, 3.0)];
    gives(
        "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 1\n2 1 2\n2 2 3\n",
        &expected,
    );
    gives("%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", &expected);
}

#[test]
fn skew_symmetric_files_are_mirrored_with_the_sign_turned() {
    let expected = [
        (0, 1, -1.0),
        (0, 2, -2.0),
        (1, 0, 1.0),
        (1, 2, -3.0),
        (2, 0, 2.0),
        (2, 1, 3.0),
    ];
    gives(
        "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 3\n2 1 1\n3 1 2\n3 2 3\n",
        &expected,
    );
    gives(
        "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n",
        &expected,
    );
}

#[test]
fn a_zero_on_the_diagonal_of_a_skew_symmetric_file_is_no_contradiction() {
    gives(
        "%%MatrixMarket matrix coordinate real skew-symmetric\n1 1 1\n1 1 0\n",
        &[(0, 0, 0.0)],
    );
}

#[test]
fn a_pattern_entry_is_one() {
    gives(
        "%%MatrixMarket matrix coordinate pattern general\n1 2 1\n1 2\n",
        &[(0, 1, 1.0)],
    );
    let text = "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n";
    gives(text, &[(0, 1, 1.0), (1, 0, 1.0)]);
    assert_eq!(parse(text).unwrap().field, Field::Pattern);
}

#[test]
fn double_is_real_and_integer_is_integer() {
    let field = |word| {
        parse(&format!("%%MatrixMarket matrix array {word} general\n1 1\n7\n"))
            .unwrap()
            .field
    };
    assert_eq!(field("double"), Field::Real);
    assert_eq!(field("integer"), Field::Integer);
}

#[test]
fn words_of_the_banner_may_be_in_any_case() {
    gives(
        "%%matrixmarket MATRIX Coordinate REAL General\n1 1 1\n1 1 2\n",
        &[(0, 0, 2.0)],
    );
}

#[test]
fn comments_and_blank_lines_may_stand_anywhere_after_the_banner() {
    let text = "%%MatrixMarket matrix coordinate real general\n%%GraphBLAS type bool\n\n \t\n2 2 2\n%\n\n1 1 1\n  % x\n2 2 2\n\n%end";
    gives(text, &[(0, 0, 1.0), (1, 1, 2.0)]);
}

#[test]
fn comments_may_hold_any_bytes() {
    let text = b"%%MatrixMarket matrix array real general\n% Andr\xe9\n1 1\n2\n";
    assert!(parse_matrix(text, "A.mtx", Duplicates::Error).is_ok());
}

#[test]
fn line_ends_of_windows_tabs_and_outer_spaces_make_no_difference() {
    let text = " %%MatrixMarket\tmatrix  coordinate real general \r\n\r\n\t1 \t 1  1\r\n  1\t1 2.5\t\r\n";
    gives(text, &[(0, 0, 2.5)]);
}

#[test]
fn the_last_line_needs_no_end() {
    gives("%%MatrixMarket matrix array real general\n1 1\n3", &[(0, 0, 3.0)]);
}

#[test]
fn numbers_of_rust_and_of_fortran_are_read() {
    for (text, value) in [
        ("1", 1.0),
        ("+1.5", 1.5),
        (".5", 0.5),
        ("-5.", -5.0),
        ("1e3", 1e3),
        ("1E-3", 1e-3),
        ("1.0D+03", 1e3),
        ("-2.5d-01", -0.25),
        ("0.1D0", 0.1),
    ] {
        gives(
            &format!("%%MatrixMarket matrix array real general\n1 1\n{text}\n"),
            &[(0, 0, value)],
        );
    }
    let long = format!("1.{}D2", "0".repeat(100));
    gives(
        &format!("%%MatrixMarket matrix array real general\n1 1\n{long}\n"),
        &[(0, 0, 100.0)],
    );
}

#[test]
fn a_matrix_may_have_no_entries_or_no_rows() {
    gives("%%MatrixMarket matrix coordinate real general\n3 4 0\n", &[]);
    gives("%%MatrixMarket matrix array real general\n0 5\n", &[]);
    gives("%%MatrixMarket matrix array real skew-symmetric\n0 0\n", &[]);
    gives("%%MatrixMarket matrix array real skew-symmetric\n1 1\n", &[]);
}

#[test]
fn duplicates_are_added_up_on_request_and_mirrored_after() {
    let text = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 4\n2 1 1\n1 1 5\n2 1 2\n2 1 4\n";
    let matrix = parse_matrix(text, "A.mtx", Duplicates::Sum).unwrap();
    assert_eq!(triplets(&matrix), [(0, 0, 5.0), (0, 1, 7.0), (1, 0, 7.0)]);
}

#[test]
fn duplicates_are_added_up_in_the_order_of_the_file() {
    let text = b"%%MatrixMarket matrix coordinate real general\n1 1 3\n1 1 1e16\n1 1 -1e16\n1 1 1\n";
    let matrix = parse_matrix(text, "A.mtx", Duplicates::Sum).unwrap();
    assert_eq!(triplets(&matrix), [(0, 0, 1.0)]);
}
