//! The task queue: each task is run once, after the one that made it, and no block leaves before the last has ended.

use super::*;
use crate::host::tasks::{Cancellation, TaskFailure, TaskOptions};

/// Task `i` makes the tasks from `SPAWNS * i + 1` on, `SPAWNS` of them, as far as they are below `made`, by as many threads as
/// there are. A task that was made reads what its maker wrote. If `here` has a word, the seeds wait for each other; then task 0
/// cancels the run, if it can.
#[repr(C)]
struct Tree<'a, const SPAWNS: usize> {
    seeds: u32,
    made: usize,
    here: SpanMut<'a, u32>,
    cancellation: Option<&'a Cancellation>,
    written: SpanMut<'a, u32>,
    runs: SpanMut<'a, u32>,
}

// SAFETY: a task writes its own elements, and reads those of the task that made it.
unsafe impl<const SPAWNS: usize> Tasks for Tree<'_, SPAWNS> {
    const NAME: &'static str = "tree";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = SPAWNS;

    fn run<A: Acc>(self, acc: A, _: (), task: u32, spawner: Spawner<'_, '_, u32>) {
        let at = task as usize;
        if acc.thread_index() == 0 {
            let is_made = (1..self.made).contains(&at);
            if !is_made && !self.here.is_empty() {
                meet(acc, &self.here, self.seeds);
            }
            if let Some(cancellation) = self.cancellation.filter(|_| at == 0) {
                cancellation.cancel();
            }
            self.written.set(acc, at, task);
            self.runs.set(acc, at, self.runs.get(acc, at) + 1);
            if is_made && self.written.get(acc, (at - 1) / SPAWNS) as usize != (at - 1) / SPAWNS {
                wrong("what makers wrote");
            }
        }
        for child in acc.threads_in_block(SPAWNS * at + 1..SPAWNS * at + SPAWNS + 1) {
            if child < self.made {
                spawner.spawn(acc, child as u32);
            }
        }
    }
}

/// What is special about a run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Usual,
    /// There is no room for all tasks, and two seeds are begun together.
    NoRoom,
    /// Two seeds are begun together, and task 0 cancels the run.
    Cancelled,
}

/// Runs a tree of tasks, on so many blocks and threads, and checks that each task is run, or handed back if there is no room.
pub(super) fn tree<const SPAWNS: usize>(
    how: How,
    (blocks, threads): (usize, usize),
    (seeds, made): (&[u32], usize),
    options: TaskOptions,
    kind: Kind,
) -> Report {
    explore(how, blocks, |device| {
        let queue = device.queue();
        let tasks = seeds.iter().map(|seed| *seed as usize + 1).fold(made, usize::max);
        let mut here = device.zeroed(usize::from(kind != Kind::Usual)).unwrap();
        let cancellation = Cancellation::default();
        let (mut written, mut runs) = (device.zeroed(tasks).unwrap(), device.zeroed(tasks).unwrap());
        let kernel = Tree::<SPAWNS> {
            seeds: seeds.len() as u32,
            made,
            here: here.span_mut(),
            cancellation: (kind == Kind::Cancelled).then_some(&cancellation),
            written: written.span_mut(),
            runs: runs.span_mut(),
        };
        let options = options
            .grid(Blocks::Exactly(blocks).threads(threads))
            .cancelled_by(&cancellation);
        let unfinished = match queue.run_tasks(kernel, seeds, options) {
            Ok(_) => Vec::new(),
            Err(error) => match *error.cause {
                TaskFailure::Overflow { .. } if kind == Kind::NoRoom => error.unfinished,
                TaskFailure::Overflow { .. } => wrong("the capacities"),
                TaskFailure::Cancelled if kind == Kind::Cancelled => error.unfinished,
                // Findings are in the report.
                _ => return,
            },
        };
        let runs = queue.download(&runs).unwrap();
        for task in 0..tasks {
            let is_made = seeds.contains(&(task as u32)) || runs[(task - 1) / SPAWNS] == 1;
            let left = unfinished.iter().filter(|left| **left as usize == task).count();
            if runs[task] as usize + left != usize::from(is_made) {
                wrong("the runs of tasks");
            }
        }
    })
}

pub(super) const ONE: (&[u32], usize) = (&[0], 1);
pub(super) const TWO: (&[u32], usize) = (&[0, 1], 0);
const CHAIN: (&[u32], usize) = (&[0], 2);
pub(super) const TREE: (&[u32], usize) = (&[0], 7);

pub(super) fn small() -> TaskOptions<'static> {
    TaskOptions::default().capacity(2).keep(1)
}

/// A task makes six, and there is no room for what the next may make.
pub(super) fn no_room(how: How) -> Report {
    tree::<6>(how, (2, 1), (&[0, 7], 7), small(), Kind::NoRoom)
}

/// A run ends early while a block is about to wait.
pub(super) fn cancelled(how: How) -> Report {
    tree::<2>(how, (2, 1), (&[0, 3], 3), small(), Kind::Cancelled)
}

/// A task makes six, more than its block can hold: they go to the ring, unless it was closed too early.
pub(super) fn wide(how: How) -> Report {
    tree::<6>(how, (2, 1), (&[0, 7], 7), small().capacity(8), Kind::Usual)
}

#[test]
fn task_queues_are_silent_under_every_schedule() {
    let two = (2, 1);
    is_silent("1 seed", &tree::<2>(How::All, two, ONE, small(), Kind::Usual));
    is_silent("a chain", &tree::<2>(How::All, two, CHAIN, small(), Kind::Usual));
    is_silent("2 seeds", &tree::<2>(How::All, two, TWO, small(), Kind::Usual));
    let generations = small().strategy(Strategy::Relaunch);
    is_silent(
        "by generations",
        &tree::<2>(How::All, two, CHAIN, generations, Kind::Usual),
    );
}
