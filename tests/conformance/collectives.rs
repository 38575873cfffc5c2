//! Collectives of block, grid and warp: in order, the same everywhere.

use gridwise::{Pod, prelude::*};

use crate::support::{Affine, affine, blocks_of, cooperative_grids, queue, skew, team, then};

/// Blocks in which the tests of this file run.
fn shapes(device: &Device) -> impl Iterator<Item = usize> {
    [1, 2, 3, 4, 5, 7, 8]
        .into_iter()
        .filter(move |&threads| threads == 1 || team(device, threads) == Some(threads))
}

/// Broadcasts a number that only the first thread knows.
#[repr(C)]
struct Broadcast<'a> {
    evaluations: SpanMut<'a, u32>,
    out: SpanMut<'a, u64>,
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
        self.out.set(acc, block * acc.thread_count() + thread, sum);
    }
}

pub(crate) fn broadcast_evaluates_once_and_reaches_all(device: &Device) {
    let queue = queue(device);
    for threads in shapes(device) {
        let mut evaluations = device.zeroed(1).unwrap();
        let mut out = device.zeroed(3 * threads).unwrap();
        let kernel = Broadcast {
            evaluations: evaluations.span_mut(),
            out: out.span_mut(),
        };
        queue.launch(Blocks::Exactly(3).threads(threads), kernel).unwrap();
        assert_eq!(queue.download(&evaluations).unwrap(), [3 * 20]);
        let expected: Vec<u64> = (0..3).flat_map(|block| vec![20 * 100 * block + 190; threads]).collect();
        assert_eq!(queue.download(&out).unwrap(), expected);
    }
}

/// Reduction, inclusive and exclusive scan of maps that do not commute. Eight words a thread.
#[repr(C)]
struct BlockCollectives<'a> {
    out: SpanMut<'a, Affine>,
}

const PARTS: usize = 5;
const IDENTITY: Affine = [1, 0];

// SAFETY: each thread writes its own elements.
unsafe impl Kernel for BlockCollectives<'_> {
    const NAME: &'static str = "block_collectives";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let (thread, threads) = (acc.thread_index(), acc.thread_count());
        let own = affine(thread);
        let total = acc.reduce_block(own, then);
        let (inclusive, total_inclusive) = acc.inclusive_scan_block(own, then);
        let (exclusive, total_exclusive) = acc.exclusive_scan_block(own, IDENTITY, then);
        let first = PARTS * (acc.block_index() * threads + thread);
        let parts = [total, inclusive, total_inclusive, exclusive, total_exclusive];
        for (i, part) in parts.into_iter().enumerate() {
            self.out.set(acc, first + i, part);
        }
    }
}

fn block_collectives(device: &Device, check: impl Fn(usize, usize, &[Affine])) {
    let queue = queue(device);
    for threads in shapes(device) {
        let mut out = device.zeroed(2 * threads * PARTS).unwrap();
        let kernel = BlockCollectives { out: out.span_mut() };
        queue.launch(Blocks::Exactly(2).threads(threads), kernel).unwrap();
        for block in queue.download(&out).unwrap().chunks(threads * PARTS) {
            for (thread, parts) in block.chunks(PARTS).enumerate() {
                check(threads, thread, parts);
            }
        }
    }
}

fn first(threads: usize) -> Affine {
    (0..threads).map(affine).fold(IDENTITY, then)
}

// fault A6.15: blocks whose size is no multiple of the warp.
pub(crate) fn reduce_block_combines_in_order(device: &Device) {
    block_collectives(device, |threads, _, parts| assert_eq!(parts[0], first(threads)));
}

// fault A6.15, A11.3
pub(crate) fn scans_of_a_block_combine_in_order(device: &Device) {
    block_collectives(device, |threads, thread, parts| {
        let expected = [first(thread + 1), first(threads), first(thread), first(threads)];
        assert_eq!(parts[1..], expected, "thread {thread} of {threads}");
    });
}

/// Collectives of all kinds and types, back to back: none may disturb the scratch of another.
#[repr(C)]
struct BackToBack<'a> {
    wrong: SpanMut<'a, u32>,
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

pub(crate) fn collectives_of_different_types_follow_each_other(device: &Device) {
    let queue = queue(device);
    for threads in shapes(device) {
        let mut wrong = device.zeroed(1).unwrap();
        let kernel = BackToBack {
            wrong: wrong.span_mut(),
        };
        queue.launch(Blocks::Exactly(3).threads(threads), kernel).unwrap();
        assert_eq!(queue.download(&wrong).unwrap(), [0], "blocks of {threads}");
    }
}

/// One reduction of the grid after the other; every thread keeps all results.
#[repr(C)]
struct GridReductions<'a, T> {
    values: Span<'a, T>,
    rounds: usize,
    /// Threads of the grid × rounds.
    out: SpanMut<'a, T>,
    op: fn(T, T) -> T,
}

