//! The ring that all blocks share: a bounded queue of many producers and many consumers. The protocol is in `README.md`.

use core::sync::atomic::Ordering;

use bytemuck::Pod;

use crate::kernel::{Acc, Atomic, SpanMut};

/// Words from one that several blocks write to the next: 128 bytes, so that prefetching pairs of lines does not couple them.
pub const LINE_WORDS: usize = 16;

/// Word of the next ticket to pop.
pub(crate) const HEAD: usize = 0;
/// Word of the next ticket to push, and [`CLOSED`].
pub(crate) const TAIL: usize = LINE_WORDS;
/// Words of a ring.
#[cfg(feature = "std")]
pub(crate) const RING_WORDS: usize = 2 * LINE_WORDS;

/// In the word of the tail: nothing is pushed any more.
pub(crate) const CLOSED: u64 = 1 << 63;

/// The memory orders of the ring: named so that tests can take them away one by one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Orders {
    /// A slot's state, stored full by a producer or free by a consumer.
    pub(crate) publish: Ordering,
    /// A slot's state, read by who is about to use the slot.
    pub(crate) observe: Ordering,
}

impl Orders {
    /// The orders that the ring uses.
    pub(crate) const SOUND: Self = Self {
        publish: Ordering::Release,
        observe: Ordering::Acquire,
    };
}

/// A bounded queue in device memory. All zero, it is empty.
#[repr(C)]
pub struct Ring<'a, T> {
    words: SpanMut<'a, u64>,
    states: SpanMut<'a, u32>,
    values: SpanMut<'a, T>,
    /// Slots, as a power of two.
    shift: u32,
    #[cfg(all(test, loom))]
    pub(crate) orders: Orders,
}

/// What came of an attempt to pop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Popped {
    /// That many values.
    Some(u64),
    /// There was none, when the tail was at this word.
    None(u64),
    /// The producer of this ticket has not finished.
    Pending(u64),
}

/// What a producer that got no slot may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Room {
    /// Try again.
    Some,
    /// Nothing: as many values are in the ring as there are slots, or it is closed.
    None,
    /// Wait for the consumer that is about to free the slot of this ticket.
    Pending(u64),
}

/// The state of the slot of `ticket` while it waits for its value: twice the number of its cycle. One more, and it is full.
#[inline(always)]
pub(crate) fn free_state(ticket: u64, shift: u32) -> u32 {
    ((ticket >> shift) as u32).wrapping_mul(2)
}

impl<'a, T: Pod> Ring<'a, T> {
    /// [`RING_WORDS`] words, and as many slots as states and values, a power of two.
    #[cfg(feature = "std")]
    pub(crate) fn new(words: SpanMut<'a, u64>, states: SpanMut<'a, u32>, values: SpanMut<'a, T>) -> Self {
        debug_assert!(states.len().is_power_of_two() && states.len() == values.len());
        let shift = states.len().trailing_zeros();
        Self {
            words,
            states,
            values,
            shift,
            #[cfg(all(test, loom))]
            orders: Orders::SOUND,
        }
    }

    /// A ring without slots, to ask a kernel for its needs.
    #[cfg(feature = "std")]
    pub(crate) fn empty() -> Self {
        Self {
            words: SpanMut::new(&mut []),
            states: SpanMut::new(&mut []),
            values: SpanMut::new(&mut []),
            shift: 0,
            #[cfg(all(test, loom))]
            orders: Orders::SOUND,
        }
    }

    #[inline(always)]
    fn orders(&self) -> Orders {
        #[cfg(all(test, loom))]
        return self.orders;
        #[cfg(not(all(test, loom)))]
        Orders::SOUND
    }

