//! Kernels of the suite `chunks`.

use core::ops::Range;

use gridwise::prelude::*;

/// What hands out ranges.
pub trait Hands {
    fn each<A: Acc>(&self, acc: A, take: impl FnMut(Range<usize>));
}
impl Hands for ChunkCounter<'_> {
    fn each<A: Acc>(&self, acc: A, take: impl FnMut(Range<usize>)) {
        self.claims(acc).for_each(take);
    }
}
impl Hands for TwoLevelQueue<'_> {
    fn each<A: Acc>(&self, acc: A, take: impl FnMut(Range<usize>)) {
        self.claims(acc).for_each(take);
    }
}

/// Counts the visits of each index by one thread of the block that claimed it.
#[repr(C)]
pub struct Visit<'a, H> {
    pub hands: H,
    pub visits: SpanMut<'a, u32>,
}

// SAFETY: the visits are atomic.
unsafe impl<H: Hands> Kernel for Visit<'_, H> {
    const NAME: &'static str = "visit";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.hands.each(acc, |range| {
            for i in acc.threads_in_block(range) {
                self.visits.atomic(i).fetch_add(acc, 1, Ordering::Relaxed);
            }
        });
    }
}

/// Notes each range that is handed out, and in how many threads.
#[repr(C)]
pub struct Note<'a, H> {
    pub hands: H,
    pub used: SpanMut<'a, u64>,
    pub ranges: SpanMut<'a, u64>,
    pub threads: SpanMut<'a, u64>,
}

// SAFETY: a place of `ranges` belongs to the thread that drew it; the rest is atomic.
unsafe impl<H: Hands> Kernel for Note<'_, H> {
    const NAME: &'static str = "note";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.hands.each(acc, |range| {
            let sum = (range.start as u64).wrapping_mul(31).wrapping_add(range.end as u64);
            self.threads.atomic(0).fetch_add(acc, sum, Ordering::Relaxed);
            if acc.thread_index() == 0 {
                let place = 2 * self.used.atomic(0).fetch_add(acc, 1, Ordering::Relaxed) as usize;
                self.ranges.set(acc, place, range.start as u64);
                self.ranges.set(acc, place + 1, range.end as u64);
            }
        });
    }
}

/// Claims past the end; tells how often it got something.
#[repr(C)]
pub struct Insist<'a> {
    pub counter: ChunkCounter<'a>,
    pub got: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic.
unsafe impl Kernel for Insist<'_> {
    const NAME: &'static str = "insist";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for _ in 0..10 {
            if self.counter.claim(acc).is_some() && acc.thread_index() == 0 {
                self.got.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
            }
        }
    }
}

/// The first index waits until all the others are done: the block that has it cannot help.
#[repr(C)]
pub struct Stuck<'a> {
    pub queue: TwoLevelQueue<'a>,
    pub len: usize,
    pub done: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic. It ends if others take what the waiting block has in its large piece.
unsafe impl GridKernel for Stuck<'_> {
    const NAME: &'static str = "stuck";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        for range in self.queue.claims(acc) {
            assert_eq!(range.end - range.start, 1);
            if acc.thread_index() == 0 {
                if range.start == 0 {
                    let others = self.len as u32 - 1;
                    self.done
                        .atomic(0)
                        .wait_until(acc, Ordering::Acquire, |done| done == others);
                }
                self.done.atomic(0).fetch_add(acc, 1, Ordering::Release);
            }
        }
    }
}
