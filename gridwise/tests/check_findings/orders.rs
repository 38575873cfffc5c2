//! Which order or scope is missing, at which line.

use super::*;

/// Block 0 stores plainly and then a flag; block 1 waits for the flag and loads.
#[derive(Clone, Copy)]
struct Pass {
    store: Ordering,
    load: Ordering,
    fences: (bool, bool),
    wide: bool,
}

const PASS: Pass = Pass {
    store: Ordering::Relaxed,
    load: Ordering::Relaxed,
    fences: (false, false),
    wide: true,
};

impl Deed for Pass {
    fn act<A: GridAcc>(self, acc: A, words: &SpanMut<'_, u64>, _: SharedArray<u32, 4>) {
        let flag = words.atomic(0);
        if acc.block_index() == 0 {
            words.set(acc, 1, 7);
            if self.fences.0 {
                acc.fence(Ordering::Release, Scope::Device);
            }
            if self.wide {
                flag.store(acc, 1, self.store);
            } else {
                flag.scoped::<scope::Block>().store(acc, 1, self.store);
            }
        } else {
            flag.wait_until(acc, self.load, |flag| flag == 1);
            if self.fences.1 {
                acc.fence(Ordering::Acquire, Scope::Device);
            }
            words.get(acc, 1);
        }
    }
}

const STORE: &str = "needs Release, or a release fence before it";
const LOAD: &str = "needs Acquire, or an acquire fence after it";

#[test]
fn the_side_that_lacks_an_order_is_named_with_its_line() {
    let (release, acquire) = (Ordering::Release, Ordering::Acquire);
    let cases = [
        (PASS, true, true),
        (Pass { store: release, ..PASS }, false, true),
        (Pass { load: acquire, ..PASS }, true, false),
        (
            Pass {
                fences: (true, false),
                ..PASS
            },
            false,
            true,
        ),
        (
            Pass {
                fences: (false, true),
                ..PASS
            },
            true,
            false,
        ),
    ];
    for (pass, store, load) in cases {
        let found = findings(pass);
        let [finding] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_text(finding, Kind::GlobalRace, &["missing  the "]);
        let text = finding.to_string();
        assert_eq!(text.contains(STORE), store, "{text}");
        assert_eq!(text.contains(LOAD), load, "{text}");
        assert_eq!(
            text.matches("the store at gridwise/tests/check_findings/orders.rs")
                .count(),
            usize::from(store)
        );
        assert_eq!(
            text.matches("the load at gridwise/tests/check_findings/orders.rs")
                .count(),
            usize::from(load)
        );
    }
    let sound = Pass {
        store: release,
        load: acquire,
        ..PASS
    };
    assert!(findings(sound).is_empty());
}

/// Block 0 stores plainly, and a flag behind it; block 1 waits and loads. Each side orders by its own access, or by a fence and a
/// relaxed access.
#[derive(Clone, Copy)]
struct Scoped {
    /// Scopes of the fences, if there are any.
    fences: Option<[Scope; 2]>,
    /// Whether the flag is stored and loaded at block scope.
    narrow: [bool; 2],
}

impl Deed for Scoped {
    fn act<A: GridAcc>(self, acc: A, words: &SpanMut<'_, u64>, _: SharedArray<u32, 4>) {
        let flag = words.atomic(0);
        let own = flag.scoped::<scope::Block>();
        let (release, acquire) = match self.fences {
            Some(_) => (Ordering::Relaxed, Ordering::Relaxed),
            None => (Ordering::Release, Ordering::Acquire),
        };
        if acc.block_index() == 0 {
            words.set(acc, 1, 7);
            if let Some([scope, _]) = self.fences {
                acc.fence(Ordering::Release, scope);
            }
            match self.narrow[0] {
                true => own.store(acc, 1, release),
                false => flag.store(acc, 1, release),
            }
        } else {
            match self.narrow[1] {
                true => own.wait_until(acc, acquire, |flag| flag == 1),
                false => flag.wait_until(acc, acquire, |flag| flag == 1),
            };
            if let Some([_, scope]) = self.fences {
                acc.fence(Ordering::Acquire, scope);
            }
            words.get(acc, 1);
        }
    }
}

/// The line of this file that has `text` in it, the first after `after`.
fn line(after: &str, text: &str) -> String {
    let source = include_str!("orders.rs");
    let from = source.find(after).unwrap();
    let at = from + source[from..].find(text).unwrap();
    format!("check_findings/orders.rs:{}:", source[..at].matches('\n').count() + 1)
}

