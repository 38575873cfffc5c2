//! Kernels of the suite `collectives`.

use gridwise::{Pod, prelude::*};

use crate::support::{Affine, affine, skew, then};

/// Broadcasts a number that only the first thread knows.
#[repr(C)]
pub struct Broadcast<'a> {
    pub evaluations: SpanMut<'a, u32>,
    pub out: SpanMut<'a, u64>,
}

// SAFETY: evaluations are counted atomically; each thread writes its own element.
unsafe impl Kernel for Broadcast<'_> {
    const NAME: &'static str = "broadcast";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let (block, thread) = (acc.block_index(), acc.thread_index());
        let mut sum = 0;
        for round in 0..20 {
            sum += acc.broadcast(|| {
                self.evaluations.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
                (1000 * thread + 100 * block + round) as u64
            });
        }
        self.out.set(acc, acc.thread_index_in_grid(), sum);
    }
}

/// Reduction, inclusive and exclusive scan of maps that do not commute. Eight words a thread.
#[repr(C)]
pub struct BlockCollectives<'a> {
    pub out: SpanMut<'a, Affine>,
}

pub const PARTS: usize = 5;
pub const IDENTITY: Affine = [1, 0];

// SAFETY: each thread writes its own elements.
unsafe impl Kernel for BlockCollectives<'_> {
    const NAME: &'static str = "block_collectives";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let own = affine(acc.thread_index());
        let total = acc.reduce_block(own, then);
        let (inclusive, total_inclusive) = acc.inclusive_scan_block(own, then);
        let (exclusive, total_exclusive) = acc.exclusive_scan_block(own, IDENTITY, then);
        let first = PARTS * acc.thread_index_in_grid();
        let parts = [total, inclusive, total_inclusive, exclusive, total_exclusive];
        for (i, part) in parts.into_iter().enumerate() {
            self.out.set(acc, first + i, part);
        }
    }
}

/// Collectives of all kinds and types, back to back: none may disturb the scratch of another.
#[repr(C)]
pub struct BackToBack<'a> {
    pub wrong: SpanMut<'a, u32>,
}

// SAFETY: `wrong` is atomic.
unsafe impl Kernel for BackToBack<'_> {
    const NAME: &'static str = "back_to_back";
    type Shared = SharedArray<u8, 16>;

    fn run<A: Acc>(self, acc: A, own: Self::Shared) {
        let (thread, threads) = (acc.thread_index(), acc.thread_count());
        own.set(acc, thread, thread as u8);
        let mut right = true;
        for round in 0..50_usize {
            skew((thread * 37 + round * 11) % 100);
            right &= acc.reduce_block(thread as u8 + 1, u8::max) == threads as u8;
            right &= acc.broadcast(|| round as f32 + 0.5) == round as f32 + 0.5;
            right &=
                acc.reduce_block([thread, round], |a, b| [a[0] + b[0], b[1]]) == [threads * (threads - 1) / 2, round];
            right &= acc.sync_block_count(thread % 2 == round % 2) == (threads + 1 - round % 2) / 2;
            right &= acc.inclusive_scan_block(1_u16, |a, b| a + b) == (thread as u16 + 1, threads as u16);
            right &= acc.broadcast(|| [round as u64; 8]) == [round as u64; 8];
        }
        right &= own.get(acc, thread) == thread as u8;
        if !right {
            self.wrong.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
        }
    }
}

