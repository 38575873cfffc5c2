//! The task queue: a buffer of tasks for each block, and a ring that all blocks share. The protocol is in `README.md`.

use core::sync::atomic::Ordering;

use bytemuck::Pod;

use super::ring::{LINE_WORDS, Popped, Ring, Room};
use crate::kernel::{Acc, Atomic, SpanMut, scope};

/// Which of its own tasks a block runs next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u32)]
pub enum Order {
    /// The newest: depth first, so that few tasks wait at a time.
    #[default]
    Lifo,
    /// The oldest: breadth first.
    Fifo,
}

/// Words that all blocks share, beside those of the ring.
pub(crate) mod control {
    use super::LINE_WORDS;
    /// Tasks in the ring, and blocks that have any.
    pub(crate) const OUTSTANDING: usize = 0;
    /// How many blocks wait for tasks, and [`STOP`].
    pub(crate) const ATTENTION: usize = LINE_WORDS;
    /// The run ends early: there is no room for tasks.
    pub(crate) const STOP: u64 = 1 << 63;
    /// How many words.
    #[cfg(feature = "std")]
    pub(crate) const WORDS: usize = 2 * LINE_WORDS;
}

/// Words of each block, which it alone writes, and which tell the host how far it got.
pub(crate) mod record {
    use super::LINE_WORDS;
    /// Count of tasks that the block took out of its buffer at the old end.
    pub(crate) const FIRST: usize = 0;
    /// Count of tasks that stand before the new end.
    pub(crate) const END: usize = 1;
    /// [`END`] when the task under way began.
    pub(crate) const BASE: usize = 2;
    /// Whether a task is under way.
    pub(crate) const BUSY: usize = 3;
    /// Tasks run to their end.
    pub(crate) const TASKS: usize = 4;
    /// Batches got from the ring.
    pub(crate) const CLAIMS: usize = 5;
    /// Attempts that found the ring empty.
    pub(crate) const FAILED_POPS: usize = 6;
    /// Tasks moved to the ring.
    pub(crate) const SPILLS: usize = 7;
    /// Nanoseconds spent waiting.
    pub(crate) const IDLE: usize = 8;
    /// Most tasks seen in the ring.
    pub(crate) const PEAK: usize = 9;
    /// How many words: a pair of lines, so that blocks do not disturb each other.
    pub(crate) const WORDS: usize = LINE_WORDS;
}

/// The block's buffer: a ring of its own.
pub(crate) mod local {
    /// Elements for a buffer of `capacity`: the task under way stands behind it.
    pub(crate) const fn elements(capacity: usize) -> usize {
        capacity + 1
    }
}

/// What a run of tasks is told.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Rules {
    /// Slots of a block's buffer, a power of two: at least `keep + most_spawns`.
    pub(crate) capacity: u64,
    /// Tasks that a block keeps to itself at most, where the ring has room for more.
    pub(crate) keep: u64,
    /// Tasks that a task makes at most.
    pub(crate) most_spawns: u64,
    /// Tickets of the ring below this are run; tasks that are made wait for the next launch. `u64::MAX`: run until none is left.
    pub(crate) generation_end: u64,
    pub(crate) order: Order,
    /// Whether to count.
    pub(crate) counted: bool,
}

/// Tasks that make tasks, and the blocks that run them.
///
/// Each block has a buffer of its own, in device memory so that the host can take back what is left there when a run fails.
/// What does not fit, and half of it when others have nothing to do, goes to a ring that all share.
#[repr(C)]
pub struct TaskQueue<'a, T> {
    ring: Ring<'a, T>,
    control: SpanMut<'a, u64>,
    local: SpanMut<'a, T>,
    records: SpanMut<'a, u64>,
    rules: Rules,
    /// Whether tasks are counted before they are pushed, as they must be.
    #[cfg(all(test, loom))]
    pub(crate) raised_first: bool,
}

impl<'a, T: Pod> TaskQueue<'a, T> {
    /// [`control::WORDS`] words; for each block [`local::elements`] tasks and [`record::WORDS`] words.
    #[cfg(feature = "std")]
    pub(crate) fn new(
        ring: Ring<'a, T>,
        control: SpanMut<'a, u64>,
        local: SpanMut<'a, T>,
        records: SpanMut<'a, u64>,
        rules: Rules,
    ) -> Self {
        Self {
            ring,
            control,
            local,
            records,
            rules,
            #[cfg(all(test, loom))]
            raised_first: true,
        }
    }

    #[inline(always)]
    fn raised_first(&self) -> bool {
        #[cfg(all(test, loom))]
        return self.raised_first;
        #[cfg(not(all(test, loom)))]
        true
    }

