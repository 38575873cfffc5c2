//! The history of an atomic word: the stores that loads may still return.

use std::{collections::VecDeque, sync::atomic::Ordering};

use super::{clock::Message, thread::ThreadClock};
use crate::kernel::Scope;

/// Stores that a word remembers.
const REMEMBERED: usize = 8;

/// A store, or the value that the word had when it was first used as one.
#[derive(Clone, Debug)]
struct Store {
    bits: u64,
    /// `None` happened before everything.
    by: Option<(u32, u32, u32)>,
    message: Message,
    /// Block, thread and epoch of each thread's first load of it.
    readers: Vec<(u32, u32, u32)>,
}

/// An atomic word. Its stores take effect in the order in which they are made; loads may lag behind.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) size: usize,
    stores: VecDeque<Store>,
    /// Number of the first store that is remembered.
    forgotten: u64,
}

impl Word {
    pub(crate) fn new(size: usize, bits: u64) -> Self {
        Self {
            size,
            stores: [Store {
                bits,
                by: None,
                message: Message::default(),
                readers: Vec::new(),
            }]
            .into(),
            forgotten: 0,
        }
    }

    /// Values that a load may return, newest first: from the last store down to the last that this thread knows of, has read,
    /// or knows somebody to have read.
    pub(crate) fn candidates(&self, clock: &ThreadClock, weak: bool) -> usize {
        if !weak {
            return 1;
        }
        let known = |(block, thread, epoch): &(u32, u32, u32)| clock.follows(*block, *thread, *epoch);
        let last = self.stores.len() - 1;
        self.stores
            .iter()
            .rev()
            .position(|store| store.by.as_ref().is_none_or(known) || store.readers.iter().any(known))
            .unwrap_or(last)
            + 1
    }

    /// The value `age` stores before the newest.
    pub(crate) fn peek(&self, age: usize) -> u64 {
        self.stores[self.stores.len() - 1 - age].bits
    }

    /// Number of the newest store.
    pub(crate) fn newest(&self) -> u64 {
        self.forgotten + self.stores.len() as u64 - 1
    }

    /// Loads the value `age` stores before the newest.
    pub(crate) fn load(&mut self, clock: &mut ThreadClock, age: usize, order: Ordering, scope: Scope) -> u64 {
        let at = self.stores.len() - 1 - age;
        let store = &mut self.stores[at];
        if !store.readers.iter().any(|(block, thread, _)| clock.is(*block, *thread)) {
            store.readers.push((clock.block, clock.thread, clock.epoch));
        }
        clock.acquire(&store.message, order, scope);
        store.bits
    }

    pub(crate) fn store(&mut self, clock: &mut ThreadClock, bits: u64, order: Ordering, scope: Scope) {
        let by = (clock.block, clock.thread, clock.epoch);
        let mut message = Message::default();
        clock.release(&mut message, order, scope);
        self.push(bits, by, message);
    }

    /// Replaces the newest value, whose acquiring load this also is. It carries on the release sequence.
    pub(crate) fn replace(&mut self, clock: &mut ThreadClock, bits: u64, order: Ordering, scope: Scope) {
        let mut message = self.stores[self.stores.len() - 1].message.clone();
        let by = (clock.block, clock.thread, clock.epoch);
        clock.release(&mut message, order, scope);
        self.push(bits, by, message);
    }

    /// A plain store: nothing older is left to read.
    pub(crate) fn overwrite(&mut self, clock: &ThreadClock, bits: u64) {
        self.push(bits, (clock.block, clock.thread, clock.epoch), Message::default());
        self.forgotten += self.stores.len() as u64 - 1;
        self.stores.drain(..self.stores.len() - 1);
    }

    fn push(&mut self, bits: u64, by: (u32, u32, u32), message: Message) {
        if self.stores.len() == REMEMBERED {
            self.stores.pop_front();
            self.forgotten += 1;
        }
        self.stores.push_back(Store {
            bits,
            by: Some(by),
            message,
            readers: Vec::new(),
        });
    }
}
