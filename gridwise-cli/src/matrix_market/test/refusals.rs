//! What is refused, and in which words.

use super::*;

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = read_matrix("/nowhere/A.mtx", Duplicates::Error).unwrap_err();
    assert!(
        error.to_string().starts_with("/nowhere/A.mtx: cannot read the file: "),
        "{error}"
    );
}

#[test]
fn an_empty_file_is_called_empty() {
    for text in ["", "\n", " \r\n\t\n"] {
        let expected =
            "A.mtx:1: expected a banner \"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\", found an empty file";
        assert_eq!(parse(text).unwrap_err(), expected);
    }
}

#[test]
fn the_first_line_has_to_be_a_banner() {
    let banner = "A.mtx:1: expected a banner \"%%MatrixMarket matrix FORMAT FIELD SYMMETRY\", found ";
    assert_eq!(parse("2 2 1\n1 1 1\n").unwrap_err(), format!("{banner}\"2 2 1\""));
    assert_eq!(
        parse("\n%%MatrixMarket matrix array real general\n").unwrap_err(),
        format!("{banner}\"\"")
    );
    let short = "%%MatrixMarket matrix array real";
    assert_eq!(parse(short).unwrap_err(), format!("{banner}\"{short}\""));
    let escape = "\u{1b}[31m";
    assert_eq!(parse(escape).unwrap_err(), format!("{banner}\"\\u{{1b}}[31m\""));
    let endless = "é".repeat(1000);
    assert_eq!(parse(&endless).unwrap_err(), format!("{banner}\"{}…\"", "é".repeat(60)));
}

#[test]
fn words_that_are_not_supported_are_named() {
    for (kind, expected) in [
        (
            "matrix coordinate complex general",
            "field real, double, integer or pattern, found \"complex\"",
        ),
        (
            "matrix coordinate real hermitian",
            "symmetry general, symmetric or skew-symmetric, found \"hermitian\"",
        ),
        ("vector coordinate real general", "object matrix, found \"vector\""),
        ("matrix list real general", "format coordinate or array, found \"list\""),
        (
            "matrix array pattern general",
            "field real, double or integer in an array file, found \"pattern\"",
        ),
        (
            "matrix coordinate pattern skew-symmetric",
            "symmetry general or symmetric in a pattern file, found \"skew-symmetric\"",
        ),
    ] {
        let error = parse(&format!("%%MatrixMarket {kind}\n")).unwrap_err();
        assert_eq!(
            error,
            format!("A.mtx:1: expected the {expected}, which is not supported")
        );
    }
}

#[test]
fn a_size_line_holds_whole_numbers_as_many_as_the_format_says() {
    let expected = "expected a size line \"rows columns entries\"";
    for size in ["3", "3 3 3 3", "3 x 3", "-3 3 3", "3 3 1.5", "3 3 99999999999999999999"] {
        let message = format!("A.mtx:3: {expected} of whole numbers, found {size:?}");
        refuses("coordinate real general", &format!("%\n{size}\n1 1 1\n"), &message);
    }
    refuses(
        "array real general",
        "1 1 1\n1\n",
        "A.mtx:2: expected a size line \"rows columns\" of whole numbers, found \"1 1 1\"",
    );
    refuses(
        "coordinate real general",
        "%\n%\n",
        &format!("A.mtx:3: {expected}, found the end of the file"),
    );
}

#[test]
fn dimensions_have_to_fit_the_indexes() {
    let message = "A.mtx:2: expected at most 4294967295 columns, found 4294967296";
    refuses("coordinate real general", "1 4294967296 0\n", message);
    refuses("array real general", "1 4294967296\n", message);
    let message = "A.mtx:2: expected at most 4294967295 rows, found 4294967296";
    refuses("coordinate real general", "4294967296 1 0\n", message);
}

#[test]
fn symmetric_files_have_to_be_square() {
    let message = "A.mtx:2: expected as many rows as columns in a skew-symmetric matrix, found 2 x 3";
    refuses("coordinate real skew-symmetric", "2 3 0\n", message);
}

#[test]
fn too_few_entries_are_counted_at_the_last_line() {
    let message = "A.mtx:4: expected 3 entries, as line 2 declares, found 1";
    refuses("coordinate real general", "2 2 3\n1 1 1\n%\n", message);
    refuses(
        "array real general",
        "2 2\n1\n",
        "A.mtx:3: expected 4 entries, as line 2 declares, found 1",
    );
}

#[test]
fn too_many_entries_are_counted_at_the_first_that_is_too_many() {
    let message = "A.mtx:5: expected 1 entry, as line 2 declares, found 3";
    refuses(
        "coordinate real general",
        "2 2 1\n1 1 1\n%\n2 2 1\n\n1 2 1\n%\n",
        message,
    );
    refuses(
        "array real symmetric",
        "2 2\n1\n2\n3\n4\n",
        "A.mtx:6: expected 3 entries, as line 2 declares, found 4",
    );
    refuses(
        "array real general",
        "5 0\n1\n",
        "A.mtx:3: expected 0 entries, as line 2 declares, found 1",
    );
}

