//! Files from public collections, where the machine has them.

use std::{env, fs, path::PathBuf};

use super::super::*;

/// The folder `name` of the shared test data, unless it is not on this machine.
fn folder(name: &str) -> Option<PathBuf> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/data");
    let root = env::var_os("GRIDWISE_SHARED_DATA").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let folder = root.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    eprintln!("skipped: no test data at {}", folder.display());
    None
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// Name, rows, columns, entries after mirroring.
const READ: [(&str, usize, usize, usize); 12] = [
    ("LFAT5.mtx", 14, 14, 46),
    ("bcsstk13.mtx", 2003, 2003, 83883),
    ("comment_claims_int8.mtx", 7, 7, 12),
    ("empty.mtx", 3, 4, 0),
    ("full_symmetric.mtx", 4, 4, 16),
    ("jagmesh7.mtx", 1138, 1138, 7450),
    ("karate.mtx", 34, 34, 156),
    ("lp_afiro.mtx", 27, 51, 102),
    ("matrix_int32.mtx", 7, 7, 12),
    ("olm1000.mtx", 1000, 1000, 3996),
    ("west0067.mtx", 67, 67, 294),
    ("west0067_jumbled.mtx", 67, 67, 294),
];

/// Name and message of those that hold values that are not finite.
const NOT_FINITE: [(&str, &str); 3] = [
    ("comments_west0067.mtx", "6: expected a finite value, found \"nan\""),
    ("matrix_fp64.mtx", "7: expected a finite value, found \"-inf\""),
    ("skew_fp64.mtx", "4: expected a finite value, found \"inf\""),
];

#[test]
fn every_file_gives_its_matrix_or_is_refused_for_a_value_that_is_not_finite() {
    let Some(folder) = folder("matrices") else { return };
    for name in names(&folder) {
        let result = read_matrix(folder.join(&name), Duplicates::Error);
        if let Some((_, expected)) = NOT_FINITE.iter().find(|(known, _)| *known == name) {
            let message = result.unwrap_err().to_string();
            assert!(message.ends_with(&format!("/{name}:{expected}")), "{message}");
            continue;
        }
        let matrix = result.unwrap_or_else(|error| panic!("{error}"));
        match READ.iter().find(|(known, ..)| *known == name) {
            Some(&(_, rows, columns, entries)) => assert_eq!(
                (matrix.rows, matrix.columns, matrix.entries.len()),
                (rows, columns, entries),
                "{name}"
            ),
            None => panic!("{name} is new: add it to the table"),
        }
    }
}

#[test]
fn the_order_of_a_file_makes_no_difference() {
    let Some(folder) = folder("matrices") else { return };
    let [tidy, jumbled] =
        ["west0067.mtx", "west0067_jumbled.mtx"].map(|name| read_matrix(folder.join(name), Duplicates::Error).unwrap());
    assert_eq!(tidy, jumbled);
}

#[test]
fn every_malformed_file_is_refused_with_the_line() {
    let Some(folder) = folder("matrices-malformed") else {
        return;
    };
    for (name, expected) in [
        ("mangled1.mtx", "1: expected the object matrix, found \"mangled\""),
        (
            "mangled2.mtx",
            "1: expected the format coordinate or array, found \"mangled\"",
        ),
        (
            "mangled3.mtx",
            "1: expected the field real, double, integer or pattern, found \"mangled\"",
        ),
        (
            "mangled4.mtx",
            "1: expected the symmetry general, symmetric or skew-symmetric, found \"mangled\"",
        ),
        (
            "mangled5.mtx",
            "1: expected the symmetry general, symmetric or skew-symmetric, found \"hermitian\"",
        ),
        (
            "mangled6.mtx",
            "1: expected the symmetry general, symmetric or skew-symmetric, found \"hermitian\"",
        ),
        ("mangled7.mtx", "5: expected 3 fields \"row column value\", found 2"),
        (
            "mangled8.mtx",
            "4: expected a size line \"rows columns entries\" of whole numbers, found \"3\"",
        ),
        (
            "mangled_format.mtx",
            "1: expected the field real, double or integer in an array file, found \"pattern\"",
        ),
    ] {
        let message = read_matrix(folder.join(name), Duplicates::Error)
            .unwrap_err()
            .to_string();
        assert!(message.contains(&format!("/{name}:{expected}")), "{message}");
    }
    assert_eq!(names(&folder).len(), 9, "a new file: add it to the table");
}

#[test]
fn a_matrix_that_has_to_be_square_is_refused_by_its_size_line() {
    let Some(folder) = folder("matrices") else { return };
    let message = read_square_matrix(folder.join("lp_afiro.mtx"), Duplicates::Error)
        .unwrap_err()
        .to_string();
    assert!(
        message.ends_with("/lp_afiro.mtx:65: expected a square matrix, found 27 x 51"),
        "{message}"
    );
    let read = [read_matrix, read_square_matrix].map(|read| read(folder.join("LFAT5.mtx"), Duplicates::Error).unwrap());
    assert_eq!(read[0], read[1]);
}
