//! Tasks that make tasks: each is run once, or comes back with the error, whatever the grid, the order and the room for them.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use gridwise::{
    host::{
        launch::Grid,
        phases::{Reason, Structure},
        queue::Queue,
        tasks::{Order, TaskError, TaskFailure, TaskReport},
    },
    prelude::*,
};

use conformance_kernels::tasks::{Burst, Endless, Greedy, Meet, Stride, Tree};

use crate::support::{grids, options, queue};

fn tree<'a>(fan: u32, visits: &'a mut gridwise::host::buffer::Buffer<u32>) -> Tree<'a> {
    Tree {
        fan,
        panics: u32::MAX,
        slow: u32::MAX,
        visits: visits.span_mut(),
    }
}

/// The seeds that make all of a tree: its first node, if there is one.
fn root(nodes: usize) -> &'static [u32] {
    if nodes == 0 { &[] } else { &[0] }
}

/// Every way to run tasks.
fn ways() -> Vec<TaskOptions<'static>> {
    let mut ways = Vec::new();
    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        for order in [Order::Lifo, Order::Fifo] {
            for keep in [1, 5, 64] {
                ways.push(TaskOptions::from(strategy).order(order).keep(keep));
            }
        }
    }
    ways
}

fn task_grids(device: &Device) -> Vec<Grid> {
    grids(device)
}

pub(crate) fn every_task_is_run_once(device: &Device) {
    let queue = queue(device);
    for grid in task_grids(device) {
        for options in ways() {
            for (fan, nodes) in [(1, 40), (3, 200)] {
                let mut visits = device.zeroed(nodes).unwrap();
                let report = queue
                    .run_tasks(tree(fan, &mut visits), root(nodes), options.grid(grid))
                    .unwrap();
                assert_eq!(queue.download(&visits).unwrap(), vec![1; nodes], "{options:?} {grid:?}");
                assert!(report.launches >= 1 && report.blocks >= 1);
            }
        }
    }
}

pub(crate) fn every_seed_is_run_once(device: &Device) {
    let queue = queue(device);
    for options in ways() {
        for nodes in [1, 2, 5, 64, 1009] {
            let mut visits = device.zeroed(nodes).unwrap();
            let seeds: Vec<u32> = (0..nodes as u32).collect();
            queue
                .run_tasks(tree(0, &mut visits), &seeds, options.capacity(1))
                .unwrap();
            assert_eq!(queue.download(&visits).unwrap(), vec![1; nodes], "{options:?}");
        }
    }
}

pub(crate) fn no_seeds_are_no_launch(device: &Device) {
    let mut visits = device.zeroed(0).unwrap();
    let report = queue(device)
        .run_tasks(tree(2, &mut visits), &[], Strategy::Auto)
        .unwrap();
    assert_eq!(report.launches, 0);
}

pub(crate) fn generations_are_launches(device: &Device) {
    let queue = queue(device);
    let mut visits = device.zeroed(31).unwrap();
    let report = queue.run_tasks(tree(2, &mut visits), &[0], Strategy::Relaunch).unwrap();
    assert_eq!(report.launches, 5);
    let report = queue
        .run_tasks(tree(2, &mut visits), &[0], Strategy::Persistent)
        .unwrap();
    assert_eq!(report.launches, 1);
}

// fault A9.5: blocks that find nothing wait until there is something or all is done, and nobody takes their waiting
// for a deadlock: a chain keeps one block busy and all the others waiting.
pub(crate) fn blocks_without_tasks_wait_for_them(device: &Device) {
    let queue = queue(device);
    for grid in task_grids(device) {
        let mut visits = device.zeroed(500).unwrap();
        let kernel = Tree {
            slow: 0,
            ..tree(1, &mut visits)
        };
        queue
            .run_tasks(kernel, &[0], TaskOptions::default().grid(grid))
            .unwrap();
        assert_eq!(queue.download(&visits).unwrap(), vec![1; 500]);
    }
}

// fault A9.4, A11: blocks that have fallen asleep are woken by a push, and by the end.
pub(crate) fn sleeping_blocks_are_woken(device: &Device) {
    let mut ran = device.zeroed(1).unwrap();
    let burst = Burst { ran: ran.span_mut() };
    queue(device)
        .run_tasks(burst, &[3], TaskOptions::default().keep(4))
        .unwrap();
    assert_eq!(queue(device).download(&ran).unwrap(), [1 + 3 * 40]);
}

