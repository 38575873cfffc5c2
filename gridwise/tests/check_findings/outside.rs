//! Accesses beyond the end of what they are to.

use super::*;

deed!(LoadOutside, |acc, words, shared| {
    words.get(acc, 4);
});
deed!(StoreOutsideSlice, |acc, words, shared| {
    words.slice(acc, 1..3).set(acc, 2, 1);
});
deed!(AtomicOutside, |acc, words, shared| {
    words.atomic(7).load(acc, Ordering::Relaxed);
});
deed!(SharedAtomicOutside, |acc, words, shared| {
    shared.slice(1..).atomic(5).load(acc, Ordering::Relaxed);
});
deed!(RangeOutside, |acc, words, shared| {
    words.slice(acc, 2..9);
});

#[test]
fn an_index_out_of_bounds_names_the_element_whatever_the_access() {
    let here = "stood at gridwise/tests/check_findings/outside.rs";
    let buffer = |index| format!("element {index} of buffer 0, made at gridwise/tests/check_findings/main.rs");
    for (found, memory, note) in [
        (
            findings(LoadOutside),
            buffer(4),
            "index 4 is out of bounds of a span of 4",
        ),
        (
            findings(StoreOutsideSlice),
            buffer(3),
            "index 2 is out of bounds of a span of 2",
        ),
        (
            findings(AtomicOutside),
            buffer(7),
            "index 7 is out of bounds of a span of 4",
        ),
        (
            findings(SharedAtomicOutside),
            "element 6 of shared array 0 of block ".to_owned(),
            "index 5 is out of bounds of a span of 3",
        ),
        (
            findings(RangeOutside),
            String::new(),
            "range 2..9 is out of bounds of a span of 4",
        ),
    ] {
        let [finding] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_text(finding, Kind::OutOfBounds, &[here, &memory, note]);
    }
}
