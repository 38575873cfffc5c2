//! Queues and events: order within a queue, order between queues, and who waits for what.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::SeqCst},
        mpsc,
    },
    thread,
};

use gridwise::{
    host::{buffer::Buffer, queue::Queue, scope::Scope},
    prelude::*,
};

use conformance_kernels::queues_events::Scale;

use crate::support::queue;

/// Work that goes on until it is told to end.
fn held<'env>(queue: &'env Queue, body: impl for<'s> FnOnce(&'s Scope<'s, 'env>, mpsc::Sender<()>)) {
    let (release, held) = mpsc::channel();
    queue
        .scope(|scope| {
            let _ticket = scope.enqueue(move |_| {
                let _ = held.recv();
                Ok(())
            });
            body(scope, release);
        })
        .unwrap();
}

pub(crate) fn an_event_is_not_complete_while_queued(device: &Device) {
    let queue = queue(device);
    let event = Event::new();
    assert!(event.is_complete(), "an event that was never recorded");
    held(&queue, |scope, release| {
        scope.record(&event);
        assert!(!event.is_complete());
        assert!(!event.clone().is_complete(), "a clone is the same event");
        release.send(()).unwrap();
        event.wait();
        assert!(event.is_complete());
    });
    queue.record(&event);
    assert!(event.is_complete(), "recorded behind work that is done");
}

pub(crate) fn an_event_is_recorded_again_without_waiters(device: &Device) {
    let queue = queue(device);
    let event = Event::new();
    for _ in 0..3 {
        held(&queue, |scope, release| {
            scope.record(&event);
            scope.record(&event);
            assert!(!event.is_complete());
            release.send(()).unwrap();
        });
        assert!(event.is_complete());
    }
}

pub(crate) fn an_event_is_recorded_again_with_waiters(device: &Device) {
    let (first, second) = (queue(device), queue(device));
    let event = Event::new();
    let passed = AtomicUsize::new(0);
    held(&first, |scope, release| {
        scope.record(&event);
        thread::scope(|threads| {
            let waiter = threads.spawn(|| {
                event.wait();
                passed.fetch_add(1, SeqCst);
            });
            // Recorded again, behind work of another queue that ends only after the waiter: it waits for what it saw, or if it
            // comes late for this.
            held(&second, |other, release_other| {
                other.record(&event);
                assert!(!event.is_complete());
                release.send(()).unwrap();
                release_other.send(()).unwrap();
            });
            waiter.join().unwrap();
        });
    });
    assert_eq!(passed.load(SeqCst), 1);
    assert!(event.is_complete());

    // A wait that is enqueued takes the recording before it, whatever comes after.
    held(&first, |scope, release| {
        scope.record(&event);
        second
            .scope(|other| {
                other.wait_for(&event);
                let ticket = other.enqueue(|_| Ok(()));
                scope.record(&event);
                release.send(()).unwrap();
                ticket.wait().unwrap();
            })
            .unwrap();
    });
}

pub(crate) fn a_wait_is_for_the_recording_it_saw(device: &Device) {
    let (slow, third, fast) = (queue(device), queue(device), queue(device));
    let event = Event::new();
    held(&slow, |scope, release| {
        scope.record(&event);
        third
            .scope(|waits| {
                waits.wait_for(&event);
                let after = waits.enqueue(|_| Ok(()));
                // Complete at once, which is nothing to those that wait already.
                fast.record(&event);
                assert!(event.is_complete(), "the latest recording");
                event.wait();
                (0..1000).for_each(|_| thread::yield_now());
                assert!(!after.is_done());
                release.send(()).unwrap();
                after.wait().unwrap();
            })
            .unwrap();
    });
}

pub(crate) fn a_wait_for_a_finished_event_returns(device: &Device) {
    let (first, second) = (queue(device), queue(device));
    let event = Event::new();
    second.wait_for(&event);
    first.record(&event);
    for _ in 0..3 {
        event.wait();
        second.wait_for(&event);
        first.wait_for(&event);
        second
            .scope(|scope| {
                scope.wait_for(&event);
                scope.enqueue(|_| Ok(())).wait().unwrap();
            })
            .unwrap();
    }
}

