//! Elements that a kernel promises to store exactly once: who has stored which, and what is missing at the end.

use std::{fmt::Write, ops::Range, panic::Location};

use super::memory::{Extent, clock::ThreadId};
use crate::check::finding::{Operation, Place};

/// Ranges of missing elements that a finding lists.
const LISTED: usize = 4;

/// A store, as briefly as it can be told.
#[derive(Clone, Copy, Debug)]
pub(super) struct Store {
    pub(super) location: &'static Location<'static>,
    pub(super) block: u32,
    pub(super) thread: u32,
    pub(super) operation: Operation,
}

/// An element that was stored a second time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Twice {
    pub(super) element: Extent,
    /// `None` if it is long ago.
    pub(super) earlier: Option<Store>,
    pub(super) promised_at: &'static Location<'static>,
}

/// A promise whose elements were not all stored.
#[derive(Debug)]
pub(super) struct Gaps {
    pub(super) by: Place,
    /// The first of them.
    pub(super) element: Extent,
    pub(super) text: String,
}

/// The elements of one promise, each time that it was made.
#[derive(Debug)]
struct Promise {
    extent: Extent,
    element_bytes: usize,
    by: Place,
    /// How often each thread has made it.
    made: Vec<u32>,
    rounds: Vec<Round>,
}

#[derive(Debug)]
struct Round {
    missing: usize,
    /// Empty once the round is complete and long past.
    stores: Vec<Option<Store>>,
}

/// All promises of a launch.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    promises: Vec<Promise>,
}

impl Coverage {
    pub(super) fn is_empty(&self) -> bool {
        self.promises.is_empty()
    }

    /// Regions have new numbers; what is in one that is gone is forgotten.
    pub(super) fn renumber(&mut self, now: impl Fn(usize) -> Option<usize>) {
        self.promises.retain_mut(|promise| match now(promise.extent.region) {
            Some(region) => {
                promise.extent.region = region;
                true
            }
            None => false,
        });
    }

    /// A thread promises: what it stores from now on counts.
    pub(super) fn promise(&mut self, thread: ThreadId, extent: Extent, element_bytes: usize, by: Place) {
        let at = self.promises.iter().position(|promise| promise.extent == extent);
        let at = at.unwrap_or_else(|| {
            self.promises.push(Promise {
                extent,
                element_bytes,
                by,
                made: Vec::new(),
                rounds: Vec::new(),
            });
            self.promises.len() - 1
        });
        self.promises[at].begin(thread);
    }

    /// Counts a store. Returns what was stored before.
    pub(super) fn store(&mut self, thread: ThreadId, extent: Extent, store: Store) -> Option<Twice> {
        let mut twice = None;
        for promise in &mut self.promises {
            if promise.extent.overlaps(&extent) {
                twice = promise.store(thread, extent, store).or(twice);
            }
        }
        twice
    }

    /// What was not stored, at the end of a launch.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Gaps> {
        self.promises.iter().filter_map(|promise| {
            promise
                .rounds
                .iter()
                .enumerate()
                .find_map(|(number, round)| promise.gaps(number, round))
        })
    }
}

impl Promise {
    fn begin(&mut self, thread: ThreadId) {
        let thread = thread as usize;
        if self.made.len() <= thread {
            self.made.resize(thread + 1, 0);
        }
        self.made[thread] += 1;
        let round = self.made[thread] as usize;
        if round > self.rounds.len() {
            let elements = self.extent.size / self.element_bytes;
            self.rounds.push(Round {
                missing: elements,
                stores: vec![None; elements],
            });
            // Threads are a round apart where a barrier is between the rounds.
            if let Some(past) = round.checked_sub(3)
                && self.rounds[past].missing == 0
            {
                self.rounds[past].stores = Vec::new();
            }
        }
    }

    fn store(&mut self, thread: ThreadId, extent: Extent, store: Store) -> Option<Twice> {
        let round = self.made.get(thread as usize).copied().unwrap_or(0).checked_sub(1)?;
        let Round { missing, stores } = &mut self.rounds[round as usize];
        let mut twice = None;
        for element in elements(self.extent, extent, self.element_bytes) {
            match stores.get_mut(element) {
                Some(free @ None) => {
                    *free = Some(store);
                    *missing -= 1;
                }
                earlier => {
                    twice.get_or_insert((element, earlier.and_then(|store| *store)));
                }
            }
        }
        twice.map(|(element, earlier)| Twice {
            element: self.element(element),
            earlier,
            promised_at: self.by.location,
        })
    }

    fn element(&self, element: usize) -> Extent {
        Extent {
            offset: self.extent.offset + element * self.element_bytes,
            size: self.element_bytes,
            ..self.extent
        }
    }

    fn gaps(&self, number: usize, round: &Round) -> Option<Gaps> {
        let Round { missing, stores } = round;
        let mut ranges: Vec<Range<usize>> = Vec::new();
        for (at, _) in stores.iter().enumerate().filter(|(_, store)| store.is_none()) {
            match ranges.last_mut() {
                Some(range) if range.end == at => range.end += 1,
                _ => ranges.push(at..at + 1),
            }
        }
        let first = ranges.first().filter(|_| *missing > 0)?.start;
        let before = self.extent.offset / self.element_bytes;
        let mut text = format!("{missing} of {} elements were not stored:", stores.len());
        for Range { start, end } in ranges.iter().take(LISTED) {
            // Writing to a string does not fail.
            let _ = match end - start {
                1 => write!(text, " {},", before + start),
                _ => write!(text, " {} to {},", before + start, before + end - 1),
            };
        }
        match ranges.len() > LISTED {
            true => text += " and others",
            false => text.truncate(text.len() - 1),
        }
        if self.rounds.len() > 1 {
            let _ = write!(
                text,
                " (of the promise made for time {} of {})",
                number + 1,
                self.rounds.len()
            );
        }
        Some(Gaps {
            by: self.by,
            element: self.element(first),
            text,
        })
    }
}

/// The elements of `whole` that `part` touches.
fn elements(whole: Extent, part: Extent, element_bytes: usize) -> Range<usize> {
    let start = part.offset.saturating_sub(whole.offset) / element_bytes;
    let end = (part.offset + part.size - whole.offset).div_ceil(element_bytes);
    start..end.min(whole.size / element_bytes)
}
