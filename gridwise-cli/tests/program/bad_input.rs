//! Files that are refused: exit code 2, and a message with file, line and what was expected.

use std::fs;

use crate::support::{Folder, POISSON, gridwise, shared};

#[test]
fn every_malformed_file_is_refused_with_its_line() {
    let Some(folder) = shared("matrices-malformed") else {
        return;
    };
    let mut seen = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let outcome = gridwise(["solve".as_ref(), path.as_os_str()]);
        outcome.refused(&format!("{}:", path.display()));
        let message = &outcome.stderr["gridwise: ".len() + path.as_os_str().len() + 1..];
        let (line, expected) = message.split_once(": ").unwrap();
        assert!(line.parse::<u64>().is_ok_and(|line| line > 0), "{outcome:?}");
        assert!(
            expected.starts_with("expected ") && expected.contains(", found "),
            "{outcome:?}"
        );
        seen += 1;
    }
    assert!(seen >= 9, "{seen}");
}

#[test]
fn a_bad_matrix_is_refused_with_its_line() {
    let folder = Folder::new("bad-matrix");
    for (name, text, expected) in [
        ("empty", "", "1: expected a banner"),
        ("other", "hello\n", "1: expected a banner"),
        (
            "range",
            "2 2 2\n1 1 1\n3 1 1\n",
            "4: expected a row index from 1 to 2, found 3",
        ),
        (
            "zero",
            "2 2 1\n1 0 1\n",
            "3: expected a column index from 1 to 2, found 0",
        ),
        (
            "few",
            "2 2 3\n1 1 1\n2 2 1\n",
            "4: expected 3 entries, as line 2 declares, found 2",
        ),
        (
            "many",
            "2 2 1\n1 1 1\n2 2 1\n",
            "4: expected 1 entry, as line 2 declares, found 2",
        ),
        ("nan", "1 1 1\n1 1 nan\n", "3: expected a finite value, found \"nan\""),
        (
            "infinite",
            "1 1 1\n1 1 -inf\n",
            "3: expected a finite value, found \"-inf\"",
        ),
        ("wide", "2 3 1\n1 1 1\n", "2: expected a square matrix, found 2 x 3"),
        ("tall", "3 2 1\n1 1 1\n", "2: expected a square matrix, found 3 x 2"),
        ("word", "1 1 1\n1 1 one\n", "3: expected a number, found \"one\""),
    ] {
        let banner = if name == "empty" || name == "other" {
            ""
        } else {
            "%%MatrixMarket matrix coordinate real general\n"
        };
        let path = folder.file(name, format!("{banner}{text}"));
        gridwise(["solve", &path]).refused(&format!("{path}:{expected}"));
    }
}

#[test]
fn a_matrix_with_an_empty_row_is_refused_whatever_its_size() {
    let folder = Folder::new("empty-row");
    let b = folder.path("not-read.mtx");
    for (name, kind, body, expected) in [
        // A vector of that many rows would take 32 GB.
        (
            "huge",
            "coordinate real general",
            "4000000000 4000000000 1\n1 1 1",
            "4000000000 rows, found 1 entry in all",
        ),
        (
            "mirrored",
            "coordinate real symmetric",
            "4 4 1\n2 1 1",
            "4 rows, found 2 entries in all",
        ),
        (
            "zero",
            "array real general",
            "2 2\n0\n0\n0\n1",
            "2 rows, found 1 entry in all",
        ),
    ] {
        let path = folder.file(name, format!("%%MatrixMarket matrix {kind}\n{body}\n"));
        let message = format!("{path}: expected at least one entry in each of {expected}");
        gridwise(["solve", &path]).refused(&message);
        gridwise(["solve", &path, "--rhs", &b]).refused(&message);
    }
}

#[test]
fn a_file_that_is_not_there_or_is_a_folder_is_named() {
    let folder = Folder::new("missing");
    for path in [folder.path("no.mtx"), folder.path("")] {
        gridwise(["solve", &path]).refused(&format!("{path}: cannot read the file: "));
        gridwise(["solve", POISSON, "--rhs", &path]).refused(&format!("{path}: cannot read the file: "));
    }
}

