//! The collectives on a small machine with warps of four: the CPU has warps of one, so its tests do not reach the shuffles.

use std::{
    cell::UnsafeCell,
    ops::Range,
    sync::{Barrier, Mutex},
};

use core::sync::atomic::Ordering;

use super::*;
use crate::kernel::{
    atomic::{Scope, Word},
    hardware::{Rmw, Sealed, Stretch, WaitSite, contiguous},
};

const WARP: usize = 4;

/// One block of OS threads. Lanes of a warp meet at a barrier of their own to exchange values.
struct Machine {
    threads: usize,
    block: Barrier,
    warps: Vec<Warp>,
    scratch: Vec<UnsafeCell<[u8; SLOT_BYTES]>>,
}

struct Warp {
    barrier: Barrier,
    lanes: Mutex<[[u8; SLOT_BYTES]; WARP]>,
}

// SAFETY: the scratch is accessed as the collectives do, between barriers.
unsafe impl Sync for Machine {}

impl Machine {
    /// Runs `body` in each thread, and returns the results in order.
    fn run<R: Send>(threads: usize, body: impl Fn(Thread<'_>) -> R + Sync) -> Vec<R> {
        let machine = Self {
            threads,
            block: Barrier::new(threads),
            warps: (0..threads)
                .step_by(WARP)
                .map(|first| Warp {
                    barrier: Barrier::new(WARP.min(threads - first)),
                    lanes: Mutex::new([[0xEE; SLOT_BYTES]; WARP]),
                })
                .collect(),
            // Exactly what the runtime reserves.
            scratch: (0..crate::kernel::hardware::reserved_shared(threads, WARP) / SLOT_BYTES)
                .map(|_| UnsafeCell::new([0xEE; SLOT_BYTES]))
                .collect(),
        };
        let (machine, body) = (&machine, &body);
        std::thread::scope(|scope| {
            let threads: Vec<_> = (0..threads)
                .map(|thread| scope.spawn(move || body(Thread { machine, thread })))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        })
    }
}

#[derive(Clone, Copy)]
struct Thread<'a> {
    machine: &'a Machine,
    thread: usize,
}

impl Thread<'_> {
    fn slot<T>(self, place: Place<T>) -> *mut [u8; SLOT_BYTES] {
        let Place::Shared(offset) = place else {
            unreachable!("collectives use the scratch alone")
        };
        self.machine.scratch[offset / SLOT_BYTES].get()
    }

    /// Every lane shows a value; returns what all lanes showed.
    fn exchange(self, value: &[u8]) -> [[u8; SLOT_BYTES]; WARP] {
        let warp = &self.machine.warps[self.warp_index()];
        warp.lanes.lock().unwrap()[self.lane()][..value.len()].copy_from_slice(value);
        warp.barrier.wait();
        let lanes = *warp.lanes.lock().unwrap();
        warp.barrier.wait();
        lanes
    }
}

impl Sealed for Thread<'_> {}

impl Hardware for Thread<'_> {
    type Deal = Stretch;

    fn block(self) -> usize {
        0
    }
    fn blocks(self) -> usize {
        1
    }
    fn thread(self) -> usize {
        self.thread
    }
    fn threads(self) -> usize {
        self.machine.threads
    }
    fn warp_size(self) -> usize {
        WARP
    }
    fn deal(self, range: Range<usize>, member: usize, members: usize) -> Stretch {
        contiguous(range, member, members)
    }

    unsafe fn load<T: Pod>(self, from: Place<T>) -> T {
        // SAFETY: written before the barrier, by the collectives' protocol.
        let slot = unsafe { *self.slot(from) };
        bytemuck::pod_read_unaligned(&slot[..size_of::<T>()])
    }

    unsafe fn store<T: Pod>(self, to: Place<T>, value: T) {
        // SAFETY: written by one thread between barriers, by the collectives' protocol.
        let slot = unsafe { &mut *self.slot(to) };
        slot[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    }

    unsafe fn atomic_load<T: Word>(self, _: Place<T>, _: Ordering, _: Scope) -> T {
        unreachable!("collectives use no atomics")
    }
    unsafe fn atomic_store<T: Word>(self, _: Place<T>, _: T, _: Ordering, _: Scope) {
        unreachable!("collectives use no atomics")
    }
    unsafe fn atomic_rmw<T: Word>(self, _: Place<T>, _: Rmw, _: T, _: Ordering, _: Scope) -> T {
        unreachable!("collectives use no atomics")
    }
    unsafe fn atomic_cas<T: Word>(self, _: Place<T>, _: T, _: T, _: (Ordering, Ordering), _: Scope) -> Result<T, T> {
        unreachable!("collectives use no atomics")
    }
    unsafe fn wait_until<T: Word>(
        self,
        _: Place<T>,
        _: Ordering,
        _: Scope,
        _: WaitSite,
        _: impl FnMut(T) -> bool,
    ) -> T {
        unreachable!("collectives use no atomics")
    }
    fn memory_fence(self, _: Ordering, _: Scope) {
        unreachable!("collectives use no fences")
    }

    fn block_barrier(self, _: &'static Location<'static>) {
        self.machine.block.wait();
    }
    fn scratch(self) -> usize {
        0
    }
    fn clock(self) -> u64 {
        0
    }
    fn ballot(self, vote: bool) -> u64 {
        let lanes = self.exchange(&[u8::from(vote)]);
        (0..self.lane_count())
            .map(|lane| u64::from(lanes[lane][0]) << lane)
            .sum()
    }
    fn shuffle<T: Pod>(self, value: T, from: usize) -> T {
        let lanes = self.exchange(bytemuck::bytes_of(&value));
        bytemuck::pod_read_unaligned(&lanes[from % WARP][..size_of::<T>()])
    }
}