pub(crate) fn many_runs_end(device: &Device) {
    let queue = queue(device);
    for round in 0..100 {
        let nodes = round % 17;
        let mut visits = device.zeroed(nodes).unwrap();
        let options = TaskOptions::default().keep(1 + round % 3).capacity(4);
        queue.run_tasks(tree(2, &mut visits), root(nodes), options).unwrap();
        assert_eq!(queue.download(&visits).unwrap(), vec![1; nodes]);
    }
}

/// Runs tasks, and what comes back as often as there is no room, until all is done; returns how often there was none.
fn run_to_the_end(
    queue: &Queue,
    visits: &mut gridwise::host::buffer::Buffer<u32>,
    fan: u32,
    options: TaskOptions<'_>,
) -> usize {
    let mut seeds = vec![0];
    let mut overflows = 0;
    loop {
        match queue.run_tasks(tree(fan, visits), &seeds, options) {
            Ok(_) => return overflows,
            Err(error) => {
                assert!(matches!(*error.cause, TaskFailure::Overflow { .. }), "{error}");
                assert!(error.panicked.is_none() && error.interrupted.is_empty());
                assert!(!error.unfinished.is_empty());
                seeds = error.unfinished;
                overflows += 1;
            }
        }
    }
}

// fault A9.2, A9.7, A9.17: a queue that is full loses nothing, and what there is no room for comes back.
pub(crate) fn a_full_queue_loses_no_task(device: &Device) {
    let queue = queue(device);
    let mut overflows = 0;
    for grid in task_grids(device) {
        for strategy in [Strategy::Persistent, Strategy::Relaunch] {
            for order in [Order::Lifo, Order::Fifo] {
                for capacity in [1, 8] {
                    let options = TaskOptions::from(strategy)
                        .order(order)
                        .keep(1)
                        .capacity(capacity)
                        .grid(grid);
                    let mut visits = device.zeroed(200).unwrap();
                    overflows += run_to_the_end(&queue, &mut visits, 3, options);
                    assert_eq!(queue.download(&visits).unwrap(), vec![1; 200], "{options:?}");
                }
            }
        }
    }
    assert!(overflows > 0, "the case was never met");
}

// A block works its own pushes off where the ring is full: depth first, a deep and narrow tree needs little room.
pub(crate) fn a_block_works_its_own_pushes_off(device: &Device) {
    let queue = queue(device);
    let mut visits = device.zeroed(1023).unwrap();
    let options = TaskOptions::default().keep(20).capacity(1);
    queue.run_tasks(tree(2, &mut visits), &[0], options).unwrap();
    assert_eq!(queue.download(&visits).unwrap(), vec![1; 1023]);
}

/// Whether a node of a tree of two branches is one of these, or below one.
fn below(mut node: usize, tops: &[u32]) -> bool {
    loop {
        if tops.contains(&(node as u32)) {
            return true;
        }
        if node == 0 {
            return false;
        }
        node = (node - 1) / 2;
    }
}

pub(crate) fn a_task_that_panics_names_itself(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let queue = queue(device);
    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        for keep in [1, 64] {
            let mut visits = device.zeroed(1009).unwrap();
            let kernel = Tree {
                panics: 10,
                ..tree(2, &mut visits)
            };
            let error: TaskError<u32> = queue
                .run_tasks(kernel, &[0], TaskOptions::from(strategy).keep(keep))
                .unwrap_err();
            assert_eq!(error.panicked, Some(10), "{error}");
            assert!(error.to_string().contains("in task 10"), "{error}");
            match *error.cause {
                TaskFailure::Launch(LaunchError::Panicked {
                    kernel, ref message, ..
                }) => {
                    assert_eq!(kernel, "tree");
                    assert!(message.contains("this node panics"), "{message}");
                }
                _ => panic!("{error}"),
            }
            if device.properties().threads_per_block == 1 {
                assert!(
                    error.interrupted.is_empty(),
                    "a block of one thread ends what it has begun"
                );
            }
            // The others are done, or handed back.
            queue
                .run_tasks(tree(2, &mut visits), &error.unfinished, Strategy::Auto)
                .unwrap();
            let visits = queue.download(&visits).unwrap();
            for (node, &visits) in visits.iter().enumerate() {
                if below(node, &[10]) {
                    assert_eq!(visits, 0, "{node}");
                } else if below(node, &error.interrupted) {
                    // It may have been done, and have made others, or not.
                    assert!(visits <= 1, "{node}");
                } else {
                    assert_eq!(visits, 1, "{node} {strategy:?} {keep} {error:?}");
                }
            }
        }
    }
}