pub(crate) fn events_and_queues_are_dropped_in_any_order(device: &Device) {
    let survivor = {
        let queue = queue(device);
        let event = Event::new();
        held(&queue, |scope, release| {
            scope.record(&event);
            // The queue still holds one that the program has let go of.
            let gone = Event::new();
            scope.record(&gone);
            drop(gone);
            release.send(()).unwrap();
        });
        event
    };
    survivor.wait();
    assert!(survivor.is_complete());
    queue(device).record(&survivor);
    let unused = queue(device);
    unused.scope(|_| ()).unwrap();
    drop(unused);
}

pub(crate) fn three_queues_are_chained_by_events(device: &Device) {
    let queues = [queue(device), queue(device), queue(device)];
    let log = Mutex::new(Vec::new());
    let log = &log;
    let (first, second) = (Event::new(), Event::new());
    queues[2]
        .scope(|c| {
            queues[1]
                .scope(|b| {
                    held(&queues[0], |a, release| {
                        let _a = a.enqueue(|_| {
                            log.lock().unwrap().push('a');
                            Ok(())
                        });
                        a.record(&first);
                        b.wait_for(&first);
                        let _b = b.enqueue(|_| {
                            log.lock().unwrap().push('b');
                            Ok(())
                        });
                        b.record(&second);
                        c.wait_for(&second);
                        let _c = c.enqueue(|_| {
                            log.lock().unwrap().push('c');
                            Ok(())
                        });
                        assert!(log.lock().unwrap().is_empty(), "all wait for what is held");
                        release.send(()).unwrap();
                    });
                })
                .unwrap();
        })
        .unwrap();
    assert_eq!(*log.lock().unwrap(), ['a', 'b', 'c']);
}

pub(crate) fn kernels_of_two_queues_are_ordered_by_an_event(device: &Device) {
    let (first, second) = (queue(device), queue(device));
    let len = 10_007;
    for _ in 0..10 {
        let input = first.upload(&vec![3_u32; len]).unwrap();
        // Never waited for: the event has to keep the two apart.
        let between: Mutex<Buffer<u32>> = Mutex::new(device.zeroed(len).unwrap());
        let mut out = device.zeroed(len).unwrap();
        let event = Event::new();
        let (written, read) = (&between, &between);
        first
            .scope(|a| {
                let _a = a.enqueue(|queue| {
                    let mut between = written.try_lock().expect("the other waits");
                    let kernel = Scale {
                        factor: 5,
                        input: input.span(),
                        out: between.span_mut(),
                    };
                    Ok(queue.launch(Frames::new(len, 64), kernel)?)
                });
                a.record(&event);
                second
                    .scope(|b| {
                        b.wait_for(&event);
                        let _b = b.enqueue(|queue| {
                            let between = read.try_lock().expect("the other is done");
                            let kernel = Scale {
                                factor: 7,
                                input: between.span(),
                                out: out.span_mut(),
                            };
                            Ok(queue.launch(Frames::new(len, 64), kernel)?)
                        });
                    })
                    .unwrap();
            })
            .unwrap();
        assert_eq!(second.download(&out).unwrap(), vec![105; len]);
    }
}

pub(crate) fn four_threads_race_on_events(device: &Device) {
    let events = [Event::new(), Event::new()];
    let done = AtomicUsize::new(0);
    thread::scope(|threads| {
        for index in 0..4 {
            let (events, done) = (&events, &done);
            threads.spawn(move || {
                let queue = queue(device);
                for round in 0..50 {
                    let (mine, other) = (&events[(index + round) % 2], &events[(index + round + 1) % 2]);
                    queue
                        .scope(|scope| {
                            let _ticket = scope.enqueue(|_| {
                                done.fetch_add(1, SeqCst);
                                Ok(())
                            });
                            scope.record(mine);
                            scope.wait_for(other);
                            other.wait();
                            scope.record(mine);
                        })
                        .unwrap();
                    mine.wait();
                    queue.wait_for(other);
                    queue.record(other);
                }
            });
        }
    });
    assert_eq!(done.load(SeqCst), 4 * 50);
    assert!(events.iter().all(Event::is_complete));
}