/// The map `x -> m x + a`, as `[m, a]`.
type Map = [u64; 2];

/// One map after the other: associative, not commutative.
fn compose(first: Map, second: Map) -> Map {
    [
        first[0].wrapping_mul(second[0]),
        first[1].wrapping_mul(second[0]).wrapping_add(second[1]),
    ]
}

fn map(thread: usize, round: usize) -> Map {
    [2 * thread as u64 + 3, 7 * (thread + round) as u64 + 1]
}
fn expected(threads: Range<usize>, round: usize) -> Option<Map> {
    threads.map(|thread| map(thread, round)).reduce(compose)
}

/// One thread, an incomplete warp, one warp, an incomplete second and third one.
const SIZES: Range<usize> = 1..10;

#[test]
fn reductions_combine_in_the_order_of_the_threads_in_incomplete_warps_too() {
    for threads in SIZES {
        let rounds = 0..3;
        let results = Machine::run(threads, |acc| {
            rounds
                .clone()
                .map(|round| acc.reduce_block(map(acc.thread, round), compose))
                .collect::<Vec<_>>()
        });
        for result in results {
            let expected: Vec<_> = rounds.clone().filter_map(|round| expected(0..threads, round)).collect();
            assert_eq!(result, expected, "{threads} threads");
        }
    }
}

#[test]
fn scans_combine_in_the_order_of_the_threads_in_incomplete_warps_too() {
    const NONE: Map = [1, 0];
    for threads in SIZES {
        let results = Machine::run(threads, |acc| {
            [0, 1].map(|round| {
                let inclusive = acc.inclusive_scan_block(map(acc.thread, round), compose);
                let exclusive = acc.exclusive_scan_block(map(acc.thread, round), NONE, compose);
                (inclusive, exclusive)
            })
        });
        for (thread, result) in results.into_iter().enumerate() {
            for (round, (inclusive, exclusive)) in result.into_iter().enumerate() {
                let total = expected(0..threads, round).unwrap();
                assert_eq!(
                    inclusive,
                    (expected(0..thread + 1, round).unwrap(), total),
                    "{threads} threads"
                );
                assert_eq!(
                    exclusive,
                    (expected(0..thread, round).unwrap_or(NONE), total),
                    "{threads} threads"
                );
            }
        }
    }
}

#[test]
fn a_broadcast_reaches_every_thread_and_evaluates_once() {
    for threads in SIZES {
        let evaluated = std::sync::atomic::AtomicUsize::new(0);
        let results = Machine::run(threads, |acc| {
            [10_u64, 20].map(|value| {
                acc.broadcast(|| {
                    evaluated.fetch_add(1, Ordering::Relaxed);
                    value + acc.thread as u64
                })
            })
        });
        assert_eq!(results, vec![[10, 20]; threads]);
        assert_eq!(evaluated.into_inner(), 2);
    }
}

#[test]
fn votes_count_the_lanes_that_exist() {
    for threads in SIZES {
        let results = Machine::run(threads, |acc| {
            (
                acc.warp_all(true),
                acc.warp_any(acc.lane() == 3),
                acc.sync_block_count(acc.thread % 2 == 0),
                acc.sync_block_all(true),
                acc.sync_block_any(acc.thread + 1 == threads),
            )
        });
        for (thread, result) in results.into_iter().enumerate() {
            let has_fourth_lane = thread / WARP * WARP + 3 < threads;
            assert_eq!(
                result,
                (true, has_fourth_lane, threads.div_ceil(2), true, true),
                "{threads} threads"
            );
        }
    }
}

#[test]
fn shuffles_from_lanes_that_do_not_exist_give_ones_own_value() {
    for threads in SIZES {
        let results = Machine::run(threads, |acc| {
            let own = acc.thread as u32;
            [
                acc.warp_shuffle_up(own, 1),
                acc.warp_shuffle_down(own, 1),
                acc.warp_shuffle_xor(own, 1),
                acc.warp_shuffle(own, 0),
            ]
        });
        for (thread, result) in results.into_iter().enumerate() {
            let first = thread / WARP * WARP;
            let lanes = first..threads.min(first + WARP);
            let or_own = |from: Option<usize>| from.filter(|from| lanes.contains(from)).unwrap_or(thread) as u32;
            let lane = thread - first;
            let expected = [
                or_own(thread.checked_sub(1)),
                or_own(Some(thread + 1)),
                or_own(Some(first + (lane ^ 1))),
                or_own(Some(first)),
            ];
            assert_eq!(result, expected, "{threads} threads, thread {thread}");
        }
    }
}
