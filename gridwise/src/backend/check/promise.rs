//! What kernels promise beyond the order of accesses: elements stored once, words at a value when a launch begins or ends.

use std::{collections::HashMap, panic::Location};

use super::{
    Element,
    coverage::{Store, Twice},
    engine::Engine,
    memory::{Extent, RegionKind},
    state::{State, Thread},
};
use crate::{
    check::finding::{Deed, Finding, Kind, Memory as MemoryPlace, Operation, Place},
    kernel::{Scope, hardware::WordPromise},
};

/// A promise about the end of the launch.
#[derive(Clone, Copy)]
pub(super) struct WordPromised {
    extent: Extent,
    promise: WordPromise,
    by: Place,
}

impl WordPromised {
    /// The same, where regions have new numbers; `None` if its region is gone.
    pub(super) fn renumbered(mut self, now: impl Fn(usize) -> Option<usize>) -> Option<Self> {
        self.extent.region = now(self.extent.region)?;
        Some(self)
    }
}

/// The last store of a launch to a word that it promised something of, by number of the buffer and offset.
pub(super) type LeftOver = HashMap<(usize, usize), Place>;

impl Engine {
    pub(super) fn promise_stored_once(
        &self,
        slot: u32,
        extent: Extent,
        element_bytes: usize,
        location: &'static Location<'static>,
    ) {
        let mut state = self.state.borrow_mut();
        let by = state.promising(slot, location);
        let Thread { id, in_phase, .. } = state.threads[slot as usize];
        // Outside of a phase every launch of a run promises anew.
        let coverage = match self.in_run && !in_phase {
            true => &mut state.passing,
            false => &mut state.coverage,
        };
        coverage.promise(id, extent, element_bytes, by);
    }

    pub(super) fn promise_word(
        &self,
        slot: u32,
        extent: Extent,
        promise: WordPromise,
        location: &'static Location<'static>,
    ) {
        let mut state = self.state.borrow_mut();
        let by = state.promising(slot, location);
        if let WordPromise::BeganAt(value) = promise {
            state.compare_beginning(self, extent, value, by);
        }
        let ends = |promise: &WordPromise| !matches!(promise, WordPromise::BeganAt(_));
        let is_alike = |other: &&mut WordPromised| other.extent == extent && ends(&other.promise) == ends(&promise);
        match state.promises.iter_mut().find(is_alike) {
            Some(earlier) if earlier.promise == WordPromise::Withdrawn || earlier.promise == promise => {}
            Some(earlier) => *earlier = WordPromised { extent, promise, by },
            None => state.promises.push(WordPromised { extent, promise, by }),
        }
    }

    /// At the end of a launch: what was promised, and is not so. In a run it may yet become so.
    pub(super) fn settle_promises(&self) {
        let mut state = self.state.borrow_mut();
        state.note_left_over();
        if state.failure.is_some() {
            return;
        }
        for mut finding in state.broken_promises(self.kernel) {
            if self.in_run {
                state.sign(&mut finding);
                state.open.push(finding);
            } else {
                state.report(finding);
            }
        }
    }
}

impl State {
    fn promising(&mut self, slot: u32, location: &'static Location<'static>) -> Place {
        self.threads[slot as usize].location = location;
        self.place(slot, Deed::Promised)
    }

    /// What is promised of the end, and not so.
    fn broken_promises(&mut self, kernel: &'static str) -> Vec<Finding> {
        let mut broken = Vec::new();
        for gap in self.coverage.gaps() {
            let mut finding = Finding::new(Kind::NeverCovered, kernel, gap.by);
            finding.memory = Some(self.memory.name(gap.element, gap.by.block));
            finding.note = Some(gap.text);
            broken.push(finding);
        }
        let mut unfinished: Vec<&Location<'static>> = Vec::new();
        for WordPromised { extent, promise, by } in self.promises.clone() {
            let now = self.memory.peek(extent, 0);
            let note = match promise {
                WordPromise::EndsAt(value) if now != value => {
                    format!("it holds {now} at the end of the launch, and {value} is promised")
                }
                WordPromise::Drained(parts) if now < parts => {
                    format!("the counter stands at {now}, and everything is taken at {parts}")
                }
                _ => continue,
            };
            // The parts of a queue have a word each.
            if unfinished.contains(&by.location) {
                continue;
            }
            unfinished.push(by.location);
            let mut finding = Finding::new(Kind::UnfinishedWork, kernel, by);
            finding.second = self
                .left_over_key(extent)
                .and_then(|key| self.left_over.get(&key))
                .copied();
            finding.memory = Some(self.memory.name(extent, by.block));
            finding.note = Some(note);
            broken.push(finding);
        }
        broken
    }

