//! Threads and queues that wait for each other in a circle: one of them is told so, and the others go on.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Barrier, mpsc},
    thread,
};

use gridwise::{Error, host::queue::Queue, prelude::*};

use crate::support::{queue, runs_host_kernels};

fn says_so(message: &str) -> bool {
    message.contains(&Error::WaitsForItself.to_string())
}

/// What a call panicked with, if it did.
fn panics<R>(call: impl FnOnce() -> R) -> Result<R, String> {
    catch_unwind(AssertUnwindSafe(call)).map_err(|payload| *payload.downcast::<String>().expect("a text"))
}

pub(crate) fn pieces_that_wait_for_events_behind_each_other_are_told(device: &Device) {
    let (first, second) = (queue(device), queue(device));
    let [of_first, of_second] = &[Event::new(), Event::new()];
    let (release, held) = mpsc::channel();
    let result = first.scope(|a| {
        second.scope(|b| {
            let _waits = a.enqueue(move |queue| {
                held.recv().map_err(Error::other)?;
                queue.wait_for(of_second);
                Ok(())
            });
            a.record(of_first);
            b.wait_for(of_first);
            b.record(of_second);
            release.send(()).unwrap();
        })
    });
    // Whichever began to wait last.
    match result {
        Err(Error::ClosurePanicked { message }) => assert!(says_so(&message), "{message}"),
        Ok(Err(Error::WaitsForItself)) => {}
        other => panic!("{other:?}"),
    }
    of_first.wait();
    of_second.wait();
}

/// Two threads, each of which has one queue's turn and asks for the other's, by `ask`.
fn cross<R: Send>(queues: [&Queue; 2], ask: impl Fn(&Queue) -> R + Sync) -> [R; 2] {
    let both = Barrier::new(2);
    let cross = |has: &Queue, wants: &Queue| {
        has.host(|| {
            both.wait();
            ask(wants)
        })
    };
    thread::scope(|scope| {
        let other = scope.spawn(|| cross(queues[1], queues[0]));
        [cross(queues[0], queues[1]), other.join().unwrap()]
    })
}

pub(crate) fn of_threads_that_want_each_others_queues_one_is_told(device: &Device) {
    let queues = [&queue(device), &queue(device)];
    let asks: [fn(&Queue); 3] = [
        Queue::wait,
        |queue| drop(queue.upload(&[1]).unwrap()),
        |queue| queue.record(&Event::new()),
    ];
    for ask in asks {
        let mut told = 0;
        for end in cross(queues, |queue| panics(|| ask(queue))) {
            told += usize::from(end.is_err_and(|message| says_so(&message)));
        }
        assert_eq!(told, 1);
        assert!(queues[0].is_idle() && queues[1].is_idle());
    }
}

#[repr(C)]
struct Nothing;

// SAFETY: it does nothing.
unsafe impl Kernel for Nothing {
    const NAME: &'static str = "nothing";
    type Shared = ();
    fn run<A: Acc>(self, _: A, _: ()) {}
}

pub(crate) fn of_launches_that_want_each_others_queues_one_is_refused(device: &Device) {
    if !runs_host_kernels(device) {
        return;
    }
    let queues = [&queue(device), &queue(device)];
    let ends = cross(queues, |queue| queue.launch(Blocks::Exactly(1), Nothing));
    let [told, other] = match ends {
        [Ok(()), told] => [told, Ok(())],
        ends => ends,
    };
    assert!(matches!(told, Err(LaunchError::WaitsForItself { .. })), "{told:?}");
    other.unwrap();
}

/// The ends of scopes cannot fail, so the pieces do.
pub(crate) fn of_scopes_that_want_each_others_queues_one_is_told(device: &Device) {
    let queues = [&queue(device), &queue(device)];
    let event = &Event::new();
    let ends = cross(queues, |queue| {
        queue.scope(|scope| {
            scope.record(event);
            let _piece = scope.enqueue(|_| Ok(()));
        })
    });
    let told = ends.iter().filter(|end| matches!(end, Err(Error::WaitsForItself)));
    assert!(told.count() >= 1, "{ends:?}");
    event.wait();
}

pub(crate) fn a_piece_that_wants_the_queue_of_who_waits_for_it_is_told(device: &Device) {
    let (first, second) = (queue(device), queue(device));
    for takes_ticket in [true, false] {
        let end = first.host(|| {
            second.scope(|scope| {
                let piece = scope.enqueue(|_| {
                    first.wait();
                    Ok(())
                });
                if takes_ticket { piece.wait() } else { Ok(()) }
            })
        });
        match end {
            Ok(Err(Error::WaitsForItself)) if takes_ticket => {}
            Ok(Err(Error::ClosurePanicked { message })) | Err(Error::ClosurePanicked { message }) => {
                assert!(says_so(&message), "{message}");
            }
            other => panic!("{other:?}"),
        }
        assert!(first.is_idle() && second.is_idle());
    }
}

pub(crate) fn threads_that_want_queues_in_one_order_are_not_told(device: &Device) {
    let queues: [Queue; 3] = std::array::from_fn(|_| queue(device));
    let event = Event::new();
    thread::scope(|scope| {
        for number in 0..4 {
            let (queues, event) = (&queues, &event);
            scope.spawn(move || {
                for round in 0..100 {
                    let [low, high] = [[0, 1], [0, 2], [1, 2]][(number + round) % 3];
                    queues[low].host(|| {
                        let end = queues[high].scope(|pieces| {
                            pieces.record(event);
                            let piece = pieces.enqueue(|queue| queue.host(|| Ok(())));
                            queues[high].wait();
                            piece.wait()
                        });
                        end.unwrap().unwrap();
                    });
                    event.wait();
                }
            });
        }
    });
}
