//! Faults of work queues that pools of workers show, on CPU devices of every size, whatever the back ends of the suite.

use std::time::Duration;

use gridwise::{
    host::{
        buffer::Buffer,
        tasks::{Order, TaskFailure},
    },
    prelude::*,
};

use crate::support::{bounded, queue};

const LIMIT: Duration = Duration::from_secs(100);

/// The first block hands numbers to a consumer, through one word.
#[repr(C)]
struct Roles<'a> {
    /// Whether the consumer is block 4, as in a program that was only ever run on larger machines; else it is the last block.
    is_fifth: bool,
    word: SpanMut<'a, u32>,
    sum: SpanMut<'a, u32>,
}

const NUMBERS: u32 = 10;

// SAFETY: the word is atomic, and the sum belongs to the consumer.
unsafe impl GridKernel for Roles<'_> {
    const NAME: &'static str = "roles";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, (): ()) {
        let (me, word) = (acc.block_index(), self.word.atomic(0));
        let consumer = if self.is_fifth { 4 } else { acc.block_count() - 1 };
        let consume = |number| self.sum.set(acc, 0, self.sum.get(acc, 0) + number);
        for number in 1..=NUMBERS {
            if me == 0 && consumer == 0 {
                consume(number);
            } else if me == 0 {
                word.wait_until(acc, Ordering::Acquire, |now| now == 0);
                word.store(acc, number, Ordering::Release);
            } else if me == consumer {
                word.wait_until(acc, Ordering::Acquire, |now| now == number);
                consume(number);
                word.store(acc, 0, Ordering::Release);
            }
        }
    }
}

/// Pools of one worker to five, which wait in each way.
fn pools() -> impl Iterator<Item = (usize, Device)> {
    let waits = ["active", "adaptive", "passive"];
    let all = (1..=5).flat_map(move |workers| waits.map(|wait| (workers, wait)));
    all.map(|(workers, wait)| {
        let device = Device::open(&format!("cpu:blocks={workers},wait={wait}"));
        (workers, device.unwrap())
    })
}

fn roles(device: &Device, is_fifth: bool) -> Result<u32, LaunchError> {
    let queue = queue(device);
    let (mut word, mut sum) = (device.zeroed(1).unwrap(), device.zeroed(1).unwrap());
    let kernel = Roles {
        is_fifth,
        word: word.span_mut(),
        sum: sum.span_mut(),
    };
    queue.launch_cooperative(Blocks::Resident, kernel)?;
    Ok(sum.span()[0])
}

// fault A9.8: the consumer's role is nobody's where there are fewer than five workers, and the producer waits for ever.
#[test]
fn a_consumer_that_is_nobody_on_a_small_pool_is_reported() {
    bounded(LIMIT, || {
        for (workers, device) in pools() {
            match roles(&device, true) {
                Ok(sum) => assert_eq!((workers, sum), (5, 55)),
                Err(LaunchError::Deadlock { .. }) => assert!(workers < 5),
                Err(other) => panic!("{workers} workers: {other}"),
            }
        }
    });
}

// fault A9.8, the correct twin: the roles are given out by how many blocks there are.
#[test]
fn a_producer_and_a_consumer_work_on_pools_of_any_size() {
    bounded(LIMIT, || {
        for (workers, device) in pools() {
            assert_eq!(roles(&device, false).unwrap(), 55, "{workers} workers");
        }
    });
}

/// Node `i` of a tree in a line, eight times over: what was not written, or written by halves, is no node.
#[repr(C)]
struct Whole<'a> {
    fan: u32,
    visits: SpanMut<'a, u32>,
}

// SAFETY: the visits are atomic.
unsafe impl Tasks for Whole<'_> {
    const NAME: &'static str = "whole";
    type Task = [u32; 8];
    type Shared = ();
    const MOST_SPAWNS: usize = 3;

    fn run<A: Acc>(self, acc: A, (): (), task: [u32; 8], spawner: Spawner<'_, '_, [u32; 8]>) {
        let node = task[0];
        assert_eq!(task, [node; 8], "a task that nobody made");
        self.visits.atomic(node as usize).fetch_add(acc, 1, Ordering::Relaxed);
        for child in self.fan * node + 1..=self.fan * node + self.fan {
            if (child as usize) < self.visits.len() {
                spawner.spawn(acc, [child; 8]);
            }
        }
    }
}

