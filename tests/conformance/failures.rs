//! Failures while a launch runs: who is named, who is released, and that the device stays usable.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind},
    sync::Mutex,
    thread,
    time::Duration,
};

use gridwise::{
    host::{
        queue::Queue,
        report::{HangCause, ThreadState, WaitFor},
    },
    prelude::*,
};

use conformance_kernels::failures::{
    Endless, EndlessInTheBlock, Fails, Forlorn, HandMade, Healthy, Meanwhile, PastTheEnd, ShortBlocks,
};

use crate::support::{blocks_of, is_checking, options, queue, several_blocks, team};

fn assert_usable(queue: &Queue) {
    let mut count = queue.device().zeroed(1).unwrap();
    let threads = queue.device().properties().workers;
    queue
        .launch(
            Blocks::Exactly(2).threads(threads),
            Healthy {
                count: count.span_mut(),
            },
        )
        .unwrap();
    assert_eq!(queue.download(&count).unwrap(), [2 * threads as u32]);
}

/// Panics when it is dropped.
struct Panics;

impl Drop for Panics {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

/// Every thread panics with something that panics when it is dropped.
#[repr(C)]
struct PanicsTwice;

// SAFETY: it touches no memory.
unsafe impl Kernel for PanicsTwice {
    const NAME: &'static str = "panics_twice";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {
        panic_any(Panics);
    }
}

pub(crate) fn a_panic_whose_payload_panics_ends_the_launch(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    let queue = queue(device);
    match queue.launch(Blocks::Exactly(2), PanicsTwice) {
        Err(LaunchError::Panicked { message, .. }) => assert_eq!(message, "(a panic without a message)"),
        other => panic!("{other:?}"),
    }
    assert_usable(&queue);
}

/// A thread of the given block, and one in its middle, fails; it is the one that is named.
fn fails(device: &Device, blocks: usize, threads: usize, meanwhile: Meanwhile, pause: u64, cooperative: bool) {
    let queue = queue(device);
    for block in [0, blocks - 1] {
        for thread in [0, 3.min(threads - 1)] {
            let mut word = device.zeroed(1).unwrap();
            let kernel = Fails {
                block,
                thread,
                pause,
                meanwhile,
                word: word.span_mut(),
            };
            let grid = Blocks::Exactly(blocks).threads(threads);
            let (failed, name) = if cooperative {
                (queue.launch_cooperative(grid, kernel), "fails_in_grid")
            } else {
                (queue.launch(grid, kernel), "fails")
            };
            match failed {
                Err(LaunchError::Panicked {
                    kernel,
                    block: b,
                    thread: t,
                    message,
                }) => {
                    assert_eq!((kernel, b, t), (name, block, thread));
                    assert_eq!(message, "on purpose");
                }
                other => panic!("{meanwhile:?}: {other:?}"),
            }
            assert_usable(&queue);
        }
    }
}

pub(crate) fn a_panic_names_block_thread_and_message(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    for blocks in [1, 2, 30] {
        fails(
            device,
            blocks,
            team(device, 4).unwrap_or(1),
            Meanwhile::Nothing,
            0,
            false,
        );
    }
}

// fault A11.7: thread 3 of a block panics before the barrier.
pub(crate) fn a_panic_releases_a_block_barrier(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let Some(threads) = team(device, 4) else { return };
    for blocks in [1, 5] {
        fails(device, blocks, threads, Meanwhile::BlockBarrier, 0, false);
    }
}

// fault A2.17: some have arrived at the grid barrier, and one never will.
pub(crate) fn a_panic_releases_a_grid_barrier(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    for threads in 1..=team(device, 3).unwrap_or(1) {
        let blocks = blocks_of(device, threads);
        fails(device, blocks, threads, Meanwhile::GridBarrier, 0, true);
    }
}

// fault A11.8: others wait for a word that the one that panicked would have stored.
pub(crate) fn a_panic_releases_a_wait(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    if let Some(blocks) = several_blocks(device) {
        fails(
            device,
            blocks,
            device.properties().threads_per_block,
            Meanwhile::Wait,
            0,
            true,
        );
    }
    if let Some(threads) = team(device, 4) {
        // One block: others could not start while it waits.
        fails(device, 1, threads, Meanwhile::Wait, 0, false);
    }
}

// fault A11.11: one leaves while the others have gone to sleep.
pub(crate) fn a_panic_releases_threads_that_sleep(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let pause = 30;
    if let Some(threads) = team(device, 4) {
        fails(device, 1, threads, Meanwhile::BlockBarrier, pause, false);
    }
    if let Some(blocks) = several_blocks(device) {
        fails(device, blocks, 1, Meanwhile::GridBarrier, pause, true);
        fails(device, blocks, 1, Meanwhile::Wait, pause, true);
    }
}

