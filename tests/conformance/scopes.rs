//! Scopes: work that goes on while the host does, and what becomes of its failures.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
};

use gridwise::{Error, prelude::*};

use crate::support::queue;

pub(crate) fn work_goes_on_while_the_host_does(device: &Device) {
    let queue = queue(device);
    let ((to_work, at_work), (to_host, at_host)) = (mpsc::channel(), mpsc::channel());
    queue
        .scope(|scope| {
            // Each side needs the other to go on.
            let ticket = scope.enqueue(move |_| {
                to_host.send(1).map_err(Error::other)?;
                at_work.recv().map_err(Error::other)
            });
            assert!(!ticket.is_done());
            assert_eq!(at_host.recv().unwrap(), 1);
            to_work.send(2).unwrap();
            assert_eq!(ticket.wait().unwrap(), 2);
        })
        .unwrap();
}

pub(crate) fn work_of_a_scope_runs_in_order(device: &Device) {
    let queue = queue(device);
    let log = Mutex::new(Vec::new());
    for _ in 0..3 {
        queue
            .scope(|scope| {
                for i in 0..30 {
                    let log = &log;
                    let _ticket = scope.enqueue(move |_| {
                        log.lock().unwrap().push(i);
                        Ok(())
                    });
                }
            })
            .unwrap();
        assert_eq!(std::mem::take(&mut *log.lock().unwrap()), (0..30).collect::<Vec<_>>());
    }
}

pub(crate) fn a_failure_skips_what_follows(device: &Device) {
    let queue = queue(device);
    let ran = AtomicBool::new(false);
    queue
        .scope(|scope| {
            let before = scope.enqueue(|_| Ok(1));
            let fails = scope.enqueue(|_| Err::<(), _>(Error::other("on purpose")));
            let after = scope.enqueue(|_| {
                ran.store(true, SeqCst);
                Ok(())
            });
            assert_eq!(before.wait().unwrap(), 1);
            assert_eq!(fails.wait().unwrap_err().to_string(), "on purpose");
            assert!(matches!(after.wait(), Err(Error::Skipped)));
        })
        .expect("the failure was taken");
    assert!(!ran.load(SeqCst));
}

pub(crate) fn a_failure_nobody_takes_is_returned(device: &Device) {
    let queue = queue(device);
    let result = queue.scope(|scope| {
        let _lost = scope.enqueue(|_| Ok(()));
        let _fails = scope.enqueue(|queue| Ok(queue.write(&[1_u8], queue.device().zeroed(2)?.span_mut())?));
        let _skipped = scope.enqueue(|_| Ok(()));
        5
    });
    assert!(matches!(result, Err(Error::Copy(_))), "{result:?}");
}

pub(crate) fn skipped_work_nobody_waits_for_is_an_error(device: &Device) {
    let queue = queue(device);
    let result = queue.scope(|scope| {
        let fails = scope.enqueue(|_| Err::<(), _>(Error::other("on purpose")));
        let _skipped = scope.enqueue(|_| Ok(()));
        assert_eq!(fails.wait().unwrap_err().to_string(), "on purpose");
    });
    assert!(matches!(result, Err(Error::Skipped)), "{result:?}");
}

pub(crate) fn events_complete_after_a_failure(device: &Device) {
    let (first, second) = (queue(device), queue(device));
    let event = Event::new();
    let failed = first.scope(|scope| {
        let _fails = scope.enqueue(|_| Err::<(), _>(Error::other("on purpose")));
        scope.record(&event);
        event.wait();
        second.wait_for(&event);
    });
    assert!(failed.is_err() && event.is_complete());
}

pub(crate) fn a_panic_in_a_closure_is_an_error(device: &Device) {
    let queue = queue(device);
    queue
        .scope(|scope| {
            let panics = scope.enqueue(|_| -> Result<(), Error> { panic!("number {}", 7) });
            match panics.wait() {
                Err(Error::ClosurePanicked { message }) => assert_eq!(message, "number 7"),
                other => panic!("{other:?}"),
            }
        })
        .unwrap();
    assert_eq!(
        queue.scope(|scope| scope.enqueue(|_| Ok(3)).wait().unwrap()).unwrap(),
        3
    );
}

pub(crate) fn a_panic_in_the_body_comes_after_the_work(device: &Device) {
    let queue = queue(device);
    let done = AtomicUsize::new(0);
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        queue.scope(|scope| {
            for _ in 0..10 {
                let _ticket = scope.enqueue(|_| {
                    std::thread::yield_now();
                    done.fetch_add(1, SeqCst);
                    Ok(())
                });
            }
            panic!("on purpose");
        })
    }));
    assert!(panicked.is_err());
    assert_eq!(done.load(SeqCst), 10);
}

pub(crate) fn a_piece_may_open_a_scope(device: &Device) {
    let queue = queue(device);
    let sum = queue.scope(|scope| {
        scope
            .enqueue(|queue| {
                let inner = queue.scope(|scope| {
                    let (a, b) = (scope.enqueue(|_| Ok(1)), scope.enqueue(|_| Ok(2)));
                    Ok::<_, Error>(a.wait()? + b.wait()?)
                })?;
                Ok(inner? + queue.host(|| 4))
            })
            .wait()
    });
    assert_eq!(sum.unwrap().unwrap(), 7);
}

/// Panics in every thread.
#[repr(C)]
struct Panics;

// SAFETY: it touches no memory.
unsafe impl Kernel for Panics {
    const NAME: &'static str = "panics";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {
        panic!("on purpose");
    }
}

pub(crate) fn a_queue_is_usable_after_a_failed_scope(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    let queue = queue(device);
    for _ in 0..3 {
        let failed = queue.scope(|scope| {
            let _panics = scope.enqueue(|queue| Ok(queue.launch(Blocks::Exactly(4), Panics)?));
        });
        assert!(
            matches!(failed, Err(Error::Launch(LaunchError::Panicked { .. }))),
            "{failed:?}"
        );
        assert!(queue.is_idle());
        let data = queue.scope(|scope| {
            scope
                .enqueue(|queue| Ok(queue.download(&queue.upload(&[1, 2])?)?))
                .wait()
        });
        assert_eq!(data.unwrap().unwrap(), [1, 2]);
    }
}
