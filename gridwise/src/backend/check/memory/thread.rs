//! The memory order of one thread: its clock, its fences, and what it has read without acquiring yet.

use std::{collections::HashMap, panic::Location, rc::Rc, sync::atomic::Ordering};

use super::{
    How,
    clock::{Clock, Knowledge, Message},
    history::Writer,
};
use crate::{check::finding::Missing, kernel::Scope};

/// Loads that ordered less than they might have, of which a thread remembers the last so many.
const OBSERVED: usize = 8;

/// Whether an order acquires.
pub(crate) fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

/// Whether an order releases.
pub(crate) fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

fn is_wide(scope: Scope) -> bool {
    scope >= Scope::Device
}

/// The sequentially consistent fences of a launch: what is known to all of them so far, by scope.
#[derive(Debug, Default)]
pub(crate) struct Fences {
    device: Clock,
    blocks: HashMap<u32, Clock>,
}

/// A load of a value whose store is not known to have happened before: had both sides the order, it would be.
#[derive(Clone, Debug)]
struct Observed {
    by: Writer,
    message: Message,
    load: How,
    /// The reader's epoch at the load.
    epoch: u32,
    /// What acquired, at which scope: the load, or a fence after it.
    acquired: Option<(Scope, &'static Location<'static>)>,
}

impl Observed {
    /// What is missing for this load, of a thread of block `reader`, to order that epoch before itself; `None` if nothing would.
    fn explains(&self, reader: u32, block: u32, thread: u32, epoch: u32) -> Option<Missing> {
        let wrote = self.by.block == block && self.by.thread == thread && self.by.epoch >= epoch;
        if !wrote && self.by.knew.get(block, thread) < epoch {
            return None;
        }
        let mut released = self.message.parts(reader);
        let released = released.find(|(knowledge, _)| knowledge.before.get(block, thread) >= epoch);
        if let Some((_, needed)) = released {
            let (scope, at) = match self.acquired {
                Some((scope, at)) if scope < self.load.scope => (scope, at),
                _ => (self.load.scope, self.load.location),
            };
            if needed.is_err() || needed.is_ok_and(|needed| needed > scope) {
                return Some(Missing::WiderScope {
                    release: needed.err(),
                    acquire: (!is_wide(scope)).then_some(at),
                });
            }
        }
        Some(Missing::Order {
            store: self.by.location,
            load: self.load.location,
            release: released.is_none(),
            acquire: self.acquired.is_none(),
        })
    }
}

/// The last loads that a thread observed something by.
#[derive(Clone, Debug, Default)]
struct Observations {
    last: Vec<Observed>,
    next: usize,
}

impl Observations {
    /// Adds one, in the place of one with the same lines and the same writer: what that would explain, this does.
    fn add(&mut self, new: Observed) {
        let is_same = |seen: &Observed| {
            (seen.by.block, seen.by.thread) == (new.by.block, new.by.thread)
                && seen.by.location == new.by.location
                && seen.load.location == new.load.location
        };
        if let Some(at) = self.last.iter().position(is_same) {
            self.last[at] = new;
        } else if self.last.len() < OBSERVED {
            self.last.push(new);
        } else {
            self.last[self.next] = new;
            self.next = (self.next + 1) % OBSERVED;
        }
    }
}

/// See the module. Events carry the current epoch; a release publishes it and begins the next.
#[derive(Clone, Debug)]
pub(crate) struct ThreadClock {
    pub(crate) block: u32,
    pub(crate) thread: u32,
    threads: usize,
    pub(crate) epoch: u32,
    pub(crate) known: Knowledge,
    /// Knowledge at the last release fence, for relaxed stores after it: of any scope, and of device scope.
    fence: Option<(Rc<Knowledge>, &'static Location<'static>)>,
    wide_fence: Option<Rc<Knowledge>>,
    /// Messages read by relaxed loads, for acquire fences after them: of any scope, and of device scope.
    read: Knowledge,
    wide_read: Knowledge,
    observed: Observations,
    /// Those that a wider scope would have made order something: they are few, and are not driven out by others.
    narrow: Observations,
}

impl ThreadClock {
    pub(crate) fn new(block: u32, thread: u32, threads: usize) -> Self {
        Self {
            block,
            thread,
            threads,
            epoch: 1,
            known: Knowledge::default(),
            fence: None,
            wide_fence: None,
            read: Knowledge::default(),
            wide_read: Knowledge::default(),
            observed: Observations::default(),
            narrow: Observations::default(),
        }
    }

    /// Remembers a load that ordered less than it might have.
    pub(super) fn observe(&mut self, by: &Writer, message: &Message, load: How) {
        let is_same = |seen: &Observed| {
            let seen = &seen.by;
            seen.epoch == by.epoch && seen.thread == by.thread && seen.block == by.block
        };
        if self.observed.last.iter().chain(&self.narrow.last).any(is_same) {
            return;
        }
        let is_narrow = message
            .parts(self.block)
            .any(|(_, needed)| needed.is_err() || needed.is_ok_and(|needed| needed > load.scope));
        let observations = if is_narrow {
            &mut self.narrow
        } else {
            &mut self.observed
        };
        observations.add(Observed {
            by: by.clone(),
            message: message.clone(),
            load,
            epoch: self.epoch,
            acquired: acquires(load.order).then_some((load.scope, load.location)),
        });
    }

    /// Whether there is anything that [`explain`](Self::explain) could tell.
    pub(crate) fn has_observed(&self) -> bool {
        !(self.observed.last.is_empty() && self.narrow.last.is_empty())
    }

