//! Barriers by hand, and the one of the standard library.
//!
//! | type | arrival and release | waits by |
//! |---|---|---|
//! | `OneLine<Pause>` | counter and generation on one cache line | PAUSE |
//! | `Monotonic<Pause>` | one counter that only grows | PAUSE |
//! | `OneLine<Yield>`, `Monotonic<Yield>` | the same | `sched_yield` after one failed look: for more threads than cores |
//! | `std::sync::Barrier` | mutex and condition variable | sleeping |

use super::team;
use crate::busy;
use crossbeam_utils::CachePadded;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A reusable barrier for a fixed number of threads.
///
/// Memory ordering: everything before any thread's `wait` happens before everything after every thread's return from the same round.
pub trait Barrier: Sync {
    /// What each thread remembers from round to round.
    type Ticket: Default;

    /// For `threads` threads.
    fn new(threads: usize) -> Self;

    /// Returns once all threads have called it as often as this one has.
    fn wait(&self, ticket: &mut Self::Ticket);
}

/// What to do after an unsuccessful look.
pub trait Relax: Send + Sync {
    /// Lets a moment pass.
    fn relax();
}

/// The processor's hint for spinning loops (PAUSE on x86).
#[derive(Debug)]
pub struct Pause;

impl Relax for Pause {
    #[inline(always)]
    fn relax() {
        std::hint::spin_loop();
    }
}

/// `sched_yield`: another thread of this core may run.
#[derive(Debug)]
pub struct Yield;

impl Relax for Yield {
    #[inline(always)]
    fn relax() {
        std::thread::yield_now();
    }
}

#[derive(Debug, Default)]
struct Line {
    arrived: AtomicU32,
    generation: AtomicU32,
}

/// Counter and generation on one cache line: the last to arrive resets the counter and opens the next generation.
#[derive(Debug)]
pub struct OneLine<R = Pause> {
    threads: u32,
    line: CachePadded<Line>,
    relax: PhantomData<R>,
}

impl<R: Relax> Barrier for OneLine<R> {
    type Ticket = ();

    fn new(threads: usize) -> Self {
        Self {
            threads: threads as u32,
            line: CachePadded::default(),
            relax: PhantomData,
        }
    }

    #[inline(always)]
    fn wait(&self, (): &mut ()) {
        // Nobody can open the next generation before this thread has arrived, so the value read here is this round's.
        let generation = self.line.generation.load(Ordering::Relaxed);
        if self.line.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.threads {
            self.line.arrived.store(0, Ordering::Relaxed); // published by the store below
            self.line
                .generation
                .store(generation.wrapping_add(1), Ordering::Release);
        } else {
            while self.line.generation.load(Ordering::Acquire) == generation {
                R::relax();
            }
        }
    }
}

/// One counter that only grows: a round is over when the counter reaches the next multiple of the number of threads.
#[derive(Debug)]
pub struct Monotonic<R = Pause> {
    threads: u64,
    arrived: CachePadded<AtomicU64>,
    relax: PhantomData<R>,
}

impl<R: Relax> Barrier for Monotonic<R> {
    /// The count that ends this thread's latest round.
    type Ticket = u64;

    fn new(threads: usize) -> Self {
        Self {
            threads: threads as u64,
            arrived: CachePadded::default(),
            relax: PhantomData,
        }
    }

    #[inline(always)]
    fn wait(&self, ticket: &mut u64) {
        *ticket += self.threads;
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 != *ticket {
            while self.arrived.load(Ordering::Acquire) < *ticket {
                R::relax();
            }
        }
    }
}

impl Barrier for std::sync::Barrier {
    type Ticket = ();

    fn new(threads: usize) -> Self {
        std::sync::Barrier::new(threads)
    }

    fn wait(&self, (): &mut ()) {
        let _ = std::sync::Barrier::wait(self);
    }
}

/// Time of `rounds` rounds by `threads` pinned threads, each doing `work_steps` of [`busy::work`] before it arrives. Warm-up rounds come before.
///
/// For a barrier that is not one of these types, [`measure_with`].
pub fn measure<B: Barrier>(threads: usize, rounds: u64, work_steps: u64) -> Duration {
    let barrier = B::new(threads);
    team::run(threads, |rank| {
        let mut ticket = B::Ticket::default();
        measure_with(rank, rounds, work_steps, || barrier.wait(&mut ticket))
    })
}

/// One thread's part in a measurement: warm-up rounds, then the time of `rounds` rounds of work and `wait`. Every thread of the team calls it; rank 0's
/// time counts.
#[inline(always)]
pub fn measure_with(rank: usize, rounds: u64, work_steps: u64, mut wait: impl FnMut()) -> Duration {
    let mut value = rank as u64;
    for _ in 0..rounds / 10 + 1 {
        value = busy::work(work_steps, value);
        wait();
    }
    let start = Instant::now();
    for _ in 0..rounds {
        value = busy::work(work_steps, value);
        wait();
    }
    start.elapsed()
}

/// What `rounds` barriers add to the work: the time that `sample` returns without that of the same work alone, never below zero.
///
/// The work alone is measured half before and half after, so that a slow drift of the clock rate cancels. The result may lie below the time of a barrier
/// without work: the processor begins with the next piece of work while the barrier's last accesses are still under way.
pub fn overhead(rounds: u64, work_steps: u64, sample: impl FnOnce() -> Duration) -> Duration {
    if work_steps == 0 {
        return sample();
    }
    let half = rounds / 2;
    let before = busy::alone(half, work_steps);
    let elapsed = sample();
    elapsed.saturating_sub(before + busy::alone(rounds - half, work_steps))
}

#[cfg(test)]
mod test {
    use super::*;

    /// Each thread counts its rounds; between two waits nobody is ahead or behind.
    fn nobody_overtakes<B: Barrier>(threads: usize) {
        let barrier = B::new(threads);
        let counts: Vec<_> = (0..threads).map(|_| AtomicU64::new(0)).collect();
        std::thread::scope(|scope| {
            for rank in 0..threads {
                let (barrier, counts) = (&barrier, &counts);
                scope.spawn(move || {
                    let mut ticket = B::Ticket::default();
                    for round in 1..=100 {
                        counts[rank].store(round, Ordering::Relaxed);
                        barrier.wait(&mut ticket);
                        assert!(counts.iter().all(|count| count.load(Ordering::Relaxed) == round));
                        barrier.wait(&mut ticket);
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_overtakes_at_a_barrier() {
        nobody_overtakes::<OneLine>(2);
        nobody_overtakes::<Monotonic>(2);
        nobody_overtakes::<OneLine<Yield>>(5);
        nobody_overtakes::<Monotonic<Yield>>(5);
        nobody_overtakes::<std::sync::Barrier>(3);
    }

    #[test]
    fn one_thread_passes_alone() {
        nobody_overtakes::<OneLine>(1);
        nobody_overtakes::<Monotonic>(1);
    }

    #[test]
    fn a_measurement_takes_time() {
        assert!(measure::<Monotonic<Yield>>(3, 50, 100) > Duration::ZERO);
    }
}
