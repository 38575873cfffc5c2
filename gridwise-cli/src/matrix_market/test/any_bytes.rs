//! Files with a few bytes changed at random.

use proptest::prelude::*;

use super::super::*;

const VALID: [&str; 3] = [
    "%%MatrixMarket matrix coordinate real general\n% c\n3 3 4\n1 1 1.5\n2 2 -2\n3 1 1e3\n\n3 3 4D0\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\r\n3 3 3\r\n1 1\r\n3 1\r\n3 3\r\n",
    "%%MatrixMarket matrix array integer skew-symmetric\n3 3\n1\n2\n3\n",
];

/// Bytes that the format gives a meaning, and a few that it does not.
const BYTES: &[u8] = b"0123456789 .-+eEdD\n\r\t%infa\0\xc3\xff";

#[derive(Clone, Debug)]
enum Change {
    Replace(prop::sample::Index, u8),
    Insert(prop::sample::Index, u8),
    Remove(prop::sample::Index),
    Truncate(prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    let place = any::<prop::sample::Index>;
    let byte = || prop::sample::select(BYTES);
    prop_oneof![
        4 => (place(), byte()).prop_map(|(place, byte)| Change::Replace(place, byte)),
        4 => (place(), byte()).prop_map(|(place, byte)| Change::Insert(place, byte)),
        4 => place().prop_map(Change::Remove),
        1 => place().prop_map(Change::Truncate),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    // One more than the length, so that the end is a place too and an empty file has one.
    let end = bytes.len() + 1;
    match change {
        Change::Replace(place, byte) => {
            if let Some(old) = bytes.get_mut(place.index(end)) {
                *old = *byte;
            }
        }
        Change::Insert(place, byte) => bytes.insert(place.index(end), *byte),
        Change::Remove(place) => {
            let place = place.index(end);
            bytes.drain(place..end.min(place + 1).min(bytes.len()));
        }
        Change::Truncate(place) => bytes.truncate(place.index(end)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_mutated_file_gives_a_sound_matrix_or_an_error_at_one_of_its_lines(
        file in prop::sample::select(&VALID[..]),
        changes in prop::collection::vec(change(), 1..6),
        sum in any::<bool>(),
    ) {
        let mut bytes = file.as_bytes().to_vec();
        for change in &changes {
            apply(&mut bytes, change);
        }
        let duplicates = if sum { Duplicates::Sum } else { Duplicates::Error };
        let _ = parse_vector(&bytes, "A.mtx", 3, duplicates);
        match parse_matrix(&bytes, "A.mtx", duplicates) {
            Ok(matrix) => {
                prop_assert!(matrix.entries.is_sorted_by(|a, b| (a.row, a.column) < (b.row, b.column)));
                let sound = |entry: &Entry| {
                    (entry.row as usize) < matrix.rows
                        && (entry.column as usize) < matrix.columns
                        && entry.value.is_finite()
                };
                prop_assert!(matrix.entries.iter().all(sound));
            }
            Err(error) => {
                let message = error.to_string();
                let line = message.strip_prefix("A.mtx:").and_then(|rest| rest.split(':').next()?.parse().ok());
                let lines = bytes.split(|&byte| byte == b'\n').count();
                prop_assert!(line.is_some_and(|line: usize| 1 <= line && line <= lines), "{}", message);
            }
        }
    }
}
