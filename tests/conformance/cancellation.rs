//! Runs of tasks that are cancelled: they end early, and hand back what they have not begun.

use std::{
    sync::atomic::{AtomicBool, AtomicUsize},
    thread,
    time::Duration,
};

use gridwise::{
    host::{
        buffer::Buffer,
        tasks::{Cancellation, Order, TaskError, TaskFailure},
    },
    prelude::*,
};

use conformance_kernels::tasks::Tree as Plain;

use crate::support::{is_checking, queue, runs_host_kernels};

/// Node `i` of a tree makes nodes `2 i + 1` and `2 i + 2`; one of them cancels the run.
#[repr(C)]
struct Tree<'a> {
    cancels: u32,
    cancellation: &'a Cancellation,
    visits: SpanMut<'a, u32>,
}

// SAFETY: the visits are atomic; the cancellation may be used by many threads at once.
unsafe impl Tasks for Tree<'_> {
    const NAME: &'static str = "tree";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 2;

    fn run<A: Acc>(self, acc: A, _: (), node: u32, spawner: Spawner<'_, '_, u32>) {
        if acc.thread_index() != 0 {
            return;
        }
        self.visits.atomic(node as usize).fetch_add(acc, 1, Ordering::Relaxed);
        for child in [2 * node + 1, 2 * node + 2] {
            if (child as usize) < self.visits.len() {
                spawner.spawn(acc, child);
            }
        }
        if node == self.cancels {
            self.cancellation.cancel();
        }
    }
}

fn cancelled(error: TaskError<u32>) -> Vec<u32> {
    assert!(matches!(*error.cause, TaskFailure::Cancelled), "{error}");
    assert!(error.to_string().contains("cancelled"), "{error}");
    assert!(error.panicked.is_none() && error.interrupted.is_empty(), "{error}");
    error.unfinished
}

/// Every way to run tasks, cancelled by `cancellation`.
fn ways(cancellation: &Cancellation) -> Vec<TaskOptions<'_>> {
    let mut ways = Vec::new();
    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        for order in [Order::Lifo, Order::Fifo] {
            for keep in [1, 64] {
                let options = TaskOptions::from(strategy).order(order).keep(keep);
                ways.push(options.cancelled_by(cancellation));
            }
        }
    }
    ways
}

fn run(device: &Device, visits: &mut Buffer<u32>, seeds: &[u32], cancels: u32, options: TaskOptions<'_>) -> Vec<u32> {
    let cancellation = Cancellation::default();
    let kernel = Tree {
        cancels,
        cancellation: &cancellation,
        visits: visits.span_mut(),
    };
    let options = options.cancelled_by(&cancellation);
    match queue(device).run_tasks(kernel, seeds, options) {
        Ok(_) => Vec::new(),
        Err(error) => cancelled(error),
    }
}

pub(crate) fn a_cancelled_run_hands_its_tasks_back(device: &Device) {
    if !runs_host_kernels(device) {
        return;
    }
    for options in ways(&Cancellation::default()) {
        // The first task cancels: what it has made is all there is.
        let mut visits = device.zeroed(100).unwrap();
        let mut rest = run(device, &mut visits, &[0], 0, options);
        rest.sort();
        assert_eq!(rest, [1, 2], "{options:?}");
        // One among others cancels: what is left is run by another run, and nothing twice.
        let rest = run(device, &mut visits, &rest, 11, options);
        let rest = run(device, &mut visits, &rest, u32::MAX, options);
        assert_eq!(rest, []);
        assert_eq!(queue(device).download(&visits).unwrap(), vec![1; 100], "{options:?}");
    }
}

pub(crate) fn a_run_cancelled_beforehand_runs_nothing(device: &Device) {
    let cancellation = Cancellation::default();
    cancellation.cancel();
    assert!(cancellation.is_cancelled());
    for options in ways(&cancellation) {
        let mut visits = device.zeroed(10).unwrap();
        let kernel = Plain {
            fan: 2,
            panics: u32::MAX,
            slow: u32::MAX,
            visits: visits.span_mut(),
        };
        let mut rest = cancelled(queue(device).run_tasks(kernel, &[3, 4, 9], options).unwrap_err());
        rest.sort();
        assert_eq!(rest, [3, 4, 9]);
        assert_eq!(queue(device).download(&visits).unwrap(), vec![0; 10]);
    }
}