pub(crate) fn a_task_that_makes_too_many_is_an_error(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let error = queue(device).run_tasks(Greedy, &[7], Strategy::Auto).unwrap_err();
    assert!(error.to_string().contains("MOST_SPAWNS = 2"), "{error}");
    assert_eq!(error.panicked, Some(7));
    assert_eq!(error.unfinished, [1, 2]);
}

pub(crate) fn a_time_limit_hands_the_tasks_back(device: &Device) {
    if !crate::support::survives_failures(device) {
        return;
    }
    let queue = device.queue_with(options().timeout(Duration::from_millis(60)));
    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        let seeds: Vec<_> = (0..100).map(|seed| [seed; 3]).collect();
        let error = queue.run_tasks(Endless, &seeds, strategy).unwrap_err();
        assert!(
            matches!(*error.cause, TaskFailure::Launch(LaunchError::TimedOut { .. })),
            "{error}"
        );
        assert_eq!(error.panicked, None);
        let mut rest = error.unfinished;
        // A task that had made its successor when time ran out has not ended: it is both.
        let made = rest.len();
        rest.extend(error.interrupted);
        rest.sort();
        rest.dedup();
        assert_eq!(rest, seeds, "{made}");
    }
}

pub(crate) fn a_refused_run_hands_its_seeds_back(device: &Device) {
    let queue = queue(device);
    let error = queue
        .run_tasks(
            Endless,
            &[[1; 3], [2; 3]],
            TaskOptions::default().grid(Blocks::Exactly(0)),
        )
        .unwrap_err();
    assert!(matches!(
        *error.cause,
        TaskFailure::Launch(LaunchError::ZeroBlocks { .. })
    ));
    assert_eq!(error.unfinished, [[1; 3], [2; 3]]);
    let error = queue
        .run_tasks(Endless, &[[1; 3]], TaskOptions::default().capacity(usize::MAX))
        .unwrap_err();
    assert!(matches!(*error.cause, TaskFailure::Allocation(_)), "{error}");
    assert_eq!(error.unfinished, [[1; 3]]);
}

// fault A9.3, A9.6: what the blocks count adds up to what was made.
pub(crate) fn counters_add_up(device: &Device) {
    let queue = queue(device);
    for strategy in [Strategy::Persistent, Strategy::Relaunch] {
        let mut visits = device.zeroed(1009).unwrap();
        let options = TaskOptions::from(strategy).keep(4).counters();
        let report: TaskReport = queue.run_tasks(tree(3, &mut visits), &[0], options).unwrap();
        let counters = report.counters.unwrap();
        assert_eq!(counters.len(), report.blocks);
        let sum = |of: fn(&gridwise::host::tasks::TaskCounters) -> u64| counters.iter().map(of).sum::<u64>();
        assert_eq!(sum(|block| block.tasks), 1009);
        assert!(sum(|block| block.claims) >= 1);
        assert!(sum(|block| block.spills) >= 1);
        assert!(sum(|block| block.failed_pops) >= 1);
        assert!(counters.iter().any(|block| block.peak >= 1));
        let report = queue.run_tasks(tree(3, &mut visits), &[0], strategy).unwrap();
        assert!(report.counters.is_none());
    }
}

// fault A9.14, A9.15, A9.16: slots are used again and again, and no task is got twice.
pub(crate) fn slots_are_reused_without_mix_up(device: &Device) {
    let queue = queue(device);
    let mut visits = device.zeroed(2_000).unwrap();
    let options = TaskOptions::default().keep(2).capacity(4);
    let mut seeds = vec![0, 1, 2, 3];
    // Four chains through a ring of four slots.
    loop {
        let kernel = Stride {
            visits: visits.span_mut(),
        };
        match queue.run_tasks(kernel, &seeds, options) {
            Ok(_) => break,
            Err(error) => seeds = error.unfinished,
        }
    }
    assert_eq!(queue.download(&visits).unwrap(), vec![1; 2_000]);
}

pub(crate) fn tasks_of_several_blocks_share_the_work(device: &Device) {
    if device.most_resident_blocks() < 2 {
        return;
    }
    let queue = queue(device);
    let mut words = device.zeroed(2).unwrap();
    let options = TaskOptions::default().grid(Blocks::Exactly(2).threads(1)).keep(1);
    queue
        .run_tasks(
            Meet {
                words: words.span_mut(),
            },
            &[0, 1],
            options,
        )
        .unwrap();
    assert_eq!(queue.download(&words).unwrap(), [1, 1]);
}