#[test]
fn sizes_declared_in_a_short_file_take_no_memory() {
    let message = "A.mtx:3: expected 18446744073709551615 entries, as line 2 declares, found 1";
    refuses(
        "coordinate real general",
        "4294967295 4294967295 18446744073709551615\n1 1 1\n",
        message,
    );
    let message = "A.mtx:3: expected 18446744065119617025 entries, as line 2 declares, found 1";
    refuses("array real general", "4294967295 4294967295\n1\n", message);
    let message = "A.mtx:3: expected 9223372034707292160 entries, as line 2 declares, found 1";
    refuses("array real symmetric", "4294967295 4294967295\n1\n", message);
}

#[test]
fn lines_hold_the_fields_of_their_kind_of_file() {
    let three = "expected 3 fields \"row column value\"";
    refuses(
        "coordinate real general",
        "2 2 1\n1 1\n",
        &format!("A.mtx:3: {three}, found 2"),
    );
    refuses(
        "coordinate real general",
        "2 2 1\n1 1 1 0\n",
        &format!("A.mtx:3: {three}, found 4"),
    );
    let message = "A.mtx:3: expected 2 fields \"row column\", found 3";
    refuses("coordinate pattern general", "2 2 1\n1 1 1\n", message);
    refuses(
        "array real general",
        "1 2\n1 2\n",
        "A.mtx:3: expected 1 field \"value\", found 2",
    );
}

#[test]
fn indexes_lie_in_the_matrix() {
    for (line, axis, limit, found) in [
        ("0 1 1", "row", 2, "0"),
        ("3 1 1", "row", 2, "3"),
        ("1 -1 1", "column", 3, "-1"),
        ("1 4 1", "column", 3, "4"),
    ] {
        let message = format!("A.mtx:3: expected a {axis} index from 1 to {limit}, found {found}");
        refuses("coordinate real general", &format!("2 3 1\n{line}\n"), &message);
    }
}

#[test]
fn fields_that_are_no_numbers_are_shown() {
    let kind = "coordinate real general";
    refuses(
        kind,
        "1 1 1\n1.0 1 1\n",
        "A.mtx:3: expected a row index, a whole number, found \"1.0\"",
    );
    refuses(
        kind,
        "1 1 1\n1 x 1\n",
        "A.mtx:3: expected a column index, a whole number, found \"x\"",
    );
    refuses(kind, "1 1 1\n1 1 1,5\n", "A.mtx:3: expected a number, found \"1,5\"");
    refuses(kind, "1 1 1\n1 1 1D\n", "A.mtx:3: expected a number, found \"1D\"");
    refuses(kind, "1 1 1\n1 1 1é3\n", "A.mtx:3: expected a number, found \"1é3\"");
    let message = "A.mtx:3: expected a whole number in an integer file, found \"1.5\"";
    refuses("coordinate integer general", "1 1 1\n1 1 1.5\n", message);
}

#[test]
fn values_that_are_not_finite_are_refused() {
    for value in ["nan", "-inf", "Infinity", "1e999", "1D999"] {
        let message = format!("A.mtx:3: expected a finite value, found {value:?}");
        refuses("coordinate real general", &format!("1 1 1\n1 1 {value}\n"), &message);
        refuses("array integer general", &format!("1 1\n{value}\n"), &message);
    }
}

#[test]
fn the_first_repetition_is_named_with_its_first_line() {
    let message = "A.mtx:5: expected each entry once, found row 2 column 1 again, first given on line 3; \
                   `--duplicates sum` would add them up";
    refuses(
        "coordinate real general",
        "2 2 5\n2 1 1\n1 1 1\n2 1 1\n1 1 1\n2 1 1\n",
        message,
    );
    refuses("coordinate pattern symmetric", "2 2 3\n2 1\n1 1\n2 1\n", message);
}

#[test]
fn a_sum_that_overflows_is_refused() {
    let text = b"%%MatrixMarket matrix coordinate real general\n1 1 3\n1 1 1e308\n1 1 1e308\n1 1 0\n";
    let error = parse_matrix(text, "A.mtx", Duplicates::Sum).unwrap_err();
    let expected = "A.mtx:4: expected a finite sum of the entries at row 1 column 1, found an overflow";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn entries_above_the_diagonal_of_a_symmetric_file_are_refused() {
    for symmetry in ["symmetric", "skew-symmetric"] {
        let message = format!(
            "A.mtx:3: expected only entries on or below the diagonal of a {symmetry} matrix, found row 1 column 2"
        );
        refuses(&format!("coordinate real {symmetry}"), "2 2 1\n1 2 1\n", &message);
    }
}

#[test]
fn the_diagonal_of_a_skew_symmetric_file_is_zero() {
    let message = "A.mtx:3: expected zero at row 2 column 2 of a skew-symmetric matrix, found 1.5";
    refuses("coordinate real skew-symmetric", "2 2 1\n2 2 1.5\n", message);
}

#[test]
fn bytes_that_are_not_utf_8_are_reported_with_their_line() {
    let text = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 \xff\n";
    let error = parse_matrix(text, "A.mtx", Duplicates::Error).unwrap_err();
    let expected = "A.mtx:3: expected text, found the byte 0xff, which is not UTF-8 there";
    assert_eq!(error.to_string(), expected);
}
