//! Destructors of what scopes hold: they may panic and enqueue, and the scope still ends, in time and not before.

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind, panic_any},
    sync::{
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use gridwise::{Error, host::scope::Scope, prelude::*};

use crate::support::queue;

/// Enqueues work that borrows from outside the scope, and then as many more of its kind, when it is dropped.
struct Enqueues<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    done: &'env AtomicUsize,
    more: usize,
}

impl Drop for Enqueues<'_, '_> {
    fn drop(&mut self) {
        let Self { scope, done, more } = *self;
        let _ticket = scope.enqueue(move |_| {
            // So that a scope that did not wait would be over.
            (0..1000).for_each(|_| thread::yield_now());
            done.fetch_add(1, SeqCst);
            Ok((more > 0).then(|| Enqueues {
                scope,
                done,
                more: more - 1,
            }))
        });
    }
}

pub(crate) fn a_scope_waits_for_work_that_a_results_destructor_enqueues(device: &Device) {
    let queue = queue(device);
    let done = AtomicUsize::new(0);
    queue
        .scope(|scope| {
            let done = &done;
            let _ticket = scope.enqueue(move |_| Ok(Enqueues { scope, done, more: 2 }));
        })
        .unwrap();
    assert_eq!(done.load(SeqCst), 3);
    assert!(queue.is_idle());
}

pub(crate) fn a_body_that_panics_waits_for_work_that_a_results_destructor_enqueues(device: &Device) {
    let queue = queue(device);
    let done = AtomicUsize::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        queue.scope(|scope| {
            let done = &done;
            let _ticket = scope.enqueue(move |_| Ok(Enqueues { scope, done, more: 2 }));
            panic!("on purpose");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(done.load(SeqCst), 3);
}

/// Panics when it is dropped, whatever else goes on.
#[derive(Debug)]
struct AlwaysPanics;

impl fmt::Display for AlwaysPanics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("always")
    }
}

impl std::error::Error for AlwaysPanics {}

impl Drop for AlwaysPanics {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

pub(crate) fn a_body_that_panics_lets_go_of_an_error_whose_destructor_panics(device: &Device) {
    let queue = queue(device);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        queue.scope(|scope| {
            let _ticket = scope.enqueue(|_| Err::<(), _>(Error::other(AlwaysPanics)));
            panic!("of the body");
        })
    }));
    let payload = panicked.expect_err("the body panicked");
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"of the body"));
    goes_on(&queue);
}

/// Panics when it is dropped.
struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        if !thread::panicking() {
            panic!("dropped");
        }
    }
}

/// The queue goes on as if nothing had happened.
fn goes_on(queue: &Queue) {
    assert_eq!(
        queue.scope(|scope| scope.enqueue(|_| Ok(3)).wait()).unwrap().unwrap(),
        3
    );
    queue.wait();
    assert!(queue.is_idle());
}

fn is_panic(result: Result<(), Error>, expected: &str) {
    match result {
        Err(Error::ClosurePanicked { message }) => assert_eq!(message, expected),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn skipped_work_whose_destructor_panics_fails(device: &Device) {
    let queue = queue(device);
    queue
        .scope(|scope| {
            let panics = Panics;
            let (release, held) = mpsc::channel();
            let fails = scope.enqueue(move |_| {
                let _ = held.recv();
                Err::<(), _>(Error::other("on purpose"))
            });
            let skipped = scope.enqueue(move |_| {
                let _panics = &panics;
                Ok(())
            });
            release.send(()).unwrap();
            assert_eq!(fails.wait().unwrap_err().to_string(), "on purpose");
            is_panic(skipped.wait(), "dropped");
        })
        .unwrap();
    goes_on(&queue);
}

pub(crate) fn a_panic_whose_payload_panics_is_an_error(device: &Device) {
    let queue = queue(device);
    let result = queue.scope(|scope| {
        let _ticket = scope.enqueue(|_| -> Result<(), Error> { panic_any(Panics) });
    });
    is_panic(result, "(a panic without a message)");
    goes_on(&queue);
}

pub(crate) fn results_whose_destructors_panic_are_failures_of_the_scope(device: &Device) {
    let queue = queue(device);
    let dropped = AtomicUsize::new(0);
    struct Counts<'a>(&'a AtomicUsize);
    impl Drop for Counts<'_> {
        fn drop(&mut self) {
            self.0.fetch_add(1, SeqCst);
        }
    }
    let result = queue.scope(|scope| {
        for _ in 0..3 {
            let _ticket = scope.enqueue(|_| Ok((Counts(&dropped), Panics)));
        }
    });
    is_panic(result, "dropped");
    assert_eq!(dropped.load(SeqCst), 3);
    goes_on(&queue);
}
