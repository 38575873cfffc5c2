//! The task queue: a buffer of tasks for each block, and a ring that all blocks share. The protocol is in `README.md`.

use core::sync::atomic::{AtomicBool, Ordering};

use bytemuck::Pod;

use super::{
    Spawner,
    ring::{CLOSED, Popped, Ring, Room},
    words::{Rules, control, local, record},
};
use crate::kernel::{Acc, Atomic, Span, SpanMut};

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

/// Seeds that a block claims at once, if they may make tasks: who knows how much work there is in one, and nobody can take it
/// from a block that is kept from running.
const MOST_SEEDS: u64 = 8;

/// Tasks that make tasks, and the blocks that run them.
///
/// Each block has a buffer of its own, in device memory so that the host can take back what is left there when a run fails.
/// What does not fit, and half of it when others have nothing to do, goes to a ring that all share.
///
/// Made by [`TaskMemory::fresh`](crate::host::tasks::TaskMemory::fresh), for a kernel that does more than run tasks; otherwise
/// [`Tasks`](super::Tasks) is simpler. A queue is one launch's.
#[repr(C)]
pub struct TaskQueue<'a, T> {
    ring: Ring<'a, T>,
    seeds: Span<'a, T>,
    control: SpanMut<'a, u64>,
    pub(super) local: SpanMut<'a, T>,
    pub(super) records: SpanMut<'a, u64>,
    pub(super) rules: Rules,
    /// In the host's memory.
    cancelled: Option<&'a AtomicBool>,
    /// Whether tasks are counted before they are pushed, as they must be.
    #[cfg(all(test, loom))]
    pub(crate) raised_first: bool,
}

