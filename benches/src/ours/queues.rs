//! Loops dealt out by queues, and runs of tasks.

use super::device;
use crate::peers::launch::median_times;
use crate::peers::loops::{self, Items};
use crate::peers::tasks::{self, Chains, Link};
use gridwise::host::{device::WaitPolicy, tasks::TaskReport};
use gridwise::kernel::queue::{ChunkCounter, TwoLevelQueue};
use gridwise::prelude::*;
use std::ops::Range;
use std::time::{Duration, Instant};

/// Words from a block's result to the next one's.
const LINE: usize = 16;

/// What hands out ranges.
trait Hands {
    /// Whether to note when each of them begins: that takes as long as a small one.
    const NOTES_BEGINS: bool = false;

    fn each<A: Acc>(&self, acc: A, take: impl FnMut(Range<usize>));
}
impl Hands for ChunkCounter<'_> {
    #[inline(always)]
    fn each<A: Acc>(&self, acc: A, take: impl FnMut(Range<usize>)) {
        self.claims(acc).for_each(take);
    }
}
impl Hands for TwoLevelQueue<'_> {
    const NOTES_BEGINS: bool = true;

    #[inline(always)]
    fn each<A: Acc>(&self, acc: A, take: impl FnMut(Range<usize>)) {
        self.claims(acc).for_each(take);
    }
}

/// Does the items that it is handed, and says when it had no more.
#[repr(C)]
struct Loop<'a, H> {
    hands: H,
    steps: Span<'a, u32>,
    sums: SpanMut<'a, u64>,
    /// Of each block, when it had no more, and when its last range began.
    ends: SpanMut<'a, u64>,
    base: Instant,
}

// SAFETY: each block has its own sum and times; the results of a launch are added to those of the one before.
unsafe impl<H: Hands> Kernel for Loop<'_, H> {
    const NAME: &'static str = "bench_loop";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let (steps, own) = (self.steps.as_slice(), acc.block_index() * LINE);
        let now = || self.base.elapsed().as_nanos() as u64;
        let (mut sum, mut begin) = (self.sums.get(acc, own), 0);
        self.hands.each(acc, |range| {
            if H::NOTES_BEGINS {
                begin = now();
            }
            sum = sum.wrapping_add(loops::range(steps, range));
        });
        self.sums.set(acc, own, sum);
        self.ends.set(acc, own, now());
        self.ends.set(acc, own + 1, begin);
    }
}

/// The end of a loop, in the median pass, times the passes.
#[derive(Clone, Copy, Debug)]
pub struct Drain {
    /// How long the first block that had no more waited for the last.
    pub spread: Duration,
    /// How long the last block's last range took, until it found that there was no more.
    pub last_piece: Duration,
    /// By how much the spread was longer than that.
    pub beyond: Duration,
}

/// Time of the passes, and how they ended.
fn passes(
    items: &Items,
    queue: &Queue,
    passes: u64,
    workers: usize,
    mut launch: impl FnMut(Loop<'_, ()>),
) -> (Duration, Drain) {
    let steps = queue.upload(items.steps()).expect("there is memory");
    let device = queue.device();
    let mut sums = device.zeroed(workers * LINE).expect("there is memory");
    let mut ends = device.zeroed(workers * LINE).expect("there is memory");
    let base = Instant::now();
    let mut drains = Vec::new();
    let start = Instant::now();
    for _ in 0..passes {
        let rest = Loop {
            hands: (),
            steps: steps.span(),
            sums: sums.span_mut(),
            ends: ends.span_mut(),
            base,
        };
        launch(rest);
        let times = ends.span();
        let spread = loops::spread(times.iter().step_by(LINE).copied());
        let last = times.chunks(LINE).max_by_key(|times| times[0]);
        let last_piece = last.map_or(Duration::ZERO, |last| Duration::from_nanos(last[0] - last[1]));
        drains.push([spread, last_piece, spread.saturating_sub(last_piece)]);
    }
    let elapsed = start.elapsed();
    let sum = sums.span().iter().fold(0_u64, |sum, part| sum.wrapping_add(*part));
    items.check(sum, passes);
    let [spread, last_piece, beyond] = [0, 1, 2].map(|which| median_times(drains.iter().map(|drain| drain[which])));
    let drain = Drain {
        spread,
        last_piece,
        beyond,
    };
    (elapsed, drain)
}

fn launch<H: Hands>(queue: &Queue, hands: H, rest: Loop<'_, ()>) {
    let kernel = Loop {
        hands,
        steps: rest.steps,
        sums: rest.sums,
        ends: rest.ends,
        base: rest.base,
    };
    queue.launch(Blocks::Resident, kernel).expect("nothing can fail");
}

/// A chunk counter, a launch a pass.
pub fn chunks(items: &Items, chunking: Chunking, count: u64, workers: usize) -> Duration {
    let queue = device(workers, WaitPolicy::Active).queue();
    let mut chunks = queue.chunks(items.len(), chunking).expect("there is memory");
    let pass = |rest: Loop<'_, ()>| launch(&queue, chunks.fresh(&queue), rest);
    passes(items, &queue, count, workers, pass).0
}

/// A two-level queue, a launch a pass.
pub fn pieces(items: &Items, per_block: usize, small: usize, count: u64, workers: usize) -> Duration {
    two_levels(items, per_block, small, count, workers).0
}

/// The end of [`pieces`].
pub fn drain(items: &Items, per_block: usize, small: usize, count: u64, workers: usize) -> Drain {
    two_levels(items, per_block, small, count, workers).1
}

fn two_levels(items: &Items, per_block: usize, small: usize, count: u64, workers: usize) -> (Duration, Drain) {
    let queue = device(workers, WaitPolicy::Active).queue();
    let mut pieces = queue.pieces(items.len(), per_block, small).expect("there is memory");
    let pass = |rest: Loop<'_, ()>| launch(&queue, pieces.fresh(&queue), rest);
    passes(items, &queue, count, workers, pass)
}

/// The links of chains.
#[repr(C)]
struct Follow<'a> {
    steps: u64,
    sum: SpanMut<'a, u64>,
}

