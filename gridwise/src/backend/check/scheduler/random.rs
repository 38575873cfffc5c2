//! A random thread at every operation.

use super::{Candidate, Dice, Scheduler};
use crate::backend::check::memory::clock::ThreadId;

/// Every choice is random. Schedule `n` of seed `s` is the same on every machine.
#[derive(Debug)]
pub(crate) struct Random {
    seed: u64,
    schedule: u64,
    dice: Dice,
}

impl Random {
    /// Starts before schedule `first`.
    pub(crate) fn new(seed: u64, first: u64) -> Self {
        Self {
            seed,
            schedule: first.wrapping_sub(1),
            dice: Dice::new(0),
        }
    }
}

/// The seed of one schedule.
pub(super) fn mix(seed: u64, schedule: u64) -> u64 {
    Dice::new(seed ^ Dice::new(schedule).next()).next()
}

impl Scheduler for Random {
    fn begin(&mut self) -> bool {
        self.schedule = self.schedule.wrapping_add(1);
        self.dice = Dice::new(mix(self.seed, self.schedule));
        true
    }

    fn interrupts(&mut self) -> bool {
        self.dice.next().is_multiple_of(8)
    }

    fn thread(&mut self, _: ThreadId, runnable: &[Candidate]) -> usize {
        if runnable.len() == 1 {
            return 0;
        }
        self.dice.below(runnable.len())
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
        format!("random:{}:{}", self.seed, self.schedule)
    }
}