// SAFETY: each thread writes its own elements; all take part in every reduction.
unsafe impl<T: Pod> GridKernel for GridReductions<'_, T> {
    const NAME: &'static str = "grid_reductions";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let thread = acc.block_index() * acc.thread_count() + acc.thread_index();
        for round in 0..self.rounds {
            skew((thread * 31 + round * 17) % 60);
            let total = acc.reduce_grid(self.values[(thread + round) % self.values.len()], self.op);
            if (thread + 1) * self.rounds <= self.out.len() {
                self.out.set(acc, thread * self.rounds + round, total);
            }
        }
    }
}

/// Runs `rounds` reductions of `values` on `grid`; returns each thread's results.
fn grid_reductions<T: Pod>(
    device: &Device,
    threads: usize,
    rounds: usize,
    values: &[T],
    op: fn(T, T) -> T,
) -> Vec<Vec<T>> {
    let queue = queue(device);
    let residents = blocks_of(device, threads);
    let values = queue.upload(values).unwrap();
    let mut out = device.zeroed(residents * threads * rounds).unwrap();
    let kernel = GridReductions {
        values: values.span(),
        rounds,
        out: out.span_mut(),
        op,
    };
    queue
        .launch_cooperative(Blocks::Exactly(residents).threads(threads), kernel)
        .unwrap();
    queue
        .download(&out)
        .unwrap()
        .chunks(rounds)
        .map(<[T]>::to_vec)
        .collect()
}

pub(crate) fn reduce_grid_combines_in_order_and_gives_all_the_same(device: &Device) {
    let values: Vec<Affine> = (0..1000).map(affine).collect();
    for threads in shapes(device) {
        let results = grid_reductions(device, threads, 1, &values, then);
        let expected = vec![first(results.len())];
        assert!(results.iter().all(|result| *result == expected), "blocks of {threads}");
    }
}

pub(crate) fn reduce_grid_of_floats_gives_all_the_same_bits_every_time(device: &Device) {
    // Values whose sum depends on the order.
    let values: Vec<f64> = (0..37)
        .map(|i| [1e16, 1.0, -1e16, 0.1][i % 4] / (i + 1) as f64)
        .collect();
    for threads in shapes(device) {
        let results = grid_reductions(device, threads, 8, &values, |a, b| a + b);
        let bits = |row: &Vec<f64>| row.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
        assert!(
            results.iter().all(|row| bits(row) == bits(&results[0])),
            "threads differ"
        );
        let again = grid_reductions(device, threads, 8, &values, |a, b| a + b);
        assert_eq!(bits(&results[0]), bits(&again[0]), "runs differ");
    }
}

// fault A2.15: two reductions share a buffer without order between them.
pub(crate) fn reductions_of_a_grid_follow_each_other(device: &Device) {
    let values: Vec<u64> = (0..101).map(|i| i * i + 1).collect();
    for threads in shapes(device) {
        let results = grid_reductions(device, threads, 200, &values, |a, b| a.wrapping_add(b));
        let all = results.len();
        let expected: Vec<u64> = (0..200)
            .map(|round| (0..all).map(|thread| values[(thread + round) % values.len()]).sum())
            .collect();
        assert!(results.iter().all(|row| *row == expected), "blocks of {threads}");
    }
}

/// The largest value that collectives take.
#[repr(C)]
struct LargeValues<'a> {
    out: SpanMut<'a, u64>,
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

pub(crate) fn collectives_take_values_of_64_bytes(device: &Device) {
    let queue = queue(device);
    for grid in cooperative_grids(device) {
        let mut out = device.zeroed(8).unwrap();
        queue
            .launch_cooperative(grid, LargeValues { out: out.span_mut() })
            .unwrap();
        assert_eq!(queue.download(&out).unwrap(), [0; 8], "{grid:?}");
    }
}

/// Votes and shuffles, checked against what the lanes say.
#[repr(C)]
struct Warps<'a> {
    wrong: SpanMut<'a, u32>,
    threads_seen: SpanMut<'a, u32>,
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

pub(crate) fn warp_votes_and_shuffles_follow_the_lanes(device: &Device) {
    let queue = queue(device);
    for threads in shapes(device) {
        let (mut wrong, mut threads_seen) = (device.zeroed(1).unwrap(), device.zeroed(1).unwrap());
        let kernel = Warps {
            wrong: wrong.span_mut(),
            threads_seen: threads_seen.span_mut(),
        };
        queue.launch(Blocks::Exactly(2).threads(threads), kernel).unwrap();
        assert_eq!(queue.download(&wrong).unwrap(), [0], "blocks of {threads}");
        assert_eq!(queue.download(&threads_seen).unwrap(), [2 * threads as u32]);
    }
}
