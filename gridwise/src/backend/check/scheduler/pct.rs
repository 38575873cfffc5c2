//! Probabilistic concurrency testing: random priorities, lowered at a few random moments.
//!
//! After S. Burckhardt, P. Kothari, M. Musuvathi, S. Nagarakatte, "A randomized scheduler with probabilistic guarantees of
//! finding bugs", ASPLOS 2010. A bug that `depth` ordered events bring about is found with probability at least
//! `1 / (n * k^(depth - 1))`, for `n` threads and `k` operations. Departures: `k` is what the schedule before took; a thread
//! that spins is passed over by the engine until somebody stores, so that priorities cannot starve what it waits for; which
//! value a load returns is random.

use super::{Candidate, Dice, Scheduler, random::mix};
use crate::backend::check::memory::clock::ThreadId;

/// Operations that the first schedule is taken to have.
const FIRST_LENGTH: usize = 64;

/// See the module.
#[derive(Debug)]
pub(crate) struct Pct {
    seed: u64,
    depth: usize,
    schedule: u64,
    /// Operations of the schedule before, and of this one so far.
    length: usize,
    operations: usize,
    changes: Vec<usize>,
    /// By thread; 0 has none yet.
    priorities: Vec<u64>,
    lowest: u64,
    dice: Dice,
}

impl Pct {
    /// Starts before schedule `first`, whose length is taken to be `length`.
    pub(crate) fn new(seed: u64, depth: usize, first: u64, length: Option<usize>) -> Self {
        Self {
            seed,
            depth,
            schedule: first.wrapping_sub(1),
            length: 0,
            operations: length.unwrap_or(FIRST_LENGTH),
            changes: Vec::new(),
            priorities: Vec::new(),
            lowest: 0,
            dice: Dice::new(0),
        }
    }
}

/// Priorities from here up are initial ones; those below were lowered.
const INITIAL: u64 = 1 << 32;

impl Scheduler for Pct {
    fn begin(&mut self) -> bool {
        self.schedule = self.schedule.wrapping_add(1);
        self.dice = Dice::new(mix(self.seed, self.schedule));
        self.length = self.operations.max(1);
        self.operations = 0;
        self.priorities.clear();
        self.lowest = INITIAL;
        self.changes = (1..self.depth).map(|_| self.dice.below(self.length)).collect();
        true
    }

    fn thread(&mut self, _: ThreadId, runnable: &[Candidate]) -> usize {
        let mut best = 0;
        let mut highest = 0;
        for (at, candidate) in runnable.iter().enumerate() {
            let id = candidate.id as usize;
            if id >= self.priorities.len() {
                self.priorities.resize(id + 1, 0);
            }
            if self.priorities[id] == 0 {
                self.priorities[id] = INITIAL + self.dice.next() / 2;
            }
            let priority = self.priorities[id];
            if priority >= highest {
                (best, highest) = (at, priority);
            }
        }
        if self.changes.contains(&self.operations) {
            self.lowest -= 1;
            self.priorities[runnable[best].id as usize] = self.lowest;
        }
        self.operations += 1;
        best
    }

    fn value(&mut self, options: usize) -> usize {
        if self.dice.next().is_multiple_of(2) {
            0
        } else {
            self.dice.below(options)
        }
    }

    /// In turn.
    fn deals_contiguously(&mut self) -> bool {
        !self.schedule.is_multiple_of(2)
    }

    fn token(&self) -> String {
        format!("pct:{}:{}:{}:{}", self.seed, self.depth, self.schedule, self.length)
    }
}
