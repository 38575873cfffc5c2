//! Who waits for what, and who has left.

use super::*;

// Each waits for a value that the other would store after.
deed!(Crossed, |acc, words, shared| {
    let me = acc.block_index();
    words.atomic(2).fetch_add(acc, 5, Ordering::Relaxed);
    words.atomic(me).wait_until(acc, Ordering::Acquire, |now| now == 1);
    words.atomic(1 - me).store(acc, 1, Ordering::Release);
});

// Both wait for more than they have added together.
deed!(Counted, |acc, words, shared| {
    let count = words.atomic(2);
    count.fetch_add(acc, 5, Ordering::Relaxed);
    count.wait_until(acc, Ordering::Acquire, |now| now == 11);
});

// It polls by hand.
deed!(Polled, |acc, words, shared| {
    words.atomic(3).store(acc, 4, Ordering::Relaxed);
    while words.atomic(3).load(acc, Ordering::Relaxed) == 4 {}
});

#[test]
fn a_hang_tells_what_the_words_hold_and_who_stored_it() {
    let named = |index| format!("element {index} of buffer 0, made at gridwise/tests/check_findings/main.rs");
    let of = |found: Vec<Finding>| found.into_iter().next().unwrap();
    let crossed = of(findings(Crossed));
    let untouched = "holds 0, as when the launch began";
    assert_text(&crossed, Kind::Deadlock, &[&named(0), &named(1), untouched]);
    assert!(!crossed.to_string().contains(&named(2)), "{crossed}");
    let last = "holds 10: last store at gridwise/tests/check_findings/hangs.rs";
    assert_text(&of(findings(Counted)), Kind::Deadlock, &[&named(2), last]);
    let last = "holds 4: last store at gridwise/tests/check_findings/hangs.rs";
    assert_text(&of(findings(Polled)), Kind::EndlessSpin, &[&named(3), last]);
}

// Thread 1 has nothing to do.
deed!(LeftAtOnce, |acc, words, shared| {
    if acc.thread_index() == 0 {
        acc.sync_block();
    }
});

#[test]
fn a_thread_that_left_before_it_did_anything_has_no_line() {
    let found = findings_on(1, 2, LeftAtOnce);
    let [finding] = found.as_slice() else {
        panic!("{found:?}")
    };
    assert_text(
        finding,
        Kind::LeftBeforeBarrier,
        &["left the kernel before anything that this device sees, block 0, thread 1"],
    );
    assert!(!finding.to_string().contains("engine.rs"), "{finding}");
    let json = finding.to_json();
    let second = &json[json.find("\"second\"").unwrap()..];
    assert!(second.starts_with("\"second\":{\"file\":null,\"line\":null"), "{json}");
}