    fn compare_beginning(&mut self, engine: &Engine, extent: Extent, value: u64, by: Place) {
        let of_run = self.left_over_key(extent);
        let of_run = self
            .run_initial
            .as_ref()
            .and_then(|initial| initial.get(&of_run?).copied());
        let began = of_run.unwrap_or_else(|| self.memory.initial(extent));
        if began == value {
            return;
        }
        let mut finding = Finding::new(Kind::StaleState, engine.kernel, by);
        if let Some(last) = self.left_over_key(extent).and_then(|key| self.left_over.get(&key)) {
            finding.first = *last;
            finding.second = Some(by);
        }
        finding.memory = Some(self.memory.name(extent, by.block));
        finding.note = Some(format!(
            "it held {began} when the launch began, and {value} is promised"
        ));
        self.report(finding);
    }

    /// Remembers for the next launch who stored last to the words that something was promised of.
    fn note_left_over(&mut self) {
        for WordPromised { extent, .. } in self.promises.clone() {
            if let Some(key) = self.left_over_key(extent)
                && let Some(last) = self.last_store(extent)
            {
                self.left_over.insert(key, last);
            }
        }
    }

    fn left_over_key(&self, extent: Extent) -> Option<(usize, usize)> {
        match self.memory.kind(extent.region) {
            RegionKind::Buffer { number, .. } => Some((number, extent.offset)),
            _ => None,
        }
    }

    pub(super) fn last_store(&mut self, extent: Extent) -> Option<Place> {
        let by = self.memory.last_writer(extent)?;
        Some(Place::new(by.location, by.block, by.thread, Deed::StoredLast))
    }

    /// Counts a store to what is promised to be stored once.
    #[cold]
    pub(super) fn count_store(
        &mut self,
        engine: &Engine,
        slot: u32,
        extent: Extent,
        operation: Operation,
        scope: Scope,
    ) {
        let thread = &self.threads[slot as usize];
        let store = Store {
            location: thread.location,
            block: thread.clock.block,
            thread: thread.clock.thread,
            operation,
        };
        let twice = self.coverage.store(thread.id, extent, store);
        let Some(twice) = twice.or(self.passing.store(thread.id, extent, store)) else {
            return;
        };
        let Twice {
            element,
            earlier,
            promised_at,
        } = twice;
        let now = self.place(slot, Deed::Access(operation, scope));
        let mut finding = Finding::new(Kind::CoveredTwice, engine.kernel, now);
        if let Some(earlier) = earlier {
            let deed = Deed::Access(earlier.operation, scope);
            finding.first = Place::new(earlier.location, earlier.block, earlier.thread, deed);
            finding.second = Some(now);
        }
        finding.memory = Some(self.memory.name(element, now.block));
        finding.note = Some(format!("promised at {promised_at}"));
        self.report(finding);
    }

    /// How a report names an element beyond a view.
    pub(super) fn name_outside(&mut self, slot: u32, element: Element) -> Option<MemoryPlace> {
        let block = self.threads[slot as usize].clock.block as usize;
        let beyond = |start: usize| start.saturating_add(element.index.saturating_mul(element.bytes));
        match element.view {
            // The view may be empty, or of an empty buffer.
            Ok(address) => {
                let start = self.memory.find(address, 0)?;
                let offset = beyond(start.offset);
                Some(self.memory.name(Extent { offset, ..start }, block))
            }
            Err(offset) => Some(self.memory.name_shared(offset, beyond(offset), block)),
        }
    }
}
