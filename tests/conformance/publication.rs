//! Publication: what one writes, another sees, through a flag of sufficient order and scope.
//!
//! Blocks wait for each other only in cooperative launches: elsewhere the one waited for may never start.

use gridwise::prelude::*;

use crate::support::{queue, several_blocks, team};

const WORDS: usize = 16;

/// How the message is published.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
enum By {
    Flag,
    Fence,
}

/// Block 0 writes a message and raises a flag; the others wait for the flag, read, and confirm. Round after round.
#[repr(C)]
struct Message<'a> {
    by: By,
    rounds: u32,
    message: SpanMut<'a, u32>,
    flag: SpanMut<'a, u32>,
    confirmed: SpanMut<'a, u32>,
    wrong: SpanMut<'a, u32>,
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

fn messages(device: &Device, by: By) {
    let Some(blocks) = several_blocks(device) else { return };
    let queue = queue(device);
    let mut message = device.zeroed(WORDS).unwrap();
    let (mut flag, mut confirmed) = (device.zeroed(1).unwrap(), device.zeroed(1).unwrap());
    let mut wrong = device.zeroed(1).unwrap();
    let kernel = Message {
        by,
        rounds: 300,
        message: message.span_mut(),
        flag: flag.span_mut(),
        confirmed: confirmed.span_mut(),
        wrong: wrong.span_mut(),
    };
    queue.launch_cooperative(Blocks::Exactly(blocks), kernel).unwrap();
    assert_eq!(queue.download(&wrong).unwrap(), [0]);
    assert_eq!(queue.download(&confirmed).unwrap(), [300 * (blocks as u32 - 1)]);
}

pub(crate) fn a_block_publishes_to_another_at_device_scope(device: &Device) {
    messages(device, By::Flag);
}

pub(crate) fn a_fence_publishes_to_another_block(device: &Device) {
    messages(device, By::Fence);
}

/// The last thread of a block writes to device memory, and raises a flag in shared memory for the first.
#[repr(C)]
struct InBlock<'a> {
    data: SpanMut<'a, u64>,
    wrong: SpanMut<'a, u32>,
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

pub(crate) fn a_thread_publishes_to_its_block_at_block_scope(device: &Device) {
    let Some(threads) = team(device, 3) else { return };
    let queue = queue(device);
    let (mut data, mut wrong) = (device.zeroed(5).unwrap(), device.zeroed(1).unwrap());
    let kernel = InBlock {
        data: data.span_mut(),
        wrong: wrong.span_mut(),
    };
    queue.launch(Blocks::Exactly(5).threads(threads), kernel).unwrap();
    assert_eq!(queue.download(&wrong).unwrap(), [0]);
    assert_eq!(queue.download(&data).unwrap(), [700; 5]);
}

/// A token goes round the blocks; whoever has it adds to a plain number.
#[repr(C)]
struct Token<'a> {
    rounds: u32,
    token: SpanMut<'a, u32>,
    number: SpanMut<'a, u64>,
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

pub(crate) fn a_message_goes_round_all_blocks(device: &Device) {
    let queue = queue(device);
    let (mut token, mut number) = (device.zeroed(1).unwrap(), device.zeroed(1).unwrap());
    let kernel = Token {
        rounds: 100,
        token: token.span_mut(),
        number: number.span_mut(),
    };
    queue.launch_cooperative(Blocks::Resident, kernel).unwrap();
    let turns = 100 * device.most_resident_blocks() as u64;
    let expected = (0..turns).fold(0_u64, |number, turn| number.wrapping_mul(3).wrapping_add(turn));
    assert_eq!(queue.download(&number).unwrap(), [expected]);
}

/// The first block counts up; the others wait for any odd number.
#[repr(C)]
struct Odd<'a> {
    count: SpanMut<'a, u32>,
    seen: SpanMut<'a, u32>,
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

pub(crate) fn a_wait_returns_the_value_it_accepted(device: &Device) {
    let Some(blocks) = several_blocks(device) else { return };
    let queue = queue(device);
    let (mut count, mut seen) = (device.zeroed(1).unwrap(), device.zeroed(blocks).unwrap());
    let kernel = Odd {
        count: count.span_mut(),
        seen: seen.span_mut(),
    };
    queue.launch_cooperative(Blocks::Exactly(blocks), kernel).unwrap();
    let seen = queue.download(&seen).unwrap();
    assert!(seen[1..].iter().all(|seen| seen % 2 == 1), "{seen:?}");
}