    #[inline(always)]
    fn head(&self) -> Atomic<'_, u64> {
        self.words.atomic(HEAD)
    }

    #[inline(always)]
    pub(crate) fn tail(&self) -> Atomic<'_, u64> {
        self.words.atomic(TAIL)
    }

    #[inline(always)]
    fn capacity(&self) -> u64 {
        1 << self.shift
    }

    #[inline(always)]
    fn slot(&self, ticket: u64) -> usize {
        (ticket & (self.capacity() - 1)) as usize
    }

    #[inline(always)]
    fn state(&self, ticket: u64) -> Atomic<'_, u32> {
        self.states.atomic(self.slot(ticket))
    }

    #[inline(always)]
    fn is_free<A: Acc>(&self, acc: A, ticket: u64) -> bool {
        self.state(ticket).load(acc, self.orders().observe) == free_state(ticket, self.shift)
    }

    #[inline(always)]
    fn is_full<A: Acc>(&self, acc: A, ticket: u64) -> bool {
        self.state(ticket).load(acc, self.orders().observe) == free_state(ticket, self.shift).wrapping_add(1)
    }

    /// Values in the ring, about.
    #[inline(always)]
    pub(crate) fn len<A: Acc>(&self, acc: A) -> u64 {
        let head = self.head().load(acc, Ordering::Relaxed);
        let tail = self.tail().load(acc, Ordering::Relaxed) & !CLOSED;
        tail.saturating_sub(head)
    }

    /// Pushes up to `count` values, as many as there are free slots in a row; returns how many. Called by one thread.
    ///
    /// `value` gives the value of that index, and `pushed` is told when it is in the ring: a thread that leaves a failed launch
    /// in between has not pushed it.
    pub(crate) fn push<A: Acc>(
        &self,
        acc: A,
        count: u64,
        value: impl Fn(u64) -> T,
        mut pushed: impl FnMut(u64),
    ) -> u64 {
        let mut tail = self.tail().load(acc, Ordering::Relaxed);
        let taken = loop {
            if tail & CLOSED != 0 {
                return 0;
            }
            let most = count.min(self.capacity());
            let free = (0..most).take_while(|&ahead| self.is_free(acc, tail + ahead)).count() as u64;
            if free == 0 {
                let now = self.tail().load(acc, Ordering::Relaxed);
                if now == tail {
                    return 0;
                }
                tail = now;
                continue;
            }
            // Released so that who sees the tail move sees that its slot was free; and it wakes who waits for that.
            match self
                .tail()
                .compare_exchange(acc, tail, tail + free, Ordering::Release, Ordering::Relaxed)
            {
                Ok(_) => break free,
                Err(now) => tail = now,
            }
        };
        for index in 0..taken {
            let ticket = tail + index;
            self.values.set(acc, self.slot(ticket), value(index));
            let full = free_state(ticket, self.shift).wrapping_add(1);
            self.state(ticket).store(acc, full, self.orders().publish);
            pushed(index);
        }
        taken
    }

    /// Pops up to `most` values, at least 1, of tickets below `limit`. Called by one thread.
    pub(crate) fn pop<A: Acc>(&self, acc: A, most: u64, limit: u64, mut take: impl FnMut(T)) -> Popped {
        let mut head = self.head().load(acc, Ordering::Relaxed);
        let taken = loop {
            let most = most.min(limit.saturating_sub(head));
            let full = (0..most).take_while(|&ahead| self.is_full(acc, head + ahead)).count() as u64;
            if full == 0 {
                let tail = self.tail().load(acc, Ordering::Acquire);
                let now = self.head().load(acc, Ordering::Relaxed);
                if now != head {
                    head = now;
                    continue;
                }
                return if tail & !CLOSED <= head || head >= limit {
                    Popped::None(tail)
                } else {
                    Popped::Pending(head)
                };
            }
            match self
                .head()
                .compare_exchange(acc, head, head + full, Ordering::Relaxed, Ordering::Relaxed)
            {
                Ok(_) => break full,
                Err(now) => head = now,
            }
        };
        // All, before anything that a failed launch is left at.
        for ticket in head..head + taken {
            take(self.values.get(acc, self.slot(ticket)));
        }
        for ticket in head..head + taken {
            let free = free_state(ticket + self.capacity(), self.shift);
            self.state(ticket).store(acc, free, self.orders().publish);
        }
        Popped::Some(taken)
    }

    /// Waits until the producer of `ticket`, which was [pending](Popped::Pending), has finished.
    #[track_caller]
    pub(crate) fn wait_full<A: Acc>(&self, acc: A, ticket: u64) {
        let free = free_state(ticket, self.shift);
        self.state(ticket)
            .wait_until(acc, Ordering::Relaxed, |state| state != free);
    }

    /// Why a push got no slot.
    pub(crate) fn room<A: Acc>(&self, acc: A) -> Room {
        let tail = self.tail().load(acc, Ordering::Acquire);
        let head = self.head().load(acc, Ordering::Relaxed);
        if tail & CLOSED != 0 || tail.saturating_sub(head) >= self.capacity() {
            Room::None
        } else if self.is_free(acc, tail) {
            Room::Some
        } else {
            Room::Pending(tail)
        }
    }

    /// Waits until the consumer of the value before `ticket`'s, which was [pending](Room::Pending), has finished.
    #[track_caller]
    pub(crate) fn wait_free<A: Acc>(&self, acc: A, ticket: u64) {
        let free = free_state(ticket, self.shift);
        // Free, or past that: another producer may have come first.
        self.state(ticket)
            .wait_until(acc, Ordering::Relaxed, |state| state.wrapping_sub(free) <= u32::MAX / 2);
    }

    /// Ends all pushing, and wakes who waits for the tail to move.
    pub(crate) fn close<A: Acc>(&self, acc: A) {
        self.tail().fetch_or(acc, CLOSED, Ordering::Release);
    }

    /// Waits until the tail is not `seen`: something was pushed, or the ring closed. Returns whether it closed.
    #[track_caller]
    pub(crate) fn wait_for_push<A: Acc>(&self, acc: A, seen: u64) -> bool {
        let tail = self.tail().wait_until(acc, Ordering::Relaxed, |tail| tail != seen);
        tail & CLOSED != 0
    }
}