    #[inline(always)]
    fn outstanding(&self) -> Atomic<'_, u64> {
        self.control.atomic(control::OUTSTANDING)
    }

    #[inline(always)]
    fn attention(&self) -> Atomic<'_, u64> {
        self.control.atomic(control::ATTENTION)
    }

    #[inline(always)]
    fn by_generation(&self) -> bool {
        self.rules.generation_end != u64::MAX
    }

    /// Promises that no task is left when the launch ends.
    #[inline(always)]
    pub(crate) fn promise_to_finish<A: Acc>(&self, acc: A) {
        if !self.by_generation() {
            self.outstanding().promise_ends_at(acc, 0);
        }
    }

    #[inline(always)]
    fn word<A: Acc>(&self, acc: A, word: usize) -> u64 {
        self.records.get(acc, acc.block() * record::WORDS + word)
    }

    #[inline(always)]
    fn set_word<A: Acc>(&self, acc: A, word: usize, value: u64) {
        self.records.set(acc, acc.block() * record::WORDS + word, value);
    }

    #[inline(always)]
    fn count<A: Acc>(&self, acc: A, word: usize, by: u64) {
        if self.rules.counted {
            self.set_word(acc, word, self.word(acc, word) + by);
        }
    }

    /// Where the block's task number `count` stands.
    #[inline(always)]
    fn place<A: Acc>(&self, acc: A, count: u64) -> usize {
        let start = acc.block() * local::elements(self.rules.capacity as usize);
        start + (count & (self.rules.capacity - 1)) as usize
    }

    #[inline(always)]
    fn place_of_current<A: Acc>(&self, acc: A) -> usize {
        let elements = local::elements(self.rules.capacity as usize);
        acc.block() * elements + elements - 1
    }

    /// The task that [`next`](Self::next) chose.
    #[inline(always)]
    pub(crate) fn current<A: Acc>(&self, acc: A) -> T {
        self.local.get(acc, self.place_of_current(acc))
    }

    /// For the task under way.
    #[inline(always)]
    pub(crate) fn spawner(&self) -> Spawner<'_, 'a, T> {
        Spawner { queue: self }
    }

    /// Ends the task under way and chooses the next; `false` if the run is over. Called by the block's first thread, past a
    /// barrier that orders it after the spawns of the others. `holding`: whether the block is counted as outstanding.
    #[inline(always)]
    pub(crate) fn next<A: Acc>(&self, acc: A, holding: &mut bool) -> bool {
        if *holding {
            self.set_word(acc, record::BUSY, 0);
            self.count(acc, record::TASKS, 1);
        }
        // Past that: who leaves here has no task under way.
        acc.check_in();
        let attention = self.attention().load(acc, Ordering::Relaxed);
        if attention & control::STOP != 0 {
            return false;
        }
        let end = self.word(acc, record::END);
        let mut len = end - self.word(acc, record::FIRST);
        let wanted = if self.by_generation() {
            // What the task made belongs to the next one.
            if *holding {
                end - self.word(acc, record::BASE)
            } else {
                0
            }
        } else if len > self.rules.keep {
            len - self.rules.keep / 2
        } else if attention != 0 && self.ring.len(acc) < attention {
            // Somebody waits, and the ring has nothing for them: half of it.
            len / 2
        } else {
            0
        };
        if wanted > 0 {
            len -= self.share(acc, wanted);
            if !self.make_room(acc, &mut len) {
                return false;
            }
        }
        if len == 0 && !self.refill(acc, holding) {
            return false;
        }
        self.take(acc);
        true
    }

    /// Moves the task that is next in order to where the block finds it.
    #[inline(always)]
    fn take<A: Acc>(&self, acc: A) {
        let (first, mut end) = (self.word(acc, record::FIRST), self.word(acc, record::END));
        let chosen = match self.rules.order {
            Order::Lifo => {
                end -= 1;
                self.set_word(acc, record::END, end);
                end
            }
            Order::Fifo => {
                self.set_word(acc, record::FIRST, first + 1);
                first
            }
        };
        let task = self.local.get(acc, self.place(acc, chosen));
        self.local.set(acc, self.place_of_current(acc), task);
        self.set_word(acc, record::BASE, end);
        self.set_word(acc, record::BUSY, 1);
    }

    /// Moves up to `wanted` of the block's tasks to the ring; returns how many. The oldest, which have most work in them; by
    /// generations the newest, which belong to the next.
    #[cold]
    fn share<A: Acc>(&self, acc: A, wanted: u64) -> u64 {
        // Raised before anybody can see the tasks: the block that pops them lowers it.
        if self.raised_first() {
            self.outstanding().fetch_add(acc, wanted, Ordering::Relaxed);
        }
        let (first, end) = (self.word(acc, record::FIRST), self.word(acc, record::END));
        let newest = self.by_generation();
        let shared = self.ring.push(
            acc,
            wanted,
            |index| {
                let count = if newest { end - 1 - index } else { first + index };
                self.local.get(acc, self.place(acc, count))
            },
            |index| match newest {
                true => self.set_word(acc, record::END, end - 1 - index),
                false => self.set_word(acc, record::FIRST, first + index + 1),
            },
        );
        if !self.raised_first() {
            self.outstanding().fetch_add(acc, wanted, Ordering::Relaxed);
        }
        if shared < wanted {
            self.outstanding().fetch_sub(acc, wanted - shared, Ordering::Relaxed);
        }
        self.count(acc, record::SPILLS, shared);
        if self.rules.counted {
            let peak = self.word(acc, record::PEAK).max(self.ring.len(acc));
            self.set_word(acc, record::PEAK, peak);
        }
        shared
    }

    /// Makes sure that the buffer has room for whatever the next task spawns; if there is none anywhere, ends the run.
    ///
    /// Until then the block goes on, with more tasks than it would keep: it works its own pushes off.
    fn make_room<A: Acc>(&self, acc: A, len: &mut u64) -> bool {
        // One of them is the next task, and leaves its place.
        while *len + self.rules.most_spawns > self.rules.capacity + 1 {
            match self.ring.room(acc) {
                Room::Some => {}
                Room::Pending(ticket) => self.ring.wait_free(acc, ticket),
                Room::None => {
                    self.outstanding().promise_drained(acc, None);
                    self.attention().fetch_or(acc, control::STOP, Ordering::Relaxed);
                    self.ring.close(acc);
                    return false;
                }
            }
            *len -= self.share(acc, *len - self.rules.keep / 2);
        }
        true
    }

    /// Gets tasks from the ring, waiting for them if others may still make some; `false` if the run is over.
    #[cold]
    fn refill<A: Acc>(&self, acc: A, holding: &mut bool) -> bool {
        loop {
            if self.attention().load(acc, Ordering::Relaxed) & control::STOP != 0 {
                return false;
            }
            // A part of what there is, so that some is left for the others.
            let part = self.ring.len(acc) / (2 * acc.blocks() as u64);
            let most = part.clamp(1, self.rules.keep.max(1));
            let mut end = self.word(acc, record::END);
            let popped = self.ring.pop(acc, most, self.rules.generation_end, |task| {
                self.local.set(acc, self.place(acc, end), task);
                end += 1;
                self.set_word(acc, record::END, end);
            });
            match popped {
                Popped::Some(count) => {
                    self.count(acc, record::CLAIMS, 1);
                    // They were outstanding one by one; now the block is.
                    let less = if *holding { count } else { count - 1 };
                    if less > 0 {
                        self.outstanding().fetch_sub(acc, less, Ordering::Relaxed);
                    }
                    *holding = true;
                    return true;
                }
                Popped::Pending(ticket) => self.ring.wait_full(acc, ticket),
                Popped::None(tail) => {
                    self.count(acc, record::FAILED_POPS, 1);
                    if self.by_generation() || !self.wait_for_tasks(acc, holding, tail) {
                        return false;
                    }
                }
            }
        }
    }

    /// Waits until tasks are pushed, or the run is over: then `false`.
    fn wait_for_tasks<A: Acc>(&self, acc: A, holding: &mut bool, tail: u64) -> bool {
        if core::mem::take(holding) && self.outstanding().fetch_sub(acc, 1, Ordering::Relaxed) == 1 {
            self.ring.close(acc);
            return false;
        }
        if tail & super::ring::CLOSED != 0 {
            return false;
        }
        let start = if self.rules.counted { acc.clock() } else { 0 };
        self.attention().fetch_add(acc, 1, Ordering::Relaxed);
        let closed = self.ring.wait_for_push(acc, tail);
        self.attention().fetch_sub(acc, 1, Ordering::Relaxed);
        if self.rules.counted {
            self.count(acc, record::IDLE, acc.clock() - start);
        }
        !closed
    }
}