/// How two values combine.
pub trait Combine: Pod {
    fn combine(self, other: Self) -> Self;
}
impl Combine for Affine {
    fn combine(self, other: Self) -> Self {
        then(self, other)
    }
}
impl Combine for f64 {
    fn combine(self, other: Self) -> Self {
        self + other
    }
}
impl Combine for u64 {
    fn combine(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

/// One reduction of the grid after the other; every thread keeps all results.
#[repr(C)]
pub struct GridReductions<'a, T> {
    pub values: Span<'a, T>,
    pub rounds: usize,
    /// Threads of the grid × rounds.
    pub out: SpanMut<'a, T>,
}

// SAFETY: each thread writes its own elements; all take part in every reduction.
unsafe impl<T: Combine> GridKernel for GridReductions<'_, T> {
    const NAME: &'static str = "grid_reductions";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let thread = acc.thread_index_in_grid();
        for round in 0..self.rounds {
            skew((thread * 31 + round * 17) % 60);
            let total = acc.reduce_grid(self.values[(thread + round) % self.values.len()], T::combine);
            if (thread + 1) * self.rounds <= self.out.len() {
                self.out.set(acc, thread * self.rounds + round, total);
            }
        }
    }
}

/// The largest value that collectives take.
#[repr(C)]
pub struct LargeValues<'a> {
    pub out: SpanMut<'a, u64>,
}

// SAFETY: the first thread of the grid writes `out`.
unsafe impl GridKernel for LargeValues<'_> {
    const NAME: &'static str = "large_values";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let sum = |a: [u64; 8], b: [u64; 8]| core::array::from_fn(|i| a[i] + b[i]);
        let own = core::array::from_fn(|i| i as u64 + 1);
        let of_block = acc.reduce_block(own, sum);
        let of_grid = acc.reduce_grid(own, sum);
        let (prefix, _) = acc.inclusive_scan_block(own, sum);
        let members = [
            acc.thread_count() as u64,
            (acc.thread_count() * acc.block_count()) as u64,
            acc.thread_index() as u64 + 1,
        ];
        for (i, value) in own.into_iter().enumerate() {
            let right = [of_block[i], of_grid[i], prefix[i]] == members.map(|members| members * value);
            self.out.atomic(i).fetch_add(acc, u64::from(!right), Ordering::Relaxed);
        }
    }
}

/// Votes and shuffles, checked against what the lanes say.
#[repr(C)]
pub struct Warps<'a> {
    pub wrong: SpanMut<'a, u32>,
    pub threads_seen: SpanMut<'a, u32>,
}

// SAFETY: everything is atomic; all lanes of a warp vote and shuffle together.
unsafe impl Kernel for Warps<'_> {
    const NAME: &'static str = "warps";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let (lane, lanes, warp) = (acc.lane(), acc.lane_count(), acc.warp_index());
        let mut right = lane < lanes && lanes <= 64 && warp < acc.warp_count();
        for bit in 0..6 {
            let vote = |lane: usize| lane >> bit & 1 == 1;
            let expected = (0..lanes)
                .filter(|&lane| vote(lane))
                .fold(0, |ballot, lane| ballot | 1_u64 << lane);
            right &= acc.warp_ballot(vote(lane)) == expected;
            right &= acc.warp_any(vote(lane)) == (expected != 0);
            right &= acc.warp_all(vote(lane)) == (expected.count_ones() as usize == lanes);
        }
        right &= acc.warp_all(true) && acc.warp_any(true) && !acc.warp_any(false);
        let value = |lane: usize| (1000 * warp + lane) as f64;
        for other in [0, 1, 2, 31, 63, 64, usize::MAX] {
            let if_there = |from: usize| value(if from < lanes { from } else { lane });
            right &= acc.warp_shuffle(value(lane), other) == if_there(other);
            right &= acc.warp_shuffle_up(value(lane), other) == if_there(lane.checked_sub(other).unwrap_or(lane));
            right &= acc.warp_shuffle_down(value(lane), other) == if_there(lane.saturating_add(other));
            right &= acc.warp_shuffle_xor(value(lane), other) == if_there(lane ^ other);
        }
        self.wrong
            .atomic(0)
            .fetch_add(acc, u32::from(!right), Ordering::Relaxed);
        if lane == 0 {
            self.threads_seen
                .atomic(0)
                .fetch_add(acc, lanes as u32, Ordering::Relaxed);
        }
    }
}
