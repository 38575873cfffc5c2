//! The history of an atomic word: the stores that loads may still return.

use std::{collections::VecDeque, panic::Location};

use super::{
    How,
    clock::{Clock, Message},
    thread::{ThreadClock, releases},
};

/// Stores that a word remembers.
const REMEMBERED: usize = 8;

/// A store, or the value that the word had when it was first used as one.
#[derive(Clone, Debug)]
struct Store {
    bits: u64,
    /// `None` happened before everything.
    by: Option<Writer>,
    /// Whether it is a read-modify-write, of the store before it.
    replaces: bool,
    message: Message,
    /// Block, thread and epoch of each thread's first load of it.
    readers: Vec<(u32, u32, u32)>,
}

/// Who stored, and what it knew: to say which order is missing, if one is.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    pub(crate) location: &'static Location<'static>,
    pub(crate) block: u32,
    pub(crate) thread: u32,
    pub(crate) epoch: u32,
    pub(crate) knew: Clock,
}

impl Writer {
    fn new(clock: &ThreadClock, location: &'static Location<'static>) -> Self {
        Self {
            location,
            block: clock.block,
            thread: clock.thread,
            epoch: clock.epoch,
            knew: clock.known.before.clone(),
        }
    }
}

/// An atomic word. Its stores have an order, which need not be that in which they are made; loads may lag behind.
#[derive(Clone, Debug)]
pub(crate) struct Word {
    pub(crate) size: usize,
    stores: VecDeque<Store>,
    /// Number of the first store that is remembered.
    forgotten: u64,
    /// What it held when it was first used.
    pub(crate) initial: u64,
}

impl Word {
    pub(crate) fn new(size: usize, bits: u64) -> Self {
        Self {
            size,
            stores: [Store {
                bits,
                by: None,
                replaces: false,
                message: Message::default(),
                readers: Vec::new(),
            }]
            .into(),
            forgotten: 0,
            initial: bits,
        }
    }

    /// Values that a load may return, newest first: from the last store down to the last that this thread knows of, has read,
    /// or knows somebody to have read.
    pub(crate) fn candidates(&self, clock: &ThreadClock, weak: bool) -> usize {
        if !weak {
            return 1;
        }
        let known = |(block, thread, epoch): &(u32, u32, u32)| clock.follows(*block, *thread, *epoch);
        let by_known = |by: &Writer| clock.follows(by.block, by.thread, by.epoch);
        let last = self.stores.len() - 1;
        self.stores
            .iter()
            .rev()
            .position(|store| store.by.as_ref().is_none_or(by_known) || store.readers.iter().any(known))
            .unwrap_or(last)
            + 1
    }

    /// After which stores a store of this thread may come, in the order of the word's stores: bit `age` for the one that is `age`
    /// before the newest. Anywhere that what the thread knows allows, but not between a read-modify-write and what it read.
    pub(crate) fn places(&self, clock: &ThreadClock, weak: bool) -> u8 {
        let candidates = self.candidates(clock, weak);
        let free = |age: &usize| *age == 0 || !self.stores[self.stores.len() - age].replaces;
        (0..candidates).filter(free).fold(0, |places, age| places | 1 << age)
    }

    /// The value `age` stores before the newest.
    pub(crate) fn peek(&self, age: usize) -> u64 {
        self.stores[self.stores.len() - 1 - age].bits
    }

    /// Number of the newest store.
    pub(crate) fn newest(&self) -> u64 {
        self.forgotten + self.stores.len() as u64 - 1
    }

    /// Who made the newest store, if a thread of this launch did.
    pub(crate) fn last_writer(&self) -> Option<&Writer> {
        self.stores.back()?.by.as_ref()
    }

    /// Loads the value `age` stores before the newest.
    pub(crate) fn load(&mut self, clock: &mut ThreadClock, age: usize, how: How) -> u64 {
        let at = self.stores.len() - 1 - age;
        let store = &mut self.stores[at];
        if !store.readers.iter().any(|(block, thread, _)| clock.is(*block, *thread)) {
            store.readers.push((clock.block, clock.thread, clock.epoch));
        }
        clock.acquire(&store.message, how);
        if let Some(by) = &store.by
            && !clock.is(by.block, by.thread)
            && !clock.knows(by.block, by.thread, by.epoch)
        {
            clock.observe(by, &store.message, how);
        }
        store.bits
    }

    /// Stores after the store that is `age` before the newest.
    pub(crate) fn store(&mut self, clock: &mut ThreadClock, age: usize, bits: u64, how: How) {
        self.push(clock, age, bits, None, how);
    }

    /// Replaces the value `age` stores before the newest, whose acquiring load this also is. It carries on the release sequence.
    pub(crate) fn replace(&mut self, clock: &mut ThreadClock, age: usize, bits: u64, how: How) {
        let message = self.stores[self.stores.len() - 1 - age].message.clone();
        self.push(clock, age, bits, Some(message), how);
    }

    /// A plain store: nothing older is left to read.
    pub(crate) fn overwrite(&mut self, clock: &ThreadClock, bits: u64, location: &'static Location<'static>) {
        let store = Store {
            bits,
            by: Some(Writer::new(clock, location)),
            replaces: false,
            message: Message::default(),
            readers: Vec::new(),
        };
        self.remember(0, store);
        self.forgotten += self.stores.len() as u64 - 1;
        self.stores.drain(..self.stores.len() - 1);
    }

    fn push(&mut self, clock: &mut ThreadClock, age: usize, bits: u64, replaced: Option<Message>, how: How) {
        let by = Writer::new(clock, how.location);
        let replaces = replaced.is_some();
        let mut message = replaced.unwrap_or_default();
        clock.release(&mut message, how);
        if !releases(how.order) {
            // What follows is in another epoch than what a release would have published.
            clock.epoch += 1;
        }
        let store = Store {
            bits,
            by: Some(by),
            replaces,
            message,
            readers: Vec::new(),
        };
        self.remember(age, store);
    }

    fn remember(&mut self, age: usize, store: Store) {
        let mut at = self.stores.len() - age;
        if self.stores.len() == REMEMBERED {
            self.stores.pop_front();
            self.forgotten += 1;
            at -= 1;
        }
        self.stores.insert(at, store);
    }
}