impl<'a, T: Pod> TaskQueue<'a, T> {
    /// [`control::WORDS`] words; for each block [`local::elements`] tasks and [`record::WORDS`] words.
    #[cfg(feature = "std")]
    pub(crate) fn new(
        ring: Ring<'a, T>,
        seeds: Span<'a, T>,
        [control, records]: [SpanMut<'a, u64>; 2],
        local: SpanMut<'a, T>,
        rules: Rules,
        cancelled: Option<&'a AtomicBool>,
    ) -> Self {
        Self {
            ring,
            seeds,
            control,
            local,
            records,
            rules,
            cancelled,
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

    /// Counts tasks, or a block that has some. By generations nobody counts: the launch ends when its tasks have.
    #[inline(always)]
    fn raise<A: Acc>(&self, acc: A, by: u64) {
        if !self.by_generation() {
            self.outstanding().fetch_add(acc, by, Ordering::Relaxed);
        }
    }

    /// Counts them no more; returns whether there is nothing left.
    #[inline(always)]
    fn lower<A: Acc>(&self, acc: A, by: u64) -> bool {
        !self.by_generation() && self.outstanding().fetch_sub(acc, by, Ordering::Relaxed) == by
    }

    #[inline(always)]
    fn attention(&self) -> Atomic<'_, u64> {
        self.control.atomic(control::ATTENTION)
    }

    #[inline(always)]
    fn claimed_seeds(&self) -> Atomic<'_, u64> {
        self.control.atomic(control::SEEDS)
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
    pub(super) fn word<A: Acc>(&self, acc: A, word: usize) -> u64 {
        self.records.get(acc, acc.block() * record::WORDS + word)
    }

    #[inline(always)]
    pub(super) fn set_word<A: Acc>(&self, acc: A, word: usize, value: u64) {
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
    pub(super) fn place<A: Acc>(&self, acc: A, count: u64) -> usize {
        self.place_of_current(acc) + 1 + (count & (self.rules.capacity - 1)) as usize
    }

    #[inline(always)]
    fn place_of_current<A: Acc>(&self, acc: A) -> usize {
        acc.block() * local::elements::<T>(self.rules.capacity as usize)
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

    /// Runs `body` with each task that this block gets, until no task is left, or the run ends early. All threads of the block
    /// call it, and each of them runs `body` with the same tasks, with a block barrier between two of them.
    ///
    /// Blocks that find nothing wait for those that have tasks; it waits for no block that has not come here. Called again in
    /// the same launch it finds nothing.
    ///
    /// # Memory ordering
    /// What the threads of a block do in a task happens before what any thread does in a task that it makes. What they do in
    /// tasks does *not* happen before the return of other blocks: a grid barrier does that.
    ///
    /// # Panics
    /// If the grid has more blocks than the [memory](crate::host::tasks::TaskMemory) was made for.
    #[inline(always)]
    pub fn each<A: Acc>(&self, acc: A, mut body: impl FnMut(T, Spawner<'_, 'a, T>)) {
        let mut holding = false;
        self.promise_to_finish(acc);
        while acc.broadcast(|| u32::from(self.next(acc, &mut holding))) != 0 {
            body(self.current(acc), self.spawner());
            acc.sync_block();
        }
    }

    /// Ends the task under way and chooses the next; `false` if the run is over. Called by the block's first thread, past a
    /// barrier that orders it after the spawns of the others. `holding`: whether the block is counted as outstanding.
    #[inline(always)]
    pub(crate) fn next<A: Acc>(&self, acc: A, holding: &mut bool) -> bool {
        if *holding {
            self.set_word(acc, record::UNDER_WAY, record::NONE);
            self.count(acc, record::TASKS, 1);
        }
        // Past that: who leaves here has no task under way.
        acc.check_in();
        if self
            .cancelled
            .is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
        {
            self.stop(acc, 0);
            return false;
        }
        let attention = self.attention().load(acc, Ordering::Relaxed);
        if attention & control::STOP != 0 {
            return false;
        }
        let (first, end) = (self.word(acc, record::FIRST), self.word(acc, record::END));
        let mut len = end - first;
        let surplus = if len > self.rules.keep {
            len - self.rules.keep / 2
        } else {
            0
        };
        let wanted = if self.by_generation() {
            // What tasks have made belongs to the next one.
            let mark = self.word(acc, record::MARK);
            if first >= mark || surplus > 0 {
                surplus.max(end.saturating_sub(mark))
            } else {
                0
            }
        } else if surplus > 0 {
            surplus
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
        if len == 0 {
            if !self.refill(acc, holding) {
                return false;
            }
            if self.by_generation() {
                self.set_word(acc, record::MARK, self.word(acc, record::END));
            }
        }
        self.take(acc);
        true
    }

    /// Moves the task that is next in order to where the block finds it.
    #[inline(always)]
    fn take<A: Acc>(&self, acc: A) {
        let (first, end) = (self.word(acc, record::FIRST), self.word(acc, record::END));
        let oldest = match self.rules.order {
            Order::Fifo => true,
            // What is newest may belong to the next generation.
            Order::Lifo => self.by_generation() && (first + 1..end).contains(&self.word(acc, record::MARK)),
        };
        let chosen = if oldest { first } else { end - 1 };
        let task = self.local.get(acc, self.place(acc, chosen));
        self.local.set(acc, self.place_of_current(acc), task);
        // From here on it is not in the buffer, whatever the other words say.
        self.set_word(acc, record::UNDER_WAY, record::TAKEN + chosen);
        let end = if oldest { end } else { chosen };
        if oldest {
            self.set_word(acc, record::FIRST, first + 1);
        } else {
            self.set_word(acc, record::END, end);
        }
        if self.by_generation() {
            let mark = self.word(acc, record::MARK);
            // Only what found no place in the ring is left: it is worked off, and all of it belongs to this generation.
            let mark = if first < mark { mark.min(end) } else { end };
            self.set_word(acc, record::MARK, mark);
        }
        self.set_word(acc, record::BASE, end);
        self.set_word(acc, record::UNDER_WAY, record::BEGUN);
    }

    /// Moves up to `wanted` of the block's tasks to the ring; returns how many. The oldest, which have most work in them; by
    /// generations the newest, which belong to the next.
    #[cold]
    fn share<A: Acc>(&self, acc: A, wanted: u64) -> u64 {
        // Raised before anybody can see the tasks: the block that pops them lowers it.
        if self.raised_first() {
            self.raise(acc, wanted);
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
            self.raise(acc, wanted);
        }
        if shared < wanted {
            self.lower(acc, wanted - shared);
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
                    self.stop(acc, control::NO_ROOM);
                    return false;
                }
            }
            *len -= self.share(acc, *len - self.rules.keep / 2);
        }
        true
    }

    /// Ends the run early: the others leave before their next task.
    #[cold]
    fn stop<A: Acc>(&self, acc: A, why: u64) {
        self.outstanding().promise_drained(acc, None);
        self.attention().fetch_or(acc, control::STOP | why, Ordering::Relaxed);
        self.ring.close(acc);
    }

    /// Gets tasks, the oldest or the newest first, waiting for them if others may still make some; `false` if the run is over.
    #[cold]
    fn refill<A: Acc>(&self, acc: A, holding: &mut bool) -> bool {
        loop {
            if self.attention().load(acc, Ordering::Relaxed) & control::STOP != 0 {
                return false;
            }
            // The seeds are the oldest. Newest first means less memory, oldest first means in order of generations.
            if self.rules.order == Order::Fifo && self.claim_seeds(acc, holding) {
                return true;
            }
            let popped = self.pop(acc, holding);
            if let Popped::Some(_) = popped {
                return true;
            }
            if self.rules.order == Order::Lifo && self.claim_seeds(acc, holding) {
                return true;
            }
            match popped {
                Popped::Some(_) => unreachable!("returned above"),
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

    /// How many of `left` tasks a block takes at once: a part, so that some is left for the others.
    #[inline(always)]
    fn part<A: Acc>(&self, acc: A, left: u64) -> u64 {
        (left / (2 * acc.blocks() as u64)).clamp(1, self.rules.keep.max(1))
    }

    /// Gets tasks from the ring.
    #[inline(always)]
    fn pop<A: Acc>(&self, acc: A, holding: &mut bool) -> Popped {
        let most = self.part(acc, self.ring.len(acc));
        let mut end = self.word(acc, record::END);
        let popped = self.ring.pop(acc, most, self.rules.generation_end, |task| {
            self.local.set(acc, self.place(acc, end), task);
            end += 1;
            self.set_word(acc, record::END, end);
        });
        if let Popped::Some(count) = popped {
            self.count(acc, record::CLAIMS, 1);
            // They were outstanding one by one; now the block is.
            let less = if *holding { count } else { count - 1 };
            if less > 0 {
                self.lower(acc, less);
            }
            *holding = true;
        }
        popped
    }

    /// Gets seeds that nobody has claimed yet, if there are any.
    #[inline(always)]
    fn claim_seeds<A: Acc>(&self, acc: A, holding: &mut bool) -> bool {
        let all = self.seeds.len() as u64;
        let claimed = self.claimed_seeds().load(acc, Ordering::Relaxed);
        if claimed >= all {
            return false;
        }
        // Counted before it has any: the one who gets the last ends what the seeds count for.
        if self.raised_first() && !core::mem::replace(holding, true) {
            self.raise(acc, 1);
        }
        let most = if self.rules.most_spawns == 0 {
            u64::MAX
        } else {
            MOST_SEEDS
        };
        let part = self.part(acc, all - claimed).min(most);
        let start = self.claimed_seeds().fetch_add(acc, part, Ordering::AcqRel);
        if start >= all {
            return false;
        }
        let range = start..all.min(start + part);
        let mut end = self.word(acc, record::END);
        for seed in range.clone() {
            self.local.set(acc, self.place(acc, end), self.seeds[seed as usize]);
            end += 1;
        }
        self.set_word(acc, record::END, end);
        self.count(acc, record::CLAIMS, 1);
        if !self.raised_first() && !core::mem::replace(holding, true) {
            self.raise(acc, 1);
        }
        if range.end == all {
            self.lower(acc, 1);
        }
        true
    }

    /// Waits until tasks are pushed, or the run is over: then `false`.
    fn wait_for_tasks<A: Acc>(&self, acc: A, holding: &mut bool, tail: u64) -> bool {
        if core::mem::take(holding) && self.lower(acc, 1) {
            self.ring.close(acc);
            return false;
        }
        if tail & CLOSED != 0 {
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
