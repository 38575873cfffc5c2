//! Clocks, shadows and histories by themselves.

use std::{panic::Location, sync::atomic::Ordering};

use super::{
    Access, Conflict, Fences, How, ThreadClock, Word,
    clock::{Clock, Message},
    shadow::{Cell, Shadow},
};
use crate::{check::finding::Operation, kernel::Scope};

const THREADS: usize = 4;

fn thread(block: u32, thread: u32) -> ThreadClock {
    ThreadClock::new(block, thread, THREADS)
}

#[track_caller]
fn with((order, scope): (Ordering, Scope)) -> How {
    let location = Location::caller();
    How { order, scope, location }
}

fn pass(from: &mut ThreadClock, release: (Ordering, Scope), to: &mut ThreadClock, acquire: (Ordering, Scope)) {
    let mut message = Message::default();
    from.release(&mut message, with(release));
    to.acquire(&message, with(acquire));
}

#[test]
fn clocks_join_to_the_later_of_each() {
    let (mut a, mut b) = (Clock::default(), Clock::default());
    a.set(0, 1, THREADS, 5);
    a.set(7, 0, THREADS, 2);
    b.set(0, 1, THREADS, 3);
    b.set(0, 2, THREADS, 4);
    b.set(3, 3, THREADS, 1);
    let before = b.clone();
    b.join(&a);
    let all = [(0, 1, 5), (0, 2, 4), (3, 3, 1), (7, 0, 2), (1, 1, 0)];
    for (block, thread, epoch) in all {
        assert_eq!(b.get(block, thread), epoch);
    }
    assert_eq!(before.get(0, 1), 3, "a clone is not changed");
}

#[test]
fn a_release_that_is_acquired_orders_what_came_before_it_alone() {
    let (mut a, mut b) = (thread(0, 0), thread(1, 0));
    let released = a.epoch;
    pass(
        &mut a,
        (Ordering::Release, Scope::Device),
        &mut b,
        (Ordering::Acquire, Scope::Device),
    );
    assert!(b.knows(0, 0, released));
    assert!(!b.knows(0, 0, a.epoch));
}

#[test]
fn a_scope_has_to_hold_both_sides() {
    for (release, acquire) in [
        (Scope::Block, Scope::Device),
        (Scope::Device, Scope::Block),
        (Scope::Block, Scope::Block),
    ] {
        for (block, ordered) in [(0, true), (1, false)] {
            let (mut a, mut b) = (thread(0, 0), thread(block, 1));
            let released = a.epoch;
            pass(
                &mut a,
                (Ordering::Release, release),
                &mut b,
                (Ordering::Acquire, acquire),
            );
            assert_eq!(
                b.knows(0, 0, released),
                ordered,
                "{release:?} to {acquire:?}, block {block}"
            );
        }
    }
}

#[test]
fn fences_make_relaxed_accesses_release_and_acquire() {
    let mut fences = Fences::default();
    for (release, acquire, ordered) in [
        (Scope::Device, Scope::Device, true),
        (Scope::Block, Scope::Device, false),
        (Scope::Device, Scope::Block, false),
    ] {
        let (mut a, mut b) = (thread(0, 0), thread(1, 0));
        let released = a.epoch;
        a.fence(with((Ordering::Release, release)), &mut fences);
        pass(
            &mut a,
            (Ordering::Relaxed, Scope::Device),
            &mut b,
            (Ordering::Relaxed, Scope::Device),
        );
        assert!(!b.knows(0, 0, released), "not before the acquire fence");
        b.fence(with((Ordering::Acquire, acquire)), &mut fences);
        assert_eq!(b.knows(0, 0, released), ordered);
    }
}

#[test]
fn a_block_barrier_is_cumulative() {
    let (mut far, mut a, mut b) = (thread(9, 0), thread(0, 0), thread(0, 1));
    let released = far.epoch;
    pass(
        &mut far,
        (Ordering::Release, Scope::Device),
        &mut a,
        (Ordering::Acquire, Scope::Device),
    );
    let did = a.epoch;
    ThreadClock::meet([&mut a, &mut b].into_iter());
    assert!(b.knows(9, 0, released) && b.knows(0, 0, did));
    assert!(!b.knows(0, 0, a.epoch), "what comes after the barrier is not known");
}

fn access(clock: &ThreadClock, operation: Operation) -> Access {
    Access {
        location: Location::caller(),
        block: clock.block,
        thread: clock.thread,
        epoch: clock.epoch,
        operation,
        scope: Scope::Device,
        size: 4,
    }
}

fn judge(cell: &mut Cell, clock: &ThreadClock, operation: Operation, exact: bool) -> Vec<Conflict> {
    let mut conflicts = Vec::new();
    let access = access(clock, operation);
    cell.judge(clock, &access, exact, |_, conflict| conflicts.push(conflict));
    conflicts
}