#[test]
fn duplicates_are_refused_unless_they_are_to_be_added_up() {
    let folder = Folder::new("duplicates");
    let matrix = folder.matrix("A.mtx", "real general", "2 2 3\n1 1 1.5\n2 2 2\n1 1 2.5");
    let outcome = gridwise(["solve", &matrix]);
    outcome.refused(&format!(
        "{matrix}:5: expected each entry once, found row 1 column 1 again, first given on line 3"
    ));
    assert!(outcome.stderr.contains("`--duplicates sum`"), "{outcome:?}");
    assert_eq!(gridwise(["solve", &matrix, "--duplicates", "error"]).code, Some(2));

    let (b, x) = (folder.vector("b.mtx", &[8.0, 2.0]), folder.path("x.mtx"));
    let outcome = gridwise(["solve", &matrix, "--rhs", &b, "--duplicates", "sum", "-o", &x]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let x = gridwise_cli::matrix_market::read_vector(x, 2, Default::default()).unwrap();
    assert!((x[0] - 2.0).abs() < 1e-6 && (x[1] - 1.0).abs() < 1e-6, "{x:?}");
}

#[test]
fn a_bad_right_hand_side_is_refused_with_its_line() {
    let folder = Folder::new("bad-rhs");
    let matrix = folder.matrix("A.mtx", "real general", "2 2 2\n1 1 1\n2 2 1");
    for (name, text, expected) in [
        (
            "long",
            "3 1\n1\n2\n3\n",
            "2: expected a vector of length 2, found length 3",
        ),
        ("short", "1 1\n1\n", "2: expected a vector of length 2, found length 1"),
        ("wide", "2 2\n1\n2\n3\n4\n", "2: expected a vector, n x 1, found 2 x 2"),
        ("infinite", "2 1\n1\ninf\n", "4: expected a finite value, found \"inf\""),
        ("few", "2 1\n1\n", "3: expected 2 entries, as line 2 declares, found 1"),
    ] {
        let path = folder.file(name, format!("%%MatrixMarket matrix array real general\n{text}"));
        gridwise(["solve", &matrix, "--rhs", &path]).refused(&format!("{path}:{expected}"));
    }
}

#[test]
fn a_matrix_that_conjugate_gradients_cannot_handle_is_refused_if_they_were_asked_for() {
    let folder = Folder::new("not-cg");
    for (name, kind, body, expected) in [
        (
            "lopsided",
            "real general",
            "2 2 3\n1 1 2\n2 2 2\n1 2 1",
            "conjugate gradients need a symmetric matrix, and the entry in row 1, column 2",
        ),
        (
            "hollow",
            "real symmetric",
            "2 2 1\n2 1 1",
            "conjugate gradients need a positive diagonal, but it is 0 in row 1",
        ),
        (
            "indefinite",
            "real symmetric",
            "3 3 4\n1 1 1\n2 2 1\n3 3 1\n2 1 3",
            "conjugate gradients need a positive definite matrix",
        ),
    ] {
        let path = folder.matrix(name, kind, body);
        let b = folder.vector(
            "b.mtx",
            if name == "indefinite" {
                &[1.0, -1.0, 0.5]
            } else {
                &[1.0, 2.0]
            },
        );
        let (x, plot) = (folder.path("x.mtx"), folder.path("r.svg"));
        let solve = ["solve", &path, "--rhs", &b, "-o", &x, "--plot", &plot, "--method"];
        let outcome = gridwise([&solve[..], &["cg"]].concat());
        outcome.refused(&format!("{path}: {expected}"));
        assert!(outcome.stderr.contains("bicgstab"), "{outcome:?}");
        assert!(!folder.names().contains(&"x.mtx".to_owned()), "{name}");
        for method in ["auto", "bicgstab"] {
            let outcome = gridwise([&solve[..], &[method]].concat());
            assert_eq!(outcome.code, Some(0), "{name} {method}: {outcome:?}");
            assert_eq!(outcome.row("method").split(':').next(), Some("bicgstab"));
            fs::remove_file(&x).unwrap();
        }
    }
}

#[test]
fn a_right_hand_side_that_overflows_is_refused() {
    let folder = Folder::new("overflow");
    let matrix = folder.matrix("A.mtx", "real general", "2 2 3\n1 1 1e308\n1 2 1e308\n2 2 1");
    gridwise(["solve", &matrix]).refused(&format!("{matrix}: the right-hand side has inf in row 1"));
}