// SAFETY: the sum is atomic.
unsafe impl Tasks for Follow<'_> {
    const NAME: &'static str = "bench_chains";
    type Task = Link;
    type Shared = ();
    const MOST_SPAWNS: usize = 1;

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, _: (), task: Link, spawner: Spawner<'_, '_, Link>) {
        match tasks::link(self.steps, task) {
            Ok(next) => spawner.spawn(acc, next),
            Err(end) => {
                self.sum.atomic(0).fetch_add(acc, end, Ordering::Relaxed);
            }
        }
    }
}

/// A run of tasks a pass.
pub fn chains(problem: &Chains, passes: u64, workers: usize, options: TaskOptions<'_>) -> Duration {
    let queue = device(workers, WaitPolicy::Active).queue();
    let seeds = problem.seeds();
    let mut sum = queue.device().zeroed(1).expect("eight bytes");
    let start = Instant::now();
    for _ in 0..passes {
        let kernel = Follow {
            steps: problem.steps(),
            sum: sum.span_mut(),
        };
        queue.run_tasks(kernel, &seeds, options).expect("there is room");
    }
    let elapsed = start.elapsed();
    problem.check(sum.span()[0], passes);
    elapsed
}

/// Tasks that make none.
#[repr(C)]
struct Known<'a> {
    steps: u64,
    sums: SpanMut<'a, u64>,
}

// SAFETY: each block has its own sum.
unsafe impl Tasks for Known<'_> {
    const NAME: &'static str = "bench_known_tasks";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 0;

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, _: (), task: u32, _: Spawner<'_, '_, u32>) {
        let own = acc.block_index() * LINE;
        let sum = self.sums.get(acc, own);
        self.sums
            .set(acc, own, sum.wrapping_add(tasks::known(self.steps, task)));
    }
}

/// Tasks that are known beforehand: a run a pass, making the list included.
pub fn known(count: u32, steps: u64, passes: u64, workers: usize) -> Duration {
    let queue = device(workers, WaitPolicy::Active).queue();
    let mut sums = queue.device().zeroed(workers * LINE).expect("there is memory");
    let start = Instant::now();
    for _ in 0..passes {
        let seeds: Vec<u32> = (0..count).collect();
        let kernel = Known {
            steps,
            sums: sums.span_mut(),
        };
        queue.run_tasks(kernel, &seeds, Strategy::Auto).expect("there is room");
    }
    let elapsed = start.elapsed();
    let sum = sums.span().iter().fold(0_u64, |sum, part| sum.wrapping_add(*part));
    tasks::check_known(count, steps, sum, passes);
    elapsed
}

/// Runs of so many tasks that do nothing: 0 is an empty run.
pub fn empty_runs(tasks: u32, runs: u64, workers: usize) -> Duration {
    let queue = device(workers, WaitPolicy::Active).queue();
    let mut sums = queue.device().zeroed(workers * LINE).expect("there is memory");
    let seeds: Vec<u32> = (0..tasks).collect();
    let mut run = || -> TaskReport {
        let kernel = Known {
            steps: 0,
            sums: sums.span_mut(),
        };
        queue.run_tasks(kernel, &seeds, Strategy::Auto).expect("there is room")
    };
    run();
    let start = Instant::now();
    for _ in 0..runs {
        run();
    }
    start.elapsed()
}

/// A task that takes a while, and notes when it ended.
#[repr(C)]
struct Last<'a> {
    steps: u64,
    end: SpanMut<'a, u64>,
    base: Instant,
}

// SAFETY: there is one task.
unsafe impl Tasks for Last<'_> {
    const NAME: &'static str = "bench_last_task";
    type Task = u32;
    type Shared = ();
    const MOST_SPAWNS: usize = 0;

    fn run<A: Acc>(self, acc: A, _: (), task: u32, _: Spawner<'_, '_, u32>) {
        std::hint::black_box(tasks::known(self.steps, task));
        self.end.set(acc, 0, self.base.elapsed().as_nanos() as u64);
    }
}

/// From the end of the last task, while the other blocks wait, to the return of the run.
pub fn termination(steps: u64, runs: u64, workers: usize, wait: WaitPolicy) -> Duration {
    let queue = device(workers, wait).queue();
    let mut end = queue.device().zeroed(1).expect("eight bytes");
    let base = Instant::now();
    let mut late = Vec::new();
    for _ in 0..runs {
        let kernel = Last {
            steps,
            end: end.span_mut(),
            base,
        };
        queue
            .run_tasks(kernel, &[1], Strategy::Persistent)
            .expect("there is room");
        late.push(base.elapsed() - Duration::from_nanos(end.span()[0]));
    }
    median_times(late)
}
