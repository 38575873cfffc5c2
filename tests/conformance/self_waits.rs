//! Work that would wait for itself: on the queue it runs on, or inside a kernel of the queue's device. It is told so.

use std::sync::{Mutex, mpsc};

use gridwise::{
    Error,
    host::{queue::Queue, scope::Ticket},
    prelude::*,
};

use crate::support::queue;

pub(crate) fn a_piece_that_waits_for_a_later_one_is_told(device: &Device) {
    let queue = queue(device);
    queue
        .scope(|scope| {
            let (to_piece, from_host) = mpsc::channel();
            let first = scope.enqueue(|_| Ok(1));
            let waits = scope.enqueue(move |_| {
                let (before, after): (Ticket<'_, i32>, Ticket<'_, i32>) = from_host.recv().unwrap();
                assert_eq!(before.wait()?, 1);
                after.wait()
            });
            let later = scope.enqueue(|_| Ok(2));
            to_piece.send((first, later)).unwrap();
            assert!(matches!(waits.wait(), Err(Error::WaitsForItself)));
        })
        .expect_err("the later piece was skipped, and nobody took that");
}

pub(crate) fn a_piece_that_waits_for_what_it_enqueues_is_told(device: &Device) {
    let queue = queue(device);
    queue
        .scope(|scope| {
            let waits = scope.enqueue(|_| scope.enqueue(|_| Ok(())).wait());
            assert!(matches!(waits.wait(), Err(Error::WaitsForItself)));
        })
        .expect_err("what it enqueued was skipped, and nobody took that");
    // So is the thread of a scope inside it.
    queue
        .scope(|scope| {
            let waits = scope
                .enqueue(|queue| queue.scope(|inner| inner.enqueue(|_| scope.enqueue(|_| Ok(())).wait()).wait())?);
            assert!(matches!(waits.wait(), Err(Error::WaitsForItself)));
        })
        .expect_err("what it enqueued was skipped, and nobody took that");
}

pub(crate) fn a_piece_that_waits_for_an_event_behind_it_is_told(device: &Device) {
    let queue = queue(device);
    type Wait = fn(&Event, &Queue) -> Result<(), Error>;
    let waits: [Wait; 3] = [
        |event, _| {
            event.wait();
            Ok(())
        },
        |event, queue| {
            queue.wait_for(event);
            Ok(())
        },
        |event, queue| queue.scope(|inner| inner.wait_for(event)),
    ];
    for wait in waits {
        let (event, recorded) = (Event::new(), mpsc::channel());
        let result = queue.scope(|scope| {
            let event = &event;
            let _waits = scope.enqueue(move |queue| {
                recorded.1.recv().unwrap();
                wait(event, queue)
            });
            scope.record(event);
            recorded.0.send(()).unwrap();
        });
        let message = result.expect_err("it would wait for itself").to_string();
        assert!(message.contains(&Error::WaitsForItself.to_string()), "{message}");
        event.wait();
    }
}

pub(crate) fn a_piece_may_wait_for_an_event_of_another_queue(device: &Device) {
    let (first, second) = (queue(device), queue(device));
    let event = Event::new();
    let (release, held) = mpsc::channel();
    first
        .scope(|a| {
            let _held = a.enqueue(move |_| held.recv().map_err(Error::other));
            a.record(&event);
            second
                .scope(|b| {
                    let waits = b.enqueue(|queue| {
                        queue.wait_for(&event);
                        event.wait();
                        Ok(event.is_complete())
                    });
                    release.send(()).unwrap();
                    assert!(waits.wait().unwrap());
                })
                .unwrap();
        })
        .unwrap();
}

/// What a kernel tries with a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Try {
    Scope,
    Wait,
    Upload,
    Host,
    Record,
}

/// A kernel that uses a queue of its own device.
#[repr(C)]
struct Uses<'a> {
    queue: &'a Queue,
    what: Try,
}

// SAFETY: it touches no memory of the device.
unsafe impl Kernel for Uses<'_> {
    const NAME: &'static str = "uses";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {
        match self.what {
            Try::Scope => match self.queue.scope(|_| ()) {
                Err(Error::InsideKernel) => {}
                other => panic!("{other:?}"),
            },
            Try::Wait => self.queue.wait(),
            Try::Upload => drop(self.queue.upload(&[1])),
            Try::Host => self.queue.host(|| ()),
            Try::Record => self.queue.record(&Event::new()),
        }
    }
}