#[test]
fn reads_conflict_with_writes_and_atomics_with_plain_accesses() {
    use Operation::{AtomicLoad, Load, ReadModifyWrite, Store};
    for (first, second, races) in [
        (Load, Load, false),
        (Load, Store, true),
        (Store, Load, true),
        (Store, Store, true),
        (ReadModifyWrite, ReadModifyWrite, false),
        (ReadModifyWrite, Load, true),
        (Store, AtomicLoad, true),
        (AtomicLoad, Load, false),
    ] {
        let mut cell = Cell::default();
        assert!(judge(&mut cell, &thread(0, 0), first, true).is_empty());
        let conflicts = judge(&mut cell, &thread(1, 0), second, true);
        assert_eq!(!conflicts.is_empty(), races, "{first:?}, {second:?}");
    }
}

#[test]
fn the_exact_mode_remembers_every_reader_and_the_fast_mode_four() {
    for (exact, found) in [(true, 10), (false, 4)] {
        let mut cell = Cell::default();
        for block in 0..10 {
            judge(&mut cell, &thread(block, 0), Operation::Load, exact);
        }
        assert_eq!(
            judge(&mut cell, &thread(10, 0), Operation::Store, exact).len(),
            found,
            "exact: {exact}"
        );
    }
}

#[test]
fn parts_of_a_word_that_different_threads_store_are_no_conflict() {
    let mut shadow = Shadow::new(64);
    let (a, b) = (thread(0, 0), thread(1, 0));
    let mut conflicts = |clock: &ThreadClock, offset, size| {
        let mut count = 0;
        let access = access(clock, Operation::Store);
        shadow.cells(offset, size, |cell| cell.judge(clock, &access, true, |_, _| count += 1));
        count
    };
    assert_eq!(conflicts(&a, 0, 8), 0);
    assert_eq!(conflicts(&b, 8, 1), 0);
    assert_eq!(conflicts(&a, 9, 1), 0, "the next byte");
    assert_eq!(conflicts(&b, 4, 4), 4, "half of a word that was stored as a whole");
}

fn how(order: Ordering) -> How {
    How {
        order,
        scope: Scope::Device,
        location: Location::caller(),
    }
}

#[test]
fn a_load_returns_nothing_older_than_what_the_thread_knows() {
    let (mut writer, mut reader) = (thread(0, 0), thread(1, 0));
    let mut word = Word::new(4, 0);
    for value in 1..=3 {
        word.store(&mut writer, 0, value, how(Ordering::Release));
    }
    assert_eq!(word.candidates(&reader, true), 4);
    assert_eq!(word.candidates(&reader, false), 1);
    assert_eq!(word.load(&mut reader, 2, how(Ordering::Relaxed)), 1);
    assert_eq!(word.candidates(&reader, true), 3, "it has read 1");
    assert_eq!(word.load(&mut reader, 1, how(Ordering::Acquire)), 2);
    assert_eq!(word.candidates(&reader, true), 2, "and 2");
    assert_eq!(word.candidates(&writer, true), 1, "the writer knows its own");
}

#[test]
fn a_word_forgets_all_but_eight_values() {
    let mut writer = thread(0, 0);
    let mut word = Word::new(4, 0);
    for value in 1..=20 {
        word.store(&mut writer, 0, value, how(Ordering::Relaxed));
    }
    assert_eq!(word.candidates(&thread(1, 0), true), 8);
    assert_eq!(word.newest(), 20);
    assert_eq!(word.peek(7), 13);
}

#[test]
fn a_store_comes_anywhere_after_what_its_thread_knows_and_parts_no_read_modify_write() {
    let (mut a, mut b) = (thread(0, 0), thread(1, 0));
    let mut word = Word::new(4, 0);
    word.store(&mut a, 0, 1, how(Ordering::Relaxed));
    assert_eq!(word.places(&a, true), 0b1, "after its own");
    assert_eq!(word.places(&b, true), 0b11);
    assert_eq!(word.places(&b, false), 0b1);
    word.store(&mut b, 1, 2, how(Ordering::Relaxed));
    assert_eq!([word.peek(0), word.peek(1), word.peek(2)], [1, 2, 0]);
    assert_eq!(word.places(&b, true), 0b11, "after its own");
    let mut c = thread(2, 0);
    word.replace(&mut a, 0, 3, how(Ordering::Relaxed));
    assert_eq!(word.places(&c, true), 0b1101, "not between 1 and 3");
    word.load(&mut c, 2, how(Ordering::Relaxed));
    assert_eq!(word.places(&c, true), 0b101, "it has read 2");
    word.replace(&mut c, 2, 4, how(Ordering::Relaxed));
    assert_eq!([word.peek(0), word.peek(1), word.peek(2), word.peek(3)], [3, 1, 4, 2]);
}