#[test]
fn what_has_too_narrow_a_scope_is_named_with_its_line() {
    let (device, block) = (Scope::Device, Scope::Block);
    let at = |text| line("impl Deed for Scoped", text);
    let (stored, waited) = (at("own.store"), at("own.wait_until"));
    let (released, acquired) = (at("acc.fence(Ordering::Release"), at("acc.fence(Ordering::Acquire"));
    let cases = [
        (None, [true, false], vec![&stored]),
        (None, [false, true], vec![&waited]),
        (None, [true, true], vec![&stored, &waited]),
        (Some([block, device]), [false, false], vec![&released]),
        (Some([device, block]), [false, false], vec![&acquired]),
        (Some([block, block]), [false, false], vec![&released, &acquired]),
        (Some([device, device]), [true, false], vec![&stored]),
        (Some([device, device]), [false, true], vec![&waited]),
    ];
    for (fences, narrow, named) in cases {
        let found = findings(Scoped { fences, narrow });
        let of_data = |finding: &&Finding| finding.to_string().contains("element 1 of buffer 0");
        let finding = found.iter().find(of_data).unwrap();
        assert_text(
            finding,
            Kind::ScopeTooNarrow,
            &["has the scope of its block, and needs device scope"],
        );
        let text = finding.to_string();
        let (_, missing) = text.split_once("missing").unwrap();
        for place in [&stored, &waited, &released, &acquired] {
            assert_eq!(
                missing.contains(place.as_str()),
                named.contains(&place),
                "{place} in {text}"
            );
        }
        // The flag itself, where it is not atomic between the blocks.
        let flag = found
            .iter()
            .find(|finding| finding.to_string().contains("element 0 of buffer 0"));
        assert_eq!(flag.is_some(), narrow != [false, false], "{found:?}");
        if let Some(flag) = flag {
            let which = match narrow {
                [true, true] => "both have",
                [true, false] => "the first has",
                _ => "the second has",
            };
            assert_text(flag, Kind::ScopeTooNarrow, &[which]);
        }
    }
    let sound = Scoped {
        fences: Some([device, device]),
        narrow: [false, false],
    };
    assert!(findings(sound).is_empty());
}

/// Block 0 stores and hands on to block 1, block 1 to block 2, which loads. The first hand-over lacks something.
#[derive(Clone, Copy)]
struct Relay {
    store: Ordering,
    load: Ordering,
    narrow: bool,
}

impl Deed for Relay {
    fn act<A: GridAcc>(self, acc: A, words: &SpanMut<'_, u64>, _: SharedArray<u32, 4>) {
        let (first, second) = (words.atomic(0), words.atomic(1));
        match acc.block_index() {
            0 if acc.thread_index() == 0 => {
                words.set(acc, 2, 7);
                match self.narrow {
                    true => first.scoped::<scope::Block>().store(acc, 1, self.store),
                    false => first.store(acc, 1, self.store),
                }
            }
            1 => {
                if acc.thread_index() == 0 {
                    first.wait_until(acc, self.load, |flag| flag == 1);
                }
                acc.sync_block();
                if acc.thread_index() == 1 {
                    second.store(acc, 1, Ordering::Release);
                }
            }
            2 if acc.thread_index() == 0 => {
                second.wait_until(acc, Ordering::Acquire, |flag| flag == 1);
                words.get(acc, 2);
            }
            _ => {}
        }
    }
}

#[test]
fn an_order_that_lacks_between_other_threads_is_named_with_its_lines() {
    let at = |text| line("impl Deed for Relay", text);
    let (stored, narrow, waited) = (
        at("first.store"),
        at("first.scoped::<scope::Block>().store"),
        at("first.wait_until"),
    );
    let sound = Relay {
        store: Ordering::Release,
        load: Ordering::Acquire,
        narrow: false,
    };
    assert!(findings_on(3, 2, sound).is_empty());
    let cases = [
        (
            Relay {
                store: Ordering::Relaxed,
                ..sound
            },
            Kind::GlobalRace,
            &stored,
        ),
        (
            Relay {
                load: Ordering::Relaxed,
                ..sound
            },
            Kind::GlobalRace,
            &waited,
        ),
        (Relay { narrow: true, ..sound }, Kind::ScopeTooNarrow, &narrow),
    ];
    for (relay, kind, place) in cases {
        let found = findings_on(3, 2, relay);
        let of_data = |finding: &&Finding| finding.to_string().contains("element 2 of buffer 0");
        let finding = found.iter().find(of_data).unwrap();
        assert_text(finding, kind, &["block 0", "block 2"]);
        let text = finding.to_string();
        let (_, missing) = text.split_once("missing").unwrap();
        assert!(missing.contains(place.as_str()), "{place} in {text}");
    }
}

// The data is stored after the flag: no order of the flag would help.
deed!(TooLate, |acc, words, shared| {
    let flag = words.atomic(0);
    if acc.block_index() == 0 {
        flag.store(acc, 1, Ordering::Relaxed);
        words.set(acc, 1, 7);
    } else {
        flag.wait_until(acc, Ordering::Relaxed, |flag| flag == 1);
        words.get(acc, 1);
    }
});

#[test]
fn a_store_that_comes_too_early_is_not_told_to_release() {
    let found = findings(TooLate);
    let [finding] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_text(finding, Kind::GlobalRace, &["nothing orders the two blocks"]);
}
