//! Launches so small that Miri runs them: every way in which the CPU hands work, memory and failures from thread to thread.
//!
//! `MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-permissive-provenance" cargo +nightly miri test -p gridwise --test small_launches`
//!
//! The flags: a device looks at the cores of the machine; and a worker gets its job as a word.

use std::{
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{Barrier, Mutex},
    thread,
};

use gridwise::prelude::*;

const DEVICES: [&str; 3] = [
    "cpu:blocks=2,pin=off",
    "cpu:blocks=2,threads=2,pin=off",
    "cpu:blocks=3,wait=passive,pin=off",
];

/// Runs a test on devices of several shapes.
fn on_each(test: impl Fn(&Device, &Queue)) {
    for name in DEVICES {
        let device = Device::open(name).unwrap();
        test(&device, &device.queue());
    }
}

/// Adds one to everything and moves it one place to the left, three times; meanwhile blocks and the grid add something up.
#[repr(C)]
struct Rotate<'a> {
    arrays: [SpanMut<'a, u32>; 2],
}

// SAFETY: in a round each thread writes its own elements of one array and all read the other; a grid barrier separates rounds.
// The tile is written before a block barrier, and read after it.
unsafe impl GridKernel for Rotate<'_> {
    const NAME: &'static str = "rotate";
    type Shared = SharedArray<u32, 4>;

    fn run<A: GridAcc>(self, acc: A, tile: Self::Shared) {
        let n = self.arrays[0].len();
        for round in 0..3 {
            let (from, to) = (&self.arrays[round % 2], &self.arrays[(round + 1) % 2]);
            for i in acc.threads_in_grid(0..n) {
                to.set(acc, i, from.get(acc, (i + 1) % n) + 1);
            }
            for i in acc.threads_in_block(0..4) {
                tile.set(acc, i, i as u32);
            }
            acc.sync_block();
            let sum = (0..4).map(|i| tile.get(acc, i)).sum();
            assert_eq!(acc.reduce_grid(sum, u32::max), 6);
            acc.sync_grid();
        }
    }
}

#[test]
fn rounds_meet_at_grid_barriers() {
    on_each(|device, queue| {
        let (mut a, mut b) = (queue.upload(&[0; 9]).unwrap(), device.zeroed(9).unwrap());
        for expected in [3, 6] {
            let arrays = [a.span_mut(), b.span_mut()];
            queue.launch_cooperative(Blocks::Resident, Rotate { arrays }).unwrap();
            assert_eq!(queue.download(&b).unwrap(), [expected; 9]);
            queue.copy(b.span(), a.span_mut()).unwrap();
        }
    });
}

/// Counts the nodes of a binary tree.
#[repr(C)]
struct Count<'a> {
    nodes: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic.
unsafe impl Tasks for Count<'_> {
    const NAME: &'static str = "count";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 2;

    fn run<A: Acc>(self, acc: A, _: (), below: u32, spawner: Spawner<'_, '_, u32>) {
        if acc.thread_index() == 0 {
            self.nodes.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
            if below > 0 {
                spawner.spawn(acc, below - 1);
                spawner.spawn(acc, below - 1);
            }
        }
    }
}

#[test]
fn tasks_make_tasks() {
    on_each(|device, queue| {
        for strategy in [Strategy::Persistent, Strategy::Relaunch] {
            let mut nodes = device.zeroed(1).unwrap();
            let count = Count {
                nodes: nodes.span_mut(),
            };
            let options = TaskOptions::from(strategy).capacity(16).keep(2);
            queue.run_tasks(count, &[3], options).unwrap();
            assert_eq!(queue.download(&nodes).unwrap(), [15]);
        }
    });
}

#[test]
fn work_of_a_scope_borrows_and_comes_back() {
    on_each(|device, queue| {
        let buffer = Mutex::new(device.zeroed::<i32>(3).unwrap());
        let other = device.queue();
        let filled = Event::new();
        let elements = queue.scope(|scope| {
            let boxed = scope.enqueue(|queue| {
                queue.fill(buffer.lock().unwrap().span_mut(), 7);
                Ok(Box::new(1))
            });
            scope.record(&filled);
            other.wait_for(&filled);
            assert_eq!(*boxed.wait().unwrap(), 1);
            other.download(&buffer.lock().unwrap())
        });
        assert_eq!(elements.unwrap().unwrap(), [7; 3]);
    });
}

/// Block 0 fails; the others wait for what it does not store.
#[repr(C)]
struct Fails<'a> {
    word: SpanMut<'a, u32>,
    fails: bool,
}

// SAFETY: the word is atomic.
unsafe impl Kernel for Fails<'_> {
    const NAME: &'static str = "fails";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        if self.fails && acc.block_index() == 0 {
            resume_unwind(Box::new("on purpose"));
        }
        self.word.atomic(0).wait_until(acc, Ordering::Acquire, |word| word == 1);
    }
}

#[test]
fn failures_release_those_who_wait() {
    on_each(|device, queue| {
        let mut word = device.zeroed(1).unwrap();
        for fails in [true, false, true] {
            let kernel = Fails {
                word: word.span_mut(),
                fails,
            };
            match queue.launch(Blocks::Exactly(2), kernel) {
                Err(LaunchError::Panicked { block: 0, message, .. }) if fails => assert_eq!(message, "on purpose"),
                Err(LaunchError::Deadlock { .. }) if !fails => {}
                other => panic!("{other:?}"),
            }
        }
    });
}

/// A kernel that launches itself on another device, all of whose threads come back to the first.
#[repr(C)]
struct Back<'a> {
    first: &'a Queue,
    other: &'a Queue,
    is_on_other: bool,
}

// SAFETY: it touches no memory of a device.
unsafe impl Kernel for Back<'_> {
    const NAME: &'static str = "back";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {
        let there = Self {
            is_on_other: true,
            ..self
        };
        if self.is_on_other {
            let launched = self.first.launch(Blocks::Exactly(1), there);
            assert!(matches!(launched, Err(LaunchError::Nested { .. })), "{launched:?}");
        } else {
            self.other.launch(Blocks::Resident, there).unwrap();
        }
    }
}

#[test]
fn workers_know_what_their_leader_is_inside_of() {
    on_each(|_, other| {
        let first = Device::open("cpu:blocks=1,pin=off").unwrap().queue();
        for _ in 0..2 {
            let kernel = Back {
                first: &first,
                other,
                is_on_other: false,
            };
            first.launch(Blocks::Exactly(1), kernel).unwrap();
        }
    });
}

#[test]
fn of_two_threads_that_want_each_others_queues_one_is_told() {
    on_each(|device, first| {
        let second = &device.queue();
        let both = Barrier::new(2);
        let cross = |has: &Queue, wants: &Queue| {
            has.host(|| {
                both.wait();
                catch_unwind(AssertUnwindSafe(|| wants.wait())).is_err()
            })
        };
        let told = thread::scope(|scope| {
            let other = scope.spawn(|| cross(second, first));
            [cross(first, second), other.join().unwrap()]
        });
        assert_ne!(told[0], told[1]);
    });
}
