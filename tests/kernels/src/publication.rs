//! Kernels of the suite `publication`.

use gridwise::prelude::*;

pub const WORDS: usize = 16;

/// How the message is published.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum By {
    Flag,
    Fence,
}

/// Block 0 writes a message and raises a flag; the others wait for the flag, read, and confirm. Round after round.
#[repr(C)]
pub struct Message<'a> {
    pub by: By,
    pub rounds: u32,
    pub message: SpanMut<'a, u32>,
    pub flag: SpanMut<'a, u32>,
    pub confirmed: SpanMut<'a, u32>,
    pub wrong: SpanMut<'a, u32>,
}

// SAFETY: the message is written when all have confirmed the one before, and read when the flag is raised; both are release
// and acquire, or relaxed between fences. One thread a block takes part.
unsafe impl GridKernel for Message<'_> {
    const NAME: &'static str = "message";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        if acc.thread_index() > 0 {
            return;
        }
        let (flag, confirmed) = (self.flag.atomic(0), self.confirmed.atomic(0));
        let readers = acc.block_count() as u32 - 1;
        let (release, acquire) = match self.by {
            By::Flag => (Ordering::Release, Ordering::Acquire),
            By::Fence => (Ordering::Relaxed, Ordering::Relaxed),
        };
        let fence = |order| {
            if self.by == By::Fence {
                acc.fence(order, Scope::Device);
            }
        };
        for round in 1..=self.rounds {
            if acc.block_index() == 0 {
                (0..WORDS).for_each(|i| self.message.set(acc, i, round * 100 + i as u32));
                fence(Ordering::Release);
                flag.store(acc, round, release);
                confirmed.wait_until(acc, acquire, |count| count == round * readers);
                fence(Ordering::Acquire);
            } else {
                flag.wait_until(acc, acquire, |now| now == round);
                fence(Ordering::Acquire);
                let wrong = (0..WORDS).filter(|&i| self.message.get(acc, i) != round * 100 + i as u32);
                self.wrong
                    .atomic(0)
                    .fetch_add(acc, wrong.count() as u32, Ordering::Relaxed);
                fence(Ordering::Release);
                confirmed.fetch_add(acc, 1, release);
            }
        }
    }
}

/// The last thread of a block writes to device memory, and raises a flag in shared memory for the first.
#[repr(C)]
pub struct InBlock<'a> {
    pub data: SpanMut<'a, u64>,
    pub wrong: SpanMut<'a, u32>,
}

// SAFETY: each block has its own element, written before the flag is raised and read after it is seen; the flag is cleared
// before a barrier.
unsafe impl Kernel for InBlock<'_> {
    const NAME: &'static str = "in_block";
    type Shared = SharedArray<u32, 2>;

    fn run<A: Acc>(self, acc: A, flags: Self::Shared) {
        let (block, thread) = (acc.block_index(), acc.thread_index());
        if thread == 0 {
            flags.set(acc, 0, 0);
            flags.set(acc, 1, 0);
        }
        acc.sync_block();
        let (there, back) = (flags.atomic(0), flags.atomic(1));
        for round in 1..=100_u32 {
            if thread == acc.thread_count() - 1 {
                self.data.set(acc, block, u64::from(round) * 7);
                there.store(acc, round, Ordering::Release);
                back.wait_until(acc, Ordering::Acquire, |now| now == round);
            } else if thread == 0 {
                there.wait_until(acc, Ordering::Acquire, |now| now == round);
                if self.data.get(acc, block) != u64::from(round) * 7 {
                    self.wrong.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
                }
                back.store(acc, round, Ordering::Release);
            }
        }
    }
}

/// A token goes round the blocks; whoever has it adds to a plain number.
#[repr(C)]
pub struct Token<'a> {
    pub rounds: u32,
    pub token: SpanMut<'a, u32>,
    pub number: SpanMut<'a, u64>,
}

// SAFETY: the number is accessed only by the block that holds the token, which is passed on by release and acquire.
unsafe impl GridKernel for Token<'_> {
    const NAME: &'static str = "token";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        if acc.thread_index() > 0 {
            return;
        }
        let (block, blocks) = (acc.block_index() as u32, acc.block_count() as u32);
        let token = self.token.atomic(0);
        for round in 0..self.rounds {
            let mine = round * blocks + block;
            token.wait_until(acc, Ordering::Acquire, |now| now == mine);
            self.number
                .set(acc, 0, self.number.get(acc, 0).wrapping_mul(3) + u64::from(mine));
            token.fetch_add(acc, 1, Ordering::Release);
        }
    }
}

/// The first block counts up; the others wait for any odd number.
#[repr(C)]
pub struct Odd<'a> {
    pub count: SpanMut<'a, u32>,
    pub seen: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic; each block's first thread writes its own element.
unsafe impl GridKernel for Odd<'_> {
    const NAME: &'static str = "odd";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        if acc.thread_index() > 0 {
            return;
        }
        let count = self.count.atomic(0);
        if acc.block_index() == 0 {
            for _ in 0..1001 {
                count.fetch_add(acc, 1, Ordering::Relaxed);
            }
        } else {
            let seen = count.wait_until(acc, Ordering::Relaxed, |now| now % 2 == 1);
            self.seen.set(acc, acc.block_index(), seen);
        }
    }
}