    /// Which order or scope is missing for that epoch to have happened before what `later` does now, if loads of this thread that
    /// happened before that tell: the best first.
    pub(crate) fn explain(
        &self,
        later: &Self,
        block: u32,
        thread: u32,
        epoch: u32,
    ) -> impl Iterator<Item = Missing> + use<'_> {
        let knows = |observed: &&Observed| later.knows(self.block, self.thread, observed.epoch);
        let known: Vec<_> = [&self.narrow, &self.observed]
            .into_iter()
            .flat_map(|observations| observations.last.iter().rev())
            .filter(knows)
            .collect();
        let explains = move |observed: &Observed| observed.explains(self.block, block, thread, epoch);
        known.into_iter().filter_map(explains)
    }

    /// Whether what that thread did in that epoch happened before what this thread does now.
    #[inline]
    pub(crate) fn knows(&self, block: u32, thread: u32, epoch: u32) -> bool {
        self.is(block, thread) || self.known.before.get(block, thread) >= epoch
    }

    /// As [`knows`](Self::knows), or came before in the order of sequentially consistent fences.
    pub(crate) fn follows(&self, block: u32, thread: u32, epoch: u32) -> bool {
        self.knows(block, thread, epoch) || self.known.fenced.get(block, thread) >= epoch
    }

    #[inline]
    pub(crate) fn is(&self, block: u32, thread: u32) -> bool {
        self.block == block && self.thread == thread
    }

    /// Publishes the current epoch, and begins the next.
    fn publish(&mut self) -> Rc<Knowledge> {
        let mut knowledge = self.known.clone();
        knowledge.before.set(self.block, self.thread, self.threads, self.epoch);
        self.epoch += 1;
        Rc::new(knowledge)
    }

    /// Adds to a message what a store of this kind releases.
    pub(crate) fn release(&mut self, message: &mut Message, store: How) {
        if releases(store.order) {
            let knowledge = self.publish();
            if is_wide(store.scope) {
                message.add_wide(self.block, &knowledge);
            } else {
                message.add_narrow(self.block, &knowledge, store.location);
            }
            return;
        }
        let wide = self.wide_fence.as_ref().filter(|_| is_wide(store.scope));
        if let Some(knowledge) = wide {
            message.add_wide(self.block, knowledge);
        }
        if let Some((knowledge, fence)) = &self.fence
            && !wide.is_some_and(|wide| Rc::ptr_eq(wide, knowledge))
        {
            let narrow = if is_wide(store.scope) { fence } else { store.location };
            message.add_narrow(self.block, knowledge, narrow);
        }
    }

    /// Takes from a message what a load of this kind acquires.
    pub(crate) fn acquire(&mut self, message: &Message, load: How) {
        if message.is_empty() {
            return;
        }
        let acquires = acquires(load.order);
        for (knowledge, needed) in message.parts(self.block) {
            let reaches = needed.is_ok_and(|needed| needed <= load.scope);
            match (reaches, acquires, needed) {
                (true, true, _) => self.known.join(knowledge),
                (true, false, Ok(Scope::Block)) => self.read.join(knowledge),
                (true, false, _) => self.wide_read.join(knowledge),
                (false, ..) => {}
            }
            // Why an order is missing, if it turns out to be.
            if !reaches {
                self.known.by_scope.join(&knowledge.before);
            } else if !acquires {
                self.known.by_order.join(&knowledge.before);
            }
        }
    }

    pub(crate) fn fence(&mut self, how: How, fences: &mut Fences) {
        let How { order, scope, location } = how;
        if acquires(order) {
            for observed in self.observed.last.iter_mut().chain(&mut self.narrow.last) {
                let reached = observed.acquired.map(|(scope, _)| scope);
                if reached.is_none_or(|reached| reached < scope) {
                    observed.acquired = Some((scope, location));
                }
            }
            let read = std::mem::take(&mut self.read);
            self.known.join(&read);
            if is_wide(scope) {
                let read = std::mem::take(&mut self.wide_read);
                self.known.join(&read);
            } else {
                self.known.by_scope.join(&self.wide_read.before);
            }
        }
        if order == Ordering::SeqCst {
            let block = fences.blocks.entry(self.block).or_default();
            self.known.fenced.join(block);
            if is_wide(scope) {
                self.known.fenced.join(&fences.device);
            }
        }
        if releases(order) {
            let knowledge = self.publish();
            if order == Ordering::SeqCst {
                let put = |clock: &mut Clock| {
                    clock.join(&knowledge.before);
                    clock.join(&knowledge.fenced);
                };
                put(fences.blocks.entry(self.block).or_default());
                if is_wide(scope) {
                    put(&mut fences.device);
                }
            }
            if is_wide(scope) {
                self.wide_fence = Some(knowledge.clone());
            }
            self.fence = Some((knowledge, location));
        }
    }

    /// All threads of a block meet: each learns what any of them knew and did.
    pub(crate) fn meet<'a>(members: impl Iterator<Item = &'a mut Self>) {
        let mut members: Vec<_> = members.collect();
        let Some(first) = members.first() else { return };
        let (block, threads) = (first.block, first.threads);
        let mut joined = first.known.clone();
        for member in &members[1..] {
            joined.join(&member.known);
        }
        let mut row: Vec<u32> = (0..threads as u32)
            .map(|thread| joined.before.get(block, thread))
            .collect();
        for member in &members {
            row[member.thread as usize] = member.epoch;
        }
        joined.before.set_row(block, row.into());
        for member in &mut members {
            member.known = joined.clone();
            member.epoch += 1;
        }
    }
}