pub(crate) fn a_run_that_is_over_cannot_be_cancelled(device: &Device) {
    if !runs_host_kernels(device) {
        return;
    }
    for options in ways(&Cancellation::default()) {
        let mut visits = device.zeroed(1).unwrap();
        let cancellation = Cancellation::default();
        let kernel = Tree {
            cancels: 0,
            cancellation: &cancellation,
            visits: visits.span_mut(),
        };
        // Its only task cancels it, and makes none.
        let report = queue(device).run_tasks(kernel, &[0], options.cancelled_by(&cancellation));
        assert!(report.is_ok());
    }
}

/// Makes itself for ever; tells when it has begun.
#[repr(C)]
struct Endless<'a> {
    runs: &'a AtomicUsize,
}

// SAFETY: the count is atomic.
unsafe impl Tasks for Endless<'_> {
    const NAME: &'static str = "endless";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 1;

    fn run<A: Acc>(self, acc: A, _: (), task: u32, spawner: Spawner<'_, '_, u32>) {
        if acc.thread_index() == 0 {
            self.runs.fetch_add(1, Ordering::Relaxed);
            spawner.spawn(acc, task);
        }
    }
}

pub(crate) fn another_thread_may_cancel(device: &Device) {
    // The simulated machine has a limit of its own for what does not end.
    if is_checking(device) || !runs_host_kernels(device) {
        return;
    }
    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        let (runs, cancellation) = (AtomicUsize::new(0), Cancellation::default());
        let error = thread::scope(|scope| {
            scope.spawn(|| {
                while runs.load(Ordering::Relaxed) < 50 {
                    thread::yield_now();
                }
                cancellation.cancel();
            });
            let options = TaskOptions::from(strategy).cancelled_by(&cancellation);
            queue(device).run_tasks(Endless { runs: &runs }, &[5, 6, 7], options)
        });
        let mut rest = cancelled(error.unwrap_err());
        rest.sort();
        assert_eq!(rest, [5, 6, 7]);
    }
}

/// Waits for the host.
#[repr(C)]
struct UntilTold<'a> {
    begun: &'a AtomicBool,
    told: &'a AtomicBool,
}

// SAFETY: the words are atomic.
unsafe impl Tasks for UntilTold<'_> {
    const NAME: &'static str = "until_told";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 1;

    fn run<A: Acc>(self, _: A, _: (), _: u32, _: Spawner<'_, '_, u32>) {
        self.begun.store(true, Ordering::Release);
        while !self.told.load(Ordering::Acquire) {
            thread::sleep(Duration::from_micros(100));
        }
    }
}

/// A run that needs one worker, whatever the blocks of the device are.
fn one_thread() -> TaskOptions<'static> {
    TaskOptions::from(Strategy::Persistent).grid(Blocks::Exactly(1).threads(1))
}

// fault A9.11, A9.12: a run of tasks does not have the device to itself. While one waits for the host, the host may copy,
// launch kernels that were never launched before, and run other tasks, on another queue.
pub(crate) fn a_run_that_waits_for_the_host_lets_others_work(device: &Device) {
    // Its launches take turns.
    if is_checking(device) || !runs_host_kernels(device) {
        return;
    }
    let (begun, told) = (AtomicBool::new(false), AtomicBool::new(false));
    thread::scope(|scope| {
        let kernel = UntilTold {
            begun: &begun,
            told: &told,
        };
        let run = scope.spawn(|| {
            let kernel = kernel;
            queue(device)
                .run_tasks(kernel, &[0], one_thread())
                .map(|report| report.launches)
        });
        while !begun.load(Ordering::Acquire) {
            thread::yield_now();
        }
        let cancellation = Cancellation::default();
        let mut visits = queue(device).upload(&[0; 50]).unwrap();
        let others = Tree {
            cancels: u32::MAX,
            cancellation: &cancellation,
            visits: visits.span_mut(),
        };
        queue(device).run_tasks(others, &[0], one_thread()).unwrap();
        assert_eq!(queue(device).download(&visits).unwrap(), [1; 50]);
        told.store(true, Ordering::Release);
        assert_eq!(run.join().unwrap().unwrap(), 1);
    });
}