pub(crate) fn blocks_with_tasks_feed_those_that_wait(device: &Device) {
    if device.most_resident_blocks() < 2 {
        return;
    }
    let queue = queue(device);
    // Never more tasks than a block keeps: what moves to the ring moves because somebody waits. Whether anybody comes to wait in
    // time is for the machine to say, so it gets several chances.
    for _ in 0..100 {
        let mut visits = device.zeroed(400).unwrap();
        let kernel = Tree {
            slow: 0,
            ..tree(3, &mut visits)
        };
        let report = queue
            .run_tasks(kernel, &[0], TaskOptions::default().counters())
            .unwrap();
        if report.counters.unwrap().iter().any(|block| block.spills > 0) {
            return;
        }
    }
    panic!("no task was ever shared");
}

// fault A9.13: a persistent grid leaves room for others where it is told to.
pub(crate) fn a_run_of_tasks_keeps_the_headroom(device: &Device) {
    let resident = device.most_resident_blocks();
    if resident < 2 {
        return;
    }
    let queue = device.queue_with(options().headroom(1));
    let mut visits = device.zeroed(10).unwrap();
    let report = queue.run_tasks(tree(2, &mut visits), &[0], Strategy::Auto).unwrap();
    assert_eq!(report.blocks, resident - 1);
}

// fault A9.20: a kernel that has no grid barrier need not be resident as a whole. A run of tasks starts on a grid that a cooperative
// launch refuses.
pub(crate) fn a_run_of_tasks_does_not_wait_for_the_whole_grid(device: &Device) {
    let queue = queue(device);
    let too_many = Blocks::Exactly(device.most_resident_blocks() + 1);
    let mut visits = device.zeroed(50).unwrap();
    let options = TaskOptions::from(Strategy::Persistent).grid(too_many);
    queue.run_tasks(tree(2, &mut visits), &[0], options).unwrap();
    assert_eq!(queue.download(&visits).unwrap(), vec![1; 50]);
}

pub(crate) fn auto_says_how_it_runs_tasks_and_why(device: &Device) {
    let queue = queue(device);
    let resident = device.most_resident_blocks();
    let chosen = |seeds: &[u32], options: TaskOptions<'_>| {
        let mut visits = device.zeroed(20).unwrap();
        let report = queue.run_tasks(tree(3, &mut visits), seeds, options).unwrap();
        (report.structure, report.reason)
    };
    let auto = TaskOptions::default();
    assert_eq!(chosen(&[], auto), (Structure::Persistent, Reason::NothingToDo));
    // Whether the grid fits or not: nobody waits for a block that has not started.
    for grid in [Blocks::Resident, Blocks::Exactly(resident + 1)] {
        assert_eq!(chosen(&[0], auto.grid(grid)), (Structure::Persistent, Reason::Fed));
    }
    for (strategy, structure) in [
        (Strategy::Persistent, Structure::Persistent),
        (Strategy::Relaunch, Structure::Relaunch),
    ] {
        assert_eq!(chosen(&[0], strategy.into()), (structure, Reason::Asked));
    }
    // Two tasks that make none, and must not wait for each other.
    let mut words = device.zeroed(2).unwrap();
    let meet = Meet {
        words: words.span_mut(),
    };
    if resident > 1 {
        let options = TaskOptions::default().grid(Blocks::Exactly(2).threads(1)).keep(1);
        let report = queue.run_tasks(meet, &[0, 1], options).unwrap();
        assert_eq!((report.structure, report.launches), (Structure::Relaunch, 1));
        assert_eq!(report.reason, Reason::OneGeneration);
    }
}

/// Every thread tries to make more tasks than all may together, and does not mind the panic.
#[repr(C)]
struct Insists<'a> {
    runs: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic.
unsafe impl Tasks for Insists<'_> {
    const NAME: &'static str = "insists";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 2;

    fn run<A: Acc>(self, acc: A, _: (), below: u32, spawner: Spawner<'_, '_, u32>) {
        if acc.thread_index() == 0 {
            self.runs.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
        }
        for _ in 0..if below > 0 { 3 } else { 0 } {
            let _ = catch_unwind(AssertUnwindSafe(|| spawner.spawn(acc, below - 1)));
        }
    }
}

pub(crate) fn a_spawn_that_panics_has_made_no_task(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    let queue = queue(device);
    for grid in task_grids(device) {
        let mut runs = device.zeroed(1).unwrap();
        let kernel = Insists { runs: runs.span_mut() };
        queue
            .run_tasks(kernel, &[2], TaskOptions::default().grid(grid))
            .unwrap();
        assert_eq!(queue.download(&runs).unwrap(), [1 + 2 + 4], "{grid:?}");
    }
}
