//! Accesses of different sizes to the same bytes.

use super::*;

/// Block 0 accesses half of a word, block 1 all of it.
#[derive(Clone, Copy)]
struct Halves {
    /// Whether block 0 and block 1 access atomically.
    atomic: [bool; 2],
    /// The half.
    half: usize,
    /// Whether a grid barrier is between.
    barrier: bool,
}

impl Deed for Halves {
    fn act<A: GridAcc>(self, acc: A, words: &SpanMut<'_, u64>, _: SharedArray<u32, 4>) {
        let halves = words.cast::<A, u32>(acc);
        if acc.block_index() == 0 {
            match self.atomic[0] {
                true => halves.atomic(2 + self.half).store(acc, 5, Ordering::Release),
                false => halves.set(acc, 2 + self.half, 5),
            }
        }
        if self.barrier {
            acc.sync_grid();
        }
        if acc.block_index() == 1 {
            let value = match self.atomic[1] {
                true => words.atomic(1).load(acc, Ordering::Acquire),
                false => words.get(acc, 1),
            };
            let stored = 5 << (32 * self.half);
            assert!(value == stored || (!self.barrier && value == 0), "{value}");
        }
    }
}

#[test]
fn halves_of_a_word_conflict_with_the_whole_unless_a_barrier_orders_them() {
    for half in [0, 1] {
        for (atomic, kind) in [
            ([true, true], Kind::MixedSize),
            ([true, false], Kind::GlobalRace),
            ([false, true], Kind::GlobalRace),
            ([false, false], Kind::GlobalRace),
        ] {
            let deed = |barrier| Halves { atomic, half, barrier };
            let found = findings(deed(false));
            let [finding] = found.as_slice() else {
                panic!("{found:?}")
            };
            assert_text(
                finding,
                kind,
                &["element 1 of buffer 0", " bytes, the second of ", "block 0", "block 1"],
            );
            assert!(findings(deed(true)).is_empty());
        }
    }
}

// Both add to their own half, atomically: the halves are words of their own.
deed!(OwnHalves, |acc, words, shared| {
    let half = words.cast::<A, u32>(acc);
    half.atomic(acc.block_index()).fetch_add(acc, 1, Ordering::Relaxed);
    acc.sync_grid();
    assert_eq!(words.get(acc, 0), (1 << 32) | 1);
});

// One adds to half of a word, the other to all of it.
deed!(AddToHalf, |acc, words, shared| {
    if acc.block_index() == 0 {
        words.cast::<A, u32>(acc).atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
    } else {
        words.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
    }
});

#[test]
fn additions_to_different_halves_are_silent_and_to_half_and_whole_are_not() {
    assert!(findings(OwnHalves).is_empty());
    let found = findings(AddToHalf);
    let [finding] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_text(
        finding,
        Kind::MixedSize,
        &[
            "atomics of different sizes on the same bytes",
            "read-modify-write at device scope",
        ],
    );
}