/// With what a task makes further tasks.
pub struct Spawner<'q, 'a, T> {
    queue: &'q TaskQueue<'a, T>,
}

impl<T> Clone for Spawner<'_, '_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Spawner<'_, '_, T> {}

impl<T: Pod> Spawner<'_, '_, T> {
    /// Makes a task, to be run after this one, by any block. Any thread of the block may call it, also in divergent code.
    ///
    /// # Memory ordering
    /// What the threads of this block do in this task happens before what any thread does in the new one.
    ///
    /// # Panics
    /// If the task has made as many as it may: [`Tasks::MOST_SPAWNS`](super::Tasks::MOST_SPAWNS).
    #[inline(always)]
    #[track_caller]
    pub fn spawn<A: Acc>(self, acc: A, task: T) {
        let queue = self.queue;
        let at = acc.block() * record::WORDS + record::END;
        let end = if acc.threads() == 1 {
            queue.records.get(acc, at)
        } else {
            let word = queue.records.atomic(at).scoped::<scope::Block>();
            word.fetch_add(acc, 1, Ordering::Relaxed)
        };
        if end - queue.word(acc, record::BASE) >= queue.rules.most_spawns {
            too_many_spawns(queue.rules.most_spawns)
        }
        queue.local.set(acc, queue.place(acc, end), task);
        if acc.threads() == 1 {
            queue.records.set(acc, at, end + 1);
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn too_many_spawns(most: u64) -> ! {
    panic!("a task made more than MOST_SPAWNS = {most} tasks")
}
