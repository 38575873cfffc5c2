//! Sleeping, waking and the proof of a deadlock under loom. Loom's condition variable knows no timeout, so whoever is not woken
//! sleeps for ever, and loom reports it.

use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use loom::{cell::UnsafeCell, sync::atomic::AtomicU32};

use super::*;
use crate::{
    kernel::hardware::WaitFor,
    sync::{Arc, explore, thread},
};

static SITE: WaitSite = WaitSite {
    what: WaitFor::Word,
    location: Location::caller(),
};

/// A launch of a few ranks, and words that they wait for.
struct Launch {
    flight: Flight<'static>,
    words: [AtomicU32; 3],
    data: UnsafeCell<u32>,
}

// SAFETY: loom checks the accesses to the data.
unsafe impl Sync for Launch {}
// SAFETY: as above.
unsafe impl Send for Launch {}

impl Launch {
    /// Stores, then wakes. The fence stands for the sequentially consistent store of the accelerator, which loom takes for a
    /// release only.
    fn store(&self, word: usize) {
        self.words[word].store(1, Ordering::Release);
        fence(Ordering::SeqCst);
        self.flight.stored();
    }

    fn wait(&self, rank: usize, word: usize) {
        let ready = || (self.words[word].load(Ordering::Acquire) != 0).then_some(());
        self.flight.wait(self.flight.seat(rank), SITE, ready);
    }
}

/// Of the launch.
const NUMBER: u64 = 1;

type Body = fn(&Launch);

/// Runs the bodies, one a rank, and returns how the launch failed. With `leaves`, each rank is done after its body.
fn fly<const RANKS: usize>(bodies: [Body; RANKS], leaves: bool) -> Option<Failure> {
    fly_waiting(bodies, leaves, Sleep::Soon)
}

/// The same; `sleep` says when threads that wait sleep.
fn fly_waiting<const RANKS: usize>(bodies: [Body; RANKS], leaves: bool, sleep: Sleep) -> Option<Failure> {
    let seats = (0..RANKS).map(|_| Padded::default()).collect::<Vec<_>>();
    let rest = Box::leak(Box::<Rest>::default());
    rest.prepare(RANKS, None);
    let launch = Launch {
        // A launch keeps these in its scratch; here they are left behind.
        flight: Flight::new(seats.leak(), rest, NUMBER, (RANKS, 1), 0, sleep),
        words: Default::default(),
        data: UnsafeCell::new(0),
    };
    let launch = Arc::new(launch);
    let run = move |launch: &Launch, rank: usize| {
        launch.flight.seat(rank).start(NUMBER);
        match catch_unwind(AssertUnwindSafe(|| bodies[rank](launch))) {
            Err(payload) if !payload.is::<Aborted>() => resume_unwind(payload),
            _ => {}
        }
        if leaves {
            launch.flight.done(rank);
        }
    };
    let others: Vec<_> = (1..RANKS)
        .map(|rank| {
            let launch = launch.clone();
            thread::spawn(move || run(&launch, rank))
        })
        .collect();
    run(&launch, 0);
    for other in others {
        other.join().unwrap();
    }
    Arc::into_inner(launch).unwrap().flight.failure()
}

fn never_fails<const RANKS: usize>(preemptions: usize, bodies: [Body; RANKS], leaves: bool) {
    explore(preemptions, move || assert!(fly(bodies, leaves).is_none()));
}

fn always_deadlocks<const RANKS: usize>(preemptions: usize, bodies: [Body; RANKS]) {
    explore(preemptions, move || {
        assert!(matches!(fly(bodies, true), Some(Failure::Deadlock { .. })));
    });
}

#[test]
fn loom_a_store_wakes_a_sleeper_and_shows_what_was_written_before() {
    let storer: Body = |launch| {
        // SAFETY: loom reports a conflicting access.
        launch.data.with_mut(|data| unsafe { *data = 7 });
        launch.store(0);
    };
    let sleeper: Body = |launch| {
        launch.wait(1, 0);
        // SAFETY: as above.
        launch.data.with(|data| assert_eq!(unsafe { *data }, 7));
    };
    never_fails(4, [storer, sleeper], false);
}

#[test]
fn loom_a_failure_wakes_a_sleeper() {
    let fails: Body = |launch| {
        launch.flight.abort(Failure::Panicked {
            block: 0,
            thread: 0,
            message: String::new(),
        });
    };
    explore(4, move || {
        let failure = fly([fails, |launch| launch.wait(1, 0)], false);
        assert!(matches!(failure, Some(Failure::Panicked { .. })));
    });
}

#[test]
fn loom_turns_taken_by_two_threads_are_no_deadlock() {
    let first: Body = |launch| {
        launch.wait(0, 0);
        launch.store(1);
        launch.wait(0, 2);
    };
    let second: Body = |launch| {
        launch.store(0);
        launch.wait(1, 1);
        launch.store(2);
    };
    never_fails(2, [first, second], true);
}

/// The middle thread waits, moves, lets another move, and waits again, all while the first one tries to prove a deadlock.
#[test]
fn loom_a_thread_that_moves_during_a_proof_spoils_it() {
    let prover: Body = |launch| {
        launch.wait(0, 0);
        launch.store(1);
    };
    let mover: Body = |launch| {
        launch.wait(1, 2);
        launch.store(0);
        launch.wait(1, 1);
    };
    never_fails(1, [prover, mover, |launch| launch.store(2)], true);
}

#[test]
fn loom_two_threads_that_wait_for_each_other_are_a_deadlock() {
    let first: Body = |launch| {
        launch.wait(0, 0);
        launch.store(1);
    };
    let second: Body = |launch| {
        launch.wait(1, 1);
        launch.store(0);
    };
    always_deadlocks(3, [first, second]);
}

#[test]
fn loom_waiting_for_a_thread_that_has_left_is_a_deadlock() {
    always_deadlocks(3, [|launch| launch.wait(0, 0), |launch| launch.store(1)]);
}

/// Whoever stays awake is woken by nobody, and so has to see stores, failures and probes by itself.
#[test]
fn loom_threads_that_stay_awake_see_turns_and_deadlocks() {
    explore(2, || {
        let waits: Body = |launch| {
            launch.store(0);
            launch.wait(0, 1);
        };
        let stores: Body = |launch| {
            launch.wait(1, 0);
            launch.store(1);
        };
        assert!(fly_waiting([waits, stores], true, Sleep::Never).is_none());
    });
    explore(2, || {
        let bodies: [Body; 2] = [|launch| launch.wait(0, 0), |launch| launch.wait(1, 1)];
        assert!(matches!(
            fly_waiting(bodies, true, Sleep::Never),
            Some(Failure::Deadlock { .. })
        ));
    });
}
