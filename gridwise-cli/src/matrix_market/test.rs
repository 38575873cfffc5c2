mod any_bytes;
mod forms;
mod refusals;
mod shared_files;
mod vectors;
mod writing;

use super::*;

/// The matrix in `text`, or the message, as if read from `A.mtx`.
fn parse(text: &str) -> Result<Matrix, String> {
    parse_matrix(text.as_bytes(), "A.mtx", Duplicates::Error).map_err(|error| error.to_string())
}

fn triplets(matrix: &Matrix) -> Vec<(u32, u32, f64)> {
    matrix
        .entries
        .iter()
        .map(|entry| (entry.row, entry.column, entry.value))
        .collect()
}

#[track_caller]
fn gives(text: &str, expected: &[(u32, u32, f64)]) {
    assert_eq!(triplets(&parse(text).unwrap()), expected, "{text}");
}

/// `body` is all that follows the banner `%%MatrixMarket matrix KIND`.
#[track_caller]
fn refuses(kind: &str, body: &str, expected: &str) {
    assert_eq!(
        parse(&format!("%%MatrixMarket matrix {kind}\n{body}")).unwrap_err(),
        expected
    );
}
