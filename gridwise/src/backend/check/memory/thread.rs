//! The memory order of one thread: its clock, its fences, and what it has read without acquiring yet.

use std::{collections::HashMap, panic::Location, rc::Rc, sync::atomic::Ordering};

use super::{
    How,
    clock::{Clock, Knowledge, Message},
    history::Writer,
};
use crate::{check::finding::Missing, kernel::Scope};

/// Loads that ordered less than they might have, of which a thread remembers the last.
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
pub(crate) struct Observed {
    by: Writer,
    message: Message,
    load: &'static Location<'static>,
    scope: Scope,
    /// Whether the load acquired, or a fence after it did.
    acquired: bool,
}

impl Observed {
    pub(super) fn new(by: &Writer, message: &Message, how: How) -> Self {
        Self {
            by: by.clone(),
            message: message.clone(),
            load: how.location,
            scope: how.scope,
            acquired: acquires(how.order),
        }
    }

    /// What is missing for this load to order that epoch before itself; `None` if nothing would.
    fn explains(&self, reader: u32, block: u32, thread: u32, epoch: u32) -> Option<Missing> {
        let wrote = self.by.block == block && self.by.thread == thread && self.by.epoch >= epoch;
        if !wrote && self.by.knew.get(block, thread) < epoch {
            return None;
        }
        let mut released = self.message.parts(reader);
        let released = released.find(|(knowledge, _)| knowledge.before.get(block, thread) >= epoch);
        if let Some((_, needed)) = released
            && needed.is_none_or(|needed| needed > self.scope)
        {
            return Some(Missing::WiderScope);
        }
        Some(Missing::Order {
            store: self.by.location,
            load: self.load,
            release: released.is_none(),
            acquire: !self.acquired,
        })
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
    fence: Option<Rc<Knowledge>>,
    wide_fence: Option<Rc<Knowledge>>,
    /// Messages read by relaxed loads, for acquire fences after them: of any scope, and of device scope.
    read: Knowledge,
    wide_read: Knowledge,
    observed: Vec<Observed>,
    next_observed: usize,
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
            observed: Vec::new(),
            next_observed: 0,
        }
    }

    /// Remembers a load that ordered less than it might have.
    pub(super) fn observe(&mut self, by: &Writer, load: impl FnOnce() -> Observed) {
        let is_same = |seen: &Observed| {
            let seen = &seen.by;
            seen.epoch == by.epoch && seen.thread == by.thread && seen.block == by.block
        };
        if self.observed.iter().any(is_same) {
            return;
        }
        if self.observed.len() < OBSERVED {
            self.observed.push(load());
        } else {
            self.observed[self.next_observed] = load();
            self.next_observed = (self.next_observed + 1) % OBSERVED;
        }
    }

    /// Which order is missing for that epoch to have happened before, if one of the last loads tells.
    pub(crate) fn explain(&self, block: u32, thread: u32, epoch: u32) -> Option<Missing> {
        let explains = |observed: &Observed| observed.explains(self.block, block, thread, epoch);
        self.observed.iter().rev().find_map(explains)
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

    /// Adds to a message what a store with this order and scope releases.
    pub(crate) fn release(&mut self, message: &mut Message, order: Ordering, scope: Scope) {
        if releases(order) {
            let knowledge = self.publish();
            if is_wide(scope) {
                message.add_wide(self.block, &knowledge);
            } else {
                message.add_narrow(self.block, &knowledge);
            }
            return;
        }
        let wide = self.wide_fence.as_ref().filter(|_| is_wide(scope));
        if let Some(knowledge) = wide {
            message.add_wide(self.block, knowledge);
        }
        if let Some(knowledge) = &self.fence
            && !wide.is_some_and(|wide| Rc::ptr_eq(wide, knowledge))
        {
            message.add_narrow(self.block, knowledge);
        }
    }

    /// Takes from a message what a load with this order and scope acquires.
    pub(crate) fn acquire(&mut self, message: &Message, order: Ordering, scope: Scope) {
        if message.is_empty() {
            return;
        }
        let acquires = acquires(order);
        for (knowledge, needed) in message.parts(self.block) {
            let reaches = needed.is_some_and(|needed| needed <= scope);
            match (reaches, acquires, needed) {
                (true, true, _) => self.known.join(knowledge),
                (true, false, Some(Scope::Block)) => self.read.join(knowledge),
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

    pub(crate) fn fence(&mut self, order: Ordering, scope: Scope, fences: &mut Fences) {
        if acquires(order) {
            for observed in &mut self.observed {
                observed.acquired = true;
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
            self.fence = Some(knowledge);
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
