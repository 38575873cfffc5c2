//! One thread after another, an operation each.

use super::{Candidate, Scheduler};
use crate::backend::check::memory::clock::ThreadId;

/// The next thread in the order of their numbers; loads return the newest value. One schedule.
#[derive(Debug, Default)]
pub(crate) struct RoundRobin {
    done: bool,
}

impl Scheduler for RoundRobin {
    fn begin(&mut self) -> bool {
        !std::mem::replace(&mut self.done, true)
    }

    fn interrupts(&mut self) -> bool {
        true
    }

    fn thread(&mut self, current: ThreadId, runnable: &[Candidate]) -> usize {
        let place = |at: &usize| {
            let id = runnable[*at].id;
            (id <= current, id)
        };
        (0..runnable.len()).min_by_key(place).unwrap_or(0)
    }

    fn value(&mut self, _: usize) -> usize {
        0
    }

    fn token(&self) -> String {
        "round_robin".to_owned()
    }
}