pub(crate) fn a_queue_used_inside_a_kernel_of_its_device_ends_the_launch(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    let (launches, other) = (queue(device), queue(device));
    for queue in [&launches, &other] {
        let launch = |what| launches.launch(Blocks::Exactly(4), Uses { queue, what });
        launch(Try::Scope).unwrap();
        for what in [Try::Wait, Try::Upload, Try::Host, Try::Record] {
            match launch(what) {
                Err(LaunchError::Panicked { message, .. }) => {
                    assert!(message.contains("inside a kernel of its own device"), "{message}");
                }
                other => panic!("{what:?}: {other:?}"),
            }
        }
    }
    assert!(launches.is_idle() && other.is_idle());
}

/// One thread waits for what comes after the launch.
#[repr(C)]
struct Waits<'a, 'scope> {
    event: &'a Event,
    ticket: &'a Mutex<Option<Ticket<'scope, ()>>>,
    block: usize,
}

// SAFETY: it touches no memory of the device.
unsafe impl Kernel for Waits<'_, '_> {
    const NAME: &'static str = "waits";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        if acc.block_index() == self.block && acc.thread_index() == 0 {
            let ticket = self.ticket.lock().unwrap().take().unwrap();
            assert!(matches!(ticket.wait(), Err(Error::WaitsForItself)));
            self.event.wait();
        }
    }
}

pub(crate) fn a_kernel_that_waits_for_work_behind_its_launch_is_told(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    let queue = queue(device);
    let blocks = device.most_resident_blocks();
    let event = &Event::new();
    for block in 0..blocks {
        let result = queue.scope(|scope| {
            let (to_piece, from_host) = mpsc::channel();
            let waits = scope.enqueue(move |queue| {
                let ticket = &Mutex::new(Some(from_host.recv().unwrap()));
                Ok(queue.launch(Blocks::Exactly(blocks), Waits { event, ticket, block })?)
            });
            scope.record(event);
            to_piece.send(scope.enqueue(|_| Ok(()))).unwrap();
            match waits.wait() {
                Err(Error::Launch(LaunchError::Panicked { message, .. })) => {
                    assert!(message.contains(&Error::WaitsForItself.to_string()), "{message}");
                }
                other => panic!("{other:?}"),
            }
        });
        result.expect_err("the piece behind was skipped, and nobody took that");
        assert!(event.is_complete());
    }
}

/// A kernel that launches itself on another device, and there on the first one again.
#[repr(C)]
struct Around<'a> {
    first: &'a Queue,
    other: &'a Queue,
    is_on_other: bool,
}

// SAFETY: it touches no memory of a device.
unsafe impl GridKernel for Around<'_> {
    const NAME: &'static str = "around";
    type Shared = ();

    fn run<A: GridAcc>(self, _: A, _: ()) {
        let Self { first, other, .. } = self;
        let queue = if self.is_on_other { first } else { other };
        let kernel = Self {
            is_on_other: true,
            ..self
        };
        // There by all that there are, any of which may come back.
        let grid = match self.is_on_other {
            true => Blocks::Exactly(1).threads(1),
            false => Blocks::Resident.into(),
        };
        let launched = queue.launch_cooperative(grid, kernel);
        if self.is_on_other {
            assert!(matches!(launched, Err(LaunchError::Nested { .. })), "{launched:?}");
            assert!(matches!(first.scope(|_| ()), Err(Error::InsideKernel)));
        } else {
            launched.unwrap();
        }
    }
}

pub(crate) fn a_launch_by_way_of_another_device_is_refused(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    let first = queue(device);
    for other in ["cpu:blocks=1", "cpu:blocks=3", "cpu:blocks=2,threads=2", "check"] {
        let other = queue(&Device::open(other).unwrap());
        let kernel = Around {
            first: &first,
            other: &other,
            is_on_other: false,
        };
        first.launch_cooperative(Blocks::Exactly(1).threads(1), kernel).unwrap();
    }
}