pub(crate) fn host_closures_return_values_of_every_kind(device: &Device) {
    let queue = queue(device);
    let word = String::from("word");
    let mut changed = 0;
    assert_eq!(queue.host(|| 7_u8), 7);
    assert_eq!(queue.host(|| word.as_str()), "word");
    queue.host(|| changed += 1);
    assert_eq!(changed, 1);
    let moved = Box::new([1, 2, 3]);
    queue
        .scope(|scope| {
            let nothing = scope.enqueue(|_| Ok(()));
            let borrowed = scope.enqueue(|_| Ok(&word));
            let owned = scope.enqueue(|_| Ok(word.clone() + "s"));
            let of_moved = scope.enqueue(move |_| Ok(moved.iter().sum::<i32>()));
            let changes = scope.enqueue(|_| {
                changed += 10;
                Ok(changed)
            });
            let function = scope.enqueue(|_| Ok(Box::new(|x: i32| x + 1) as Box<dyn Fn(i32) -> i32 + Send>));
            let maybe = scope.enqueue(|_| Ok(Some(vec![0.5_f64; 3])));
            nothing.wait().unwrap();
            assert_eq!(borrowed.wait().unwrap(), "word");
            assert_eq!(owned.wait().unwrap(), "words");
            assert_eq!(of_moved.wait().unwrap(), 6);
            assert_eq!(changes.wait().unwrap(), 11);
            assert_eq!(function.wait().unwrap()(1), 2);
            assert_eq!(maybe.wait().unwrap(), Some(vec![0.5; 3]));
        })
        .unwrap();
    assert_eq!(changed, 11);
}

pub(crate) fn blocking_calls_come_after_enqueued_work(device: &Device) {
    let queue = queue(device);
    let mut log = Vec::new();
    let shared = Mutex::new(&mut log);
    queue
        .scope(|scope| {
            for i in 0..3 {
                let shared = &shared;
                let _ticket = scope.enqueue(move |_| {
                    thread::yield_now();
                    shared.lock().unwrap().push(2 * i);
                    Ok(())
                });
                queue.host(|| shared.lock().unwrap().push(2 * i + 1));
            }
            let _ticket = scope.enqueue(|_| {
                shared.lock().unwrap().push(6);
                Ok(())
            });
            queue.wait();
            assert_eq!(shared.lock().unwrap().len(), 7);
        })
        .unwrap();
    assert_eq!(log, [0, 1, 2, 3, 4, 5, 6]);
}

pub(crate) fn blocking_calls_in_a_piece_come_after_the_work_it_enqueued(device: &Device) {
    let queue = queue(device);
    let in_order = |queue: &Queue| {
        let log = Mutex::new(Vec::new());
        queue
            .scope(|inner| {
                for i in 0..3 {
                    let log = &log;
                    let _ticket = inner.enqueue(move |_| {
                        (0..100).for_each(|_| thread::yield_now());
                        log.lock().unwrap().push(2 * i);
                        Ok(())
                    });
                    queue.host(|| log.lock().unwrap().push(2 * i + 1));
                }
            })
            .unwrap();
        log.into_inner().unwrap() == [0, 1, 2, 3, 4, 5]
    };
    // By the name that the piece is given and by that of the outer queue, in a piece, in a piece of a piece, and in a closure.
    let all = queue.scope(|scope| {
        scope
            .enqueue(|given| {
                let deeper =
                    given.scope(|scope| scope.enqueue(|given| Ok(in_order(given) && in_order(&queue))).wait())?;
                Ok(in_order(given) && in_order(&queue) && deeper?)
            })
            .wait()
    });
    assert!(all.unwrap().unwrap());
    assert!(queue.host(|| in_order(&queue)));
}