/// Runs the tree, and what comes back for want of room, until all is done.
fn run_whole(queue: &Queue, fan: u32, visits: &mut Buffer<u32>, options: TaskOptions<'_>) -> usize {
    let (mut seeds, mut overflows) = (vec![[0; 8]], 0);
    loop {
        let tasks = Whole {
            fan,
            visits: visits.span_mut(),
        };
        match queue.run_tasks(tasks, &seeds, options) {
            Ok(_) => return overflows,
            Err(error) => {
                assert!(matches!(*error.cause, TaskFailure::Overflow { .. }), "{error}");
                seeds = error.unfinished;
                overflows += 1;
            }
        }
    }
}

// fault A9.7: a push past the capacity is counted, but not written. Here a queue too small for its tasks never hands out one that
// was not written whole, and none is lost.
#[test]
fn a_queue_past_its_capacity_hands_out_only_what_was_written() {
    bounded(LIMIT, || {
        let mut overflows = 0;
        for workers in 1..=4 {
            let device = Device::open(&format!("cpu:blocks={workers}")).unwrap();
            for capacity in [1, 2, 8] {
                for order in [Order::Lifo, Order::Fifo] {
                    let options = TaskOptions::default().keep(1).capacity(capacity).order(order);
                    let mut visits = device.zeroed(300).unwrap();
                    overflows += run_whole(&queue(&device), 3, &mut visits, options);
                    assert_eq!(visits.span()[..], [1; 300], "{workers} workers, {options:?}");
                }
            }
        }
        assert!(overflows > 0, "no queue was ever full");
    });
}

/// A chain, each link of which makes the next one and a task that makes none: two tasks at a time, for as long as one likes.
#[repr(C)]
struct Links<'a> {
    visits: SpanMut<'a, u32>,
}

// SAFETY: the visits are atomic.
unsafe impl Tasks for Links<'_> {
    const NAME: &'static str = "links";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 2;

    fn run<A: Acc>(self, acc: A, (): (), task: u32, spawner: Spawner<'_, '_, u32>) {
        self.visits.atomic(task as usize).fetch_add(acc, 1, Ordering::Relaxed);
        if task.is_multiple_of(2) && (task as usize) + 2 < self.visits.len() {
            spawner.spawn(acc, task + 1);
            spawner.spawn(acc, task + 2);
        }
    }
}

// fault A9.16: one element for two owners after very many rounds, with more threads than cores. Here every slot of a ring of two
// goes round thousands of times.
#[test]
fn slots_go_round_thousands_of_times_and_each_task_has_one_owner() {
    bounded(LIMIT, || {
        const TASKS: usize = 20_001;
        let device = Device::open("cpu:blocks=16").unwrap();
        let mut visits = device.zeroed(TASKS).unwrap();
        // Oldest first, so that the short tasks do not pile up.
        let options = TaskOptions::default().order(Order::Fifo).keep(1).capacity(2).counters();
        let (mut seeds, mut overflows) = (vec![0], 0);
        let report = loop {
            let tasks = Links {
                visits: visits.span_mut(),
            };
            match queue(&device).run_tasks(tasks, &seeds, options) {
                Ok(report) => break report,
                Err(error) => {
                    assert!(matches!(*error.cause, TaskFailure::Overflow { .. }), "{error}");
                    seeds = error.unfinished;
                    overflows += 1;
                }
            }
        };
        assert!(visits.span().iter().all(|&visits| visits == 1));
        let spills: u64 = report.counters.unwrap().iter().map(|block| block.spills).sum();
        assert!(
            overflows > 0 || spills as usize > TASKS / 2,
            "only {spills} tasks went through the ring"
        );
    });
}