// fault A1.1, A11.10: every resident block waits for one that cannot start before they end.
pub(crate) fn every_block_waiting_for_one_that_never_starts_is_reported(device: &Device) {
    if !crate::support::proves_deadlocks(device) {
        return;
    }
    let queue = queue(device);
    let fits = device.most_resident_blocks();
    for (blocks, missing) in [(fits + 1, 1), (2 * fits + 3, fits + 3)] {
        let mut count = device.zeroed(1).unwrap();
        match queue.launch(
            Blocks::Exactly(blocks),
            HandMade {
                count: count.span_mut(),
            },
        ) {
            Err(LaunchError::Deadlock {
                kernel: "hand_made",
                report,
            }) => {
                assert_eq!(
                    report.cause(),
                    HangCause::BlocksNeverStarted { blocks: missing },
                    "{report}"
                );
                assert_eq!((report.blocks, report.not_started), (blocks, missing));
            }
            other => panic!("{other:?}"),
        }
        assert_usable(&queue);
    }
}

pub(crate) fn a_wait_that_nobody_ends_is_reported(device: &Device) {
    if !crate::support::proves_deadlocks(device) {
        return;
    }
    let queue = queue(device);
    let mut word = device.zeroed(1).unwrap();
    match queue.launch(Blocks::Exactly(1), Forlorn { word: word.span_mut() }) {
        Err(LaunchError::Deadlock { report, .. }) => {
            assert_eq!(report.cause(), HangCause::NobodyStores, "{report}");
            for thread in &report.threads {
                let ThreadState::Waiting { what, location } = thread.state else {
                    panic!("{thread:?}");
                };
                assert_eq!((thread.block, what), (0, WaitFor::Word));
                assert!(location.file().ends_with("failures.rs"), "{location}");
            }
        }
        other => panic!("{other:?}"),
    }
    assert_usable(&queue);
}

/// Meets three times; then the last block takes its time while the others wait at the fourth barrier.
#[repr(C)]
struct Late {
    pause: Duration,
}

// SAFETY: it touches no memory.
unsafe impl GridKernel for Late {
    const NAME: &'static str = "late";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        (0..3).for_each(|_| acc.sync_grid());
        if acc.block_index() == acc.block_count() - 1 {
            thread::sleep(self.pause);
        }
        acc.sync_grid();
    }
}

pub(crate) fn a_time_limit_names_barrier_and_round(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    let Some(blocks) = several_blocks(device) else { return };
    if is_checking(device) {
        return; // one thread runs at a time there: the others have not come as far when it sleeps
    }
    let limit = Duration::from_millis(200);
    let queue = device.queue_with(options().timeout(limit));
    let late = Late {
        pause: Duration::from_secs(2),
    };
    match queue.launch_cooperative(Blocks::Exactly(blocks), late) {
        Err(LaunchError::TimedOut {
            kernel: "late",
            after,
            report,
        }) => {
            assert_eq!((after, report.cause()), (limit, HangCause::StillRunning));
            for thread in report.threads.iter().filter(|thread| thread.thread == 0) {
                match thread.state {
                    ThreadState::Running => assert_eq!((thread.block, thread.grid_barriers), (blocks - 1, 3)),
                    ThreadState::Waiting {
                        what: WaitFor::GridBarrier,
                        location,
                    } => {
                        assert!(thread.block < blocks - 1);
                        assert_eq!(thread.grid_barriers, 4);
                        assert!(location.file().ends_with("failures.rs"), "{location}");
                    }
                    other => panic!("{other:?}"),
                }
            }
            let text = report.to_string();
            assert!(
                text.contains("at the grid barrier") && text.contains("grid barriers entered: 4"),
                "{text}"
            );
        }
        other => panic!("{other:?}"),
    }
    assert_usable(&device.queue_with(options()));
}

pub(crate) fn endless_rounds_are_given_up(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let queue = device.queue_with(options().timeout(Duration::from_millis(100)));
    match queue.launch_cooperative(Blocks::Resident, Endless) {
        Err(LaunchError::TimedOut { report, .. }) => {
            assert!(report.threads.iter().all(|thread| thread.grid_barriers > 0), "{report}");
        }
        other => panic!("{other:?}"),
    }
    assert_usable(&device.queue_with(options()));
}