pub(crate) fn threads_in_a_piece_take_turns_on_its_queue(device: &Device) {
    let queue = queue(device);
    let (inside, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    queue
        .scope(|scope| {
            let piece = scope.enqueue(|queue| {
                thread::scope(|threads| {
                    for _ in 0..4 {
                        threads.spawn(|| {
                            for _ in 0..25 {
                                queue.host(|| {
                                    most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
                                    thread::yield_now();
                                    inside.fetch_sub(1, SeqCst);
                                });
                            }
                        });
                    }
                });
                Ok(())
            });
            piece.wait().unwrap();
        })
        .unwrap();
    assert_eq!(most.load(SeqCst), 1);
}

pub(crate) fn a_queue_is_idle_after_a_panic_in_its_work(device: &Device) {
    let queue = queue(device);
    let panicked = catch_unwind(AssertUnwindSafe(|| queue.host(|| panic!("on purpose"))));
    assert!(panicked.is_err());
    assert!(queue.is_idle());
    assert_eq!(queue.host(|| 5), 5);
}

pub(crate) fn a_queue_is_not_idle_inside_its_own_work(device: &Device) {
    let queue = queue(device);
    assert!(queue.is_idle());
    queue.host(|| assert!(!queue.is_idle()));
    assert!(queue.is_idle());
    queue
        .scope(|scope| {
            let ticket = scope.enqueue(|inner| Ok((queue.is_idle(), inner.is_idle())));
            assert_eq!(ticket.wait().unwrap(), (false, false));
        })
        .unwrap();
    queue.wait();
    assert!(queue.is_idle());
}

pub(crate) fn a_host_closure_may_use_its_own_queue(device: &Device) {
    let queue = queue(device);
    let data = queue.host(|| {
        let input = queue.upload(&[1_u32, 2]).unwrap();
        let mut out = device.zeroed(2).unwrap();
        let kernel = Scale {
            factor: 2,
            input: input.span(),
            out: out.span_mut(),
        };
        queue.launch(Frames::new(2, 1), kernel).unwrap();
        queue.host(|| queue.wait());
        queue.download(&out).unwrap()
    });
    assert_eq!(data, [2, 4]);
    let inside = queue
        .scope(|scope| scope.enqueue(|_| Ok(queue.download(&queue.upload(&[5_u8])?)?)).wait())
        .unwrap();
    assert_eq!(inside.unwrap(), [5]);

    // Through another queue, and with a scope inside.
    let other = self::queue(device);
    assert_eq!(queue.host(|| other.host(|| queue.host(|| 6))), 6);
    let inner = queue.host(|| queue.scope(|scope| scope.enqueue(|queue| Ok(queue.host(|| 7))).wait()));
    assert_eq!(inner.unwrap().unwrap(), 7);
    let inner = queue
        .scope(|scope| {
            scope
                .enqueue(|_| queue.scope(|scope| scope.enqueue(|_| Ok(8)).wait())?)
                .wait()
        })
        .unwrap();
    assert_eq!(inner.unwrap(), 8);
    assert!(queue.is_idle());
}

pub(crate) fn waiting_for_every_queue_covers_all_work(device: &Device) {
    let queues = [queue(device), queue(device), queue(device)];
    let done = AtomicUsize::new(0);
    thread::scope(|threads| {
        for queue in &queues {
            let done = &done;
            threads.spawn(move || {
                queue
                    .scope(|scope| {
                        for _ in 0..20 {
                            let _ticket = scope.enqueue(|_| {
                                done.fetch_add(1, SeqCst);
                                Ok(())
                            });
                        }
                    })
                    .unwrap();
            });
        }
    });
    queues.iter().for_each(Queue::wait);
    assert!(queues.iter().all(Queue::is_idle));
    assert_eq!(done.load(SeqCst), 60);
}

pub(crate) fn threads_take_turns_on_one_queue(device: &Device) {
    let queue = queue(device);
    let inside = AtomicUsize::new(0);
    let most = AtomicUsize::new(0);
    let enter = || {
        most.fetch_max(inside.fetch_add(1, SeqCst) + 1, SeqCst);
        thread::yield_now();
        inside.fetch_sub(1, SeqCst);
    };
    thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..25 {
                    queue.host(enter);
                    queue
                        .scope(|scope| {
                            let _ticket = scope.enqueue(|_| {
                                enter();
                                Ok(())
                            });
                        })
                        .unwrap();
                }
            });
        }
    });
    assert_eq!(most.load(SeqCst), 1);
}
