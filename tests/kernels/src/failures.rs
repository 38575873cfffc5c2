//! Kernels of the suite `failures`.

use gridwise::prelude::*;

use crate::support::pause;

/// Counts its threads past a block barrier.
#[repr(C)]
pub struct Healthy<'a> {
    pub count: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic.
unsafe impl Kernel for Healthy<'_> {
    const NAME: &'static str = "healthy";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        acc.sync_block();
        self.count.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
    }
}

/// A grid barrier by hand in a plain launch: every block counts itself and waits for all.
#[repr(C)]
pub struct HandMade<'a> {
    pub count: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic. That blocks wait for others that may not be resident is what is tested.
unsafe impl Kernel for HandMade<'_> {
    const NAME: &'static str = "hand_made";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let (count, all) = (self.count.atomic(0), acc.block_count() as u32);
        if acc.thread_index() == 0 {
            count.fetch_add(acc, 1, Ordering::AcqRel);
            count.wait_until(acc, Ordering::Acquire, |count| count == all);
        }
        acc.sync_block();
    }
}

/// Waits for what nobody does.
#[repr(C)]
pub struct Forlorn<'a> {
    pub word: SpanMut<'a, u32>,
}

// SAFETY: the word is atomic.
unsafe impl Kernel for Forlorn<'_> {
    const NAME: &'static str = "forlorn";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.word.atomic(0).wait_until(acc, Ordering::Acquire, |word| word == 1);
    }
}

/// Meets for ever.
#[repr(C)]
pub struct Endless;

// SAFETY: it touches no memory.
unsafe impl GridKernel for Endless {
    const NAME: &'static str = "endless";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        loop {
            acc.sync_grid();
        }
    }
}

/// Meets the threads of its block for ever: they are never late for each other.
#[repr(C)]
pub struct EndlessInTheBlock;

// SAFETY: it touches no memory; all threads meet the same barriers.
unsafe impl Kernel for EndlessInTheBlock {
    const NAME: &'static str = "endless_in_the_block";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        loop {
            acc.sync_block();
        }
    }
}

/// A millisecond of work a block.
#[repr(C)]
pub struct ShortBlocks;

// SAFETY: it touches no memory.
unsafe impl Kernel for ShortBlocks {
    const NAME: &'static str = "short_blocks";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        pause(acc, 1);
    }
}

/// Accesses one past the end of a span.
#[repr(C)]
pub struct PastTheEnd<'a> {
    pub store: bool,
    pub out: SpanMut<'a, u32>,
}

// SAFETY: one thread accesses `out`.
unsafe impl Kernel for PastTheEnd<'_> {
    const NAME: &'static str = "past_the_end";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..1) {
            let end = self.out.len() + i;
            if self.store {
                self.out.set(acc, end, 1);
            } else {
                self.out.get(acc, end);
            }
        }
    }
}

/// What the other threads do while one panics.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meanwhile {
    Nothing,
    BlockBarrier,
    GridBarrier,
    Wait,
}

/// One thread panics, perhaps after a while; the others meet, or wait for it.
#[repr(C)]
pub struct Fails<'a> {
    pub block: usize,
    pub thread: usize,
    /// Milliseconds until it panics.
    pub pause: u64,
    pub meanwhile: Meanwhile,
    pub word: SpanMut<'a, u32>,
}

impl Fails<'_> {
    /// Whether this thread is the one.
    fn panics<A: Acc>(&self, acc: A) {
        if (acc.block_index(), acc.thread_index()) == (self.block, self.thread) {
            pause(acc, self.pause);
            panic!("on purpose");
        }
    }

    fn wait<A: Acc>(&self, acc: A) {
        match self.meanwhile {
            Meanwhile::BlockBarrier => acc.sync_block(),
            Meanwhile::Wait => drop(self.word.atomic(0).wait_until(acc, Ordering::Acquire, |word| word == 1)),
            Meanwhile::Nothing | Meanwhile::GridBarrier => {}
        }
    }
}

// SAFETY: the word is atomic. A thread that panics ends the launch, so nobody waits for it.
unsafe impl Kernel for Fails<'_> {
    const NAME: &'static str = "fails";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        acc.sync_block();
        self.panics(acc);
        self.wait(acc);
    }
}

// SAFETY: as above.
unsafe impl GridKernel for Fails<'_> {
    const NAME: &'static str = "fails_in_grid";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        acc.sync_grid();
        self.panics(acc);
        self.wait(acc);
        if self.meanwhile == Meanwhile::GridBarrier {
            acc.sync_grid();
        }
    }
}