pub(crate) fn endless_block_barriers_are_given_up(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let Some(threads) = team(device, 2) else { return };
    let queue = device.queue_with(options().timeout(Duration::from_millis(100)));
    let result = queue.launch(Blocks::Exactly(1).threads(threads), EndlessInTheBlock);
    assert!(matches!(result, Err(LaunchError::TimedOut { .. })), "{result:?}");
    assert_usable(&device.queue_with(options()));
}

pub(crate) fn the_longest_time_limit_is_one(device: &Device) {
    let queue = device.queue_with(QueueOptions::default().timeout(Duration::MAX));
    let mut count = device.zeroed(1).unwrap();
    for _ in 0..2 {
        let count = count.span_mut();
        queue.launch(Blocks::Exactly(2).threads(1), Healthy { count }).unwrap();
    }
    assert_eq!(queue.download(&count).unwrap(), [4]);
}

pub(crate) fn many_short_blocks_are_given_up(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let queue = device.queue_with(options().timeout(Duration::from_millis(50)));
    let blocks = 1000 * device.most_resident_blocks();
    let result = queue.launch(Blocks::Exactly(blocks), ShortBlocks);
    assert!(matches!(result, Err(LaunchError::TimedOut { .. })), "{result:?}");
    assert_usable(&device.queue_with(options()));
}

pub(crate) fn an_index_out_of_bounds_is_an_error(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let queue = queue(device);
    for store in [false, true] {
        for len in [0, 5] {
            let mut out = device.zeroed(len).unwrap();
            let kernel = PastTheEnd {
                store,
                out: out.span_mut(),
            };
            match queue.launch(Blocks::Exactly(1), kernel) {
                Err(LaunchError::Panicked { message, .. }) => {
                    let expected = format!("index {len} is out of bounds of a span of {len}");
                    assert!(message.starts_with(&expected), "{message}");
                    // Elsewhere the hook of the panic has told the place.
                    assert_eq!(message.contains("failures.rs:"), is_checking(device), "{message}");
                }
                other => panic!("{other:?}"),
            }
        }
    }
    assert_usable(&queue);
}

pub(crate) fn errors_name_the_kernel(device: &Device) {
    let queue = queue(device);
    let mut word = device.zeroed(1).unwrap();
    let mut errors = vec![
        queue.launch(Blocks::Exactly(0), Forlorn { word: word.span_mut() }),
        queue.launch(Blocks::Exactly(1).threads(0), Forlorn { word: word.span_mut() }),
        queue.launch(Frames::new(1, 0), Forlorn { word: word.span_mut() }),
        queue.launch(Blocks::Exactly(usize::MAX), Forlorn { word: word.span_mut() }),
        queue.launch(Blocks::Exactly(1).threads(1 << 20), Forlorn { word: word.span_mut() }),
        queue.launch(Blocks::Exactly(1), Forlorn { word: word.span_mut() }),
    ];
    let brief = device.queue_with(options().timeout(Duration::from_millis(20)));
    errors.push(brief.launch_cooperative(Blocks::Resident, Endless).map_err(|error| {
        assert!(error.to_string().contains("`endless`"), "{error}");
        LaunchError::ZeroBlocks { kernel: "forlorn" }
    }));
    for error in errors {
        let text = error.unwrap_err().to_string();
        assert!(text.contains("`forlorn`"), "{text}");
    }
}

/// Keeps what threads leave a launch with that has failed elsewhere, and throws it in the next.
#[repr(C)]
struct Rethrows<'a> {
    kept: &'a Mutex<Option<Box<dyn Any + Send>>>,
    fails: bool,
}

// SAFETY: it touches no memory of the device; who has left the launch meets nobody any more.
unsafe impl GridKernel for Rethrows<'_> {
    const NAME: &'static str = "rethrows";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        if !self.fails {
            let kept = self.kept.lock().unwrap().take();
            if let Some(payload) = kept {
                resume_unwind(payload)
            }
        } else if acc.block_index() == 0 && acc.thread_index() == 0 {
            panic!("on purpose")
        } else if let Err(payload) = catch_unwind(AssertUnwindSafe(|| acc.sync_grid())) {
            *self.kept.lock().unwrap() = Some(payload);
        }
    }
}

pub(crate) fn a_thread_that_leaves_a_launch_that_has_not_failed_fails_it(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    let Some(blocks) = several_blocks(device) else { return };
    let (queue, kept) = (queue(device), &Mutex::new(None));
    for fails in [true, false] {
        let result = queue.launch_cooperative(Blocks::Exactly(blocks), Rethrows { kept, fails });
        assert!(matches!(result, Err(LaunchError::Panicked { .. })), "{result:?}");
        assert_eq!(kept.lock().unwrap().is_some(), fails);
    }
    assert_usable(&queue);
}
