//! The accelerator: what a kernel runs on.

use core::{panic::Location, sync::atomic::Ordering};

use bytemuck::Pod;

use super::{
    atomic::Scope,
    collective,
    domain::{Domain, Frames},
    grid_barrier,
    hardware::{GridHardware, Hardware},
};

/// One thread of one block of one grid.
///
/// It travels by value, a few words that stay in registers. Index maps cut a domain into parts that together cover it exactly
/// once, whatever the number of blocks and threads: contiguous parts on a CPU, strided ones on a GPU.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no accelerator",
    label = "no accelerator",
    note = "what a kernel does to memory takes its accelerator first: `span.set(acc, index, value)`"
)]
pub trait Acc: Hardware {
    /// Index of this block, below [`block_count`](Self::block_count).
    #[inline(always)]
    fn block_index(self) -> usize {
        self.block()
    }

    /// Blocks in the grid.
    #[inline(always)]
    fn block_count(self) -> usize {
        self.blocks()
    }

    /// Index of this thread in its block, below [`thread_count`](Self::thread_count).
    #[inline(always)]
    fn thread_index(self) -> usize {
        self.thread()
    }

    /// Threads in each block.
    #[inline(always)]
    fn thread_count(self) -> usize {
        self.threads()
    }

    /// Index of this thread in the grid, below [`thread_count_in_grid`](Self::thread_count_in_grid): block after block.
    ///
    /// For what there is one of a thread, as a partial result. What there is one of an element is better dealt out by
    /// [`threads_in_grid`](Self::threads_in_grid), which does not depend on there being as many threads.
    #[inline(always)]
    fn thread_index_in_grid(self) -> usize {
        self.block() * self.threads() + self.thread()
    }

    /// Threads in the grid.
    #[inline(always)]
    fn thread_count_in_grid(self) -> usize {
        self.blocks() * self.threads()
    }

    /// Index of this thread in its warp.
    #[inline(always)]
    fn lane(self) -> usize {
        self.thread() % self.warp_size()
    }

    /// Index of this thread's warp in its block.
    #[inline(always)]
    fn warp_index(self) -> usize {
        self.thread() / self.warp_size()
    }

    /// Warps in each block; the last may be incomplete.
    #[inline(always)]
    fn warp_count(self) -> usize {
        self.threads().div_ceil(self.warp_size())
    }

    /// Lanes of this thread's warp that exist: the warp size, or fewer in an incomplete last warp.
    #[inline(always)]
    fn lane_count(self) -> usize {
        self.warp_size()
            .min(self.threads() - self.warp_index() * self.warp_size())
    }

    /// The frames of `domain` that this block works on; the same for all threads of the block.
    ///
    /// # Panics
    /// If `frame` is 0 along an axis.
    #[inline(always)]
    #[track_caller]
    fn blocks_in_grid<D: Domain>(self, domain: D, frame: D::FrameSize) -> Frames<D, Self::Deal> {
        Frames::new(self, domain, frame, self.block(), self.blocks())
    }

    /// The frames of `domain` that this warp works on, of all warps of the grid; the same for all lanes of the warp.
    ///
    /// # Panics
    /// If `frame` is 0 along an axis.
    #[inline(always)]
    #[track_caller]
    fn warps_in_grid<D: Domain>(self, domain: D, frame: D::FrameSize) -> Frames<D, Self::Deal> {
        let member = self.block() * self.warp_count() + self.warp_index();
        Frames::new(self, domain, frame, member, self.blocks() * self.warp_count())
    }

    /// The frames of `domain` that this warp works on, of the warps of the block; the same for all lanes of the warp.
    ///
    /// # Panics
    /// If `frame` is 0 along an axis.
    #[inline(always)]
    #[track_caller]
    fn warps_in_block<D: Domain>(self, domain: D, frame: D::FrameSize) -> Frames<D, Self::Deal> {
        Frames::new(self, domain, frame, self.warp_index(), self.warp_count())
    }

    /// The indices of `domain` that this thread works on, of all threads of the grid.
    ///
    /// Which they are depends on the domain as a whole: who owns an element in one domain need not own it in another, be it only
    /// longer by one, so that a barrier belongs between the two.
    ///
    /// In several dimensions, where the body of a loop is simple, hand it to `for_each` (or `map`, `sum`, `fold`): on a CPU these are
    /// nested loops, so that what is computed from the outer indices is computed once a row, and the inner loop vectorises. A `for`
    /// loop asks for one index after another, and was several times as slow; where a closure cannot be, because the body leaves the
    /// loop or the kernel, [`runs_in_grid`](Self::runs_in_grid) gives the rows. Either way take spans that a kernel chooses by an
    /// index, as two arrays that alternate, out of their array first (`let from = self.grids[step % 2].slice(acc, ..);`): through
    /// the reference every access looks up where the span lies.
    #[inline(always)]
    fn threads_in_grid<D: Domain>(self, domain: D) -> D::Walk<Self::Deal> {
        domain.walk(self, self.thread_index_in_grid(), self.thread_count_in_grid())
    }

    /// The indices of `domain` that this thread works on, of the threads of its block; see
    /// [`threads_in_grid`](Self::threads_in_grid).
    #[inline(always)]
    fn threads_in_block<D: Domain>(self, domain: D) -> D::Walk<Self::Deal> {
        domain.walk(self, self.thread(), self.threads())
    }

    /// The indices of `domain` that this thread works on, of the lanes of its warp.
    #[inline(always)]
    fn threads_in_warp<D: Domain>(self, domain: D) -> D::Walk<Self::Deal> {
        domain.walk(self, self.lane(), self.lane_count())
    }

    /// As [`threads_in_grid`](Self::threads_in_grid), in runs along the last axis: whole rows where a thread's indices are
    /// contiguous, so that an inner loop over a run is a plain loop over slices.
    #[inline(always)]
    fn runs_in_grid<D: Domain>(self, domain: D) -> D::Runs<Self::Deal> {
        domain.runs(self, self.thread_index_in_grid(), self.thread_count_in_grid())
    }

    /// As [`threads_in_block`](Self::threads_in_block), in runs along the last axis.
    #[inline(always)]
    fn runs_in_block<D: Domain>(self, domain: D) -> D::Runs<Self::Deal> {
        domain.runs(self, self.thread(), self.threads())
    }

    /// Waits until all threads of the block have arrived here.
    ///
    /// Every thread of the block has to call it, the same number of times. A thread that leaves the kernel instead is reported
    /// as a deadlock.
    ///
    /// # Memory ordering
    /// Whatever a thread of the block did before, to shared or device memory, happens before whatever any thread of the block
    /// does after.
    #[inline(always)]
    #[track_caller]
    fn sync_block(self) {
        self.block_barrier(Location::caller());
    }

    /// [`sync_block`](Self::sync_block), and tells whether any thread of the block passed `true`.
    #[inline(always)]
    #[track_caller]
    fn sync_block_any(self, vote: bool) -> bool {
        self.block_barrier_any(vote, Location::caller())
    }

    /// [`sync_block`](Self::sync_block), and tells whether all threads of the block passed `true`.
    #[inline(always)]
    #[track_caller]
    fn sync_block_all(self, vote: bool) -> bool {
        self.block_barrier_all(vote, Location::caller())
    }

    /// [`sync_block`](Self::sync_block), and counts the threads of the block that passed `true`.
    #[inline(always)]
    #[track_caller]
    fn sync_block_count(self, vote: bool) -> usize {
        self.block_barrier_count(vote, Location::caller())
    }

    /// Evaluates `value` in the block's first thread and hands the result to all. A block barrier.
    #[inline(always)]
    #[track_caller]
    fn broadcast<T: Pod>(self, value: impl FnOnce() -> T) -> T {
        collective::broadcast(self, value, Location::caller())
    }

    /// Combines the values of all threads of the block, in the order of their indices; every thread gets the same bits. A block
    /// barrier. `op` has to be associative; it need not be commutative. `T` has at most 64 bytes; several numbers are an array, or a
    /// struct of one's own (see [`Buffer`](crate::prelude::Buffer)), as tuples are no plain data.
    ///
    /// [`f32::max`] and `min` skip what is no number: an error estimate combined by them looks small where everything is NaN.
    /// Count such values along with it, or combine by a comparison that keeps them.
    #[inline(always)]
    #[track_caller]
    fn reduce_block<T: Pod>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        collective::reduce_block(self, value, op, Location::caller())
    }

    /// Inclusive prefix sums over the threads of the block: what the threads up to and including this one combine to, and the
    /// total. A block barrier. `op` and `T` as for [`reduce_block`](Self::reduce_block).
    #[inline(always)]
    #[track_caller]
    fn inclusive_scan_block<T: Pod>(self, value: T, op: impl Fn(T, T) -> T) -> (T, T) {
        let (_, inclusive, total) = collective::scan_block(self, value, op, Location::caller());
        (inclusive, total)
    }

    /// Exclusive prefix sums over the threads of the block: what the threads before this one combine to (`identity` for the
    /// first), and the total. A block barrier. `op` and `T` as for [`reduce_block`](Self::reduce_block).
    #[inline(always)]
    #[track_caller]
    fn exclusive_scan_block<T: Pod>(self, value: T, identity: T, op: impl Fn(T, T) -> T) -> (T, T) {
        let (exclusive, _, total) = collective::scan_block(self, value, op, Location::caller());
        (exclusive.unwrap_or(identity), total)
    }

    /// One bit for each lane of the warp that passed `true`. All lanes of the warp have to call it.
    #[inline(always)]
    #[track_caller]
    fn warp_ballot(self, vote: bool) -> u64 {
        self.ballot(vote)
    }

    /// Whether any lane of the warp passed `true`. All lanes of the warp have to call it.
    #[inline(always)]
    #[track_caller]
    fn warp_any(self, vote: bool) -> bool {
        self.ballot(vote) != 0
    }

    /// Whether all lanes of the warp passed `true`. All lanes of the warp have to call it.
    #[inline(always)]
    #[track_caller]
    fn warp_all(self, vote: bool) -> bool {
        self.ballot(vote).count_ones() as usize == self.lane_count()
    }

    /// The value of lane `from`, or this lane's own if there is no such lane. All lanes of the warp have to call it.
    #[inline(always)]
    #[track_caller]
    fn warp_shuffle<T: Pod>(self, value: T, from: usize) -> T {
        self.shuffle(value, if from < self.lane_count() { from } else { self.lane() })
    }

    /// The value of the lane `by` below, or this lane's own if there is none. All lanes of the warp have to call it.
    #[inline(always)]
    #[track_caller]
    fn warp_shuffle_up<T: Pod>(self, value: T, by: usize) -> T {
        self.warp_shuffle(value, self.lane().checked_sub(by).unwrap_or(usize::MAX))
    }

    /// The value of the lane `by` above, or this lane's own if there is none. All lanes of the warp have to call it.
    #[inline(always)]
    #[track_caller]
    fn warp_shuffle_down<T: Pod>(self, value: T, by: usize) -> T {
        self.warp_shuffle(value, self.lane().saturating_add(by))
    }

    /// The value of the lane whose index differs in the bits of `mask`, or this lane's own if there is none. All lanes of the
    /// warp have to call it.
    #[inline(always)]
    #[track_caller]
    fn warp_shuffle_xor<T: Pod>(self, value: T, mask: usize) -> T {
        self.warp_shuffle(value, self.lane() ^ mask)
    }

    /// A memory fence. It waits for nobody, so it may stand in divergent code.
    ///
    /// # Memory ordering
    /// As `core::sync::atomic::fence`, towards the threads in `scope`.
    ///
    /// # Panics
    /// If `order` is `Relaxed`.
    #[inline(always)]
    #[track_caller]
    fn fence(self, order: Ordering, scope: Scope) {
        self.memory_fence(order, scope);
    }
}

impl<H: Hardware> Acc for H {}

/// One thread of a grid whose blocks are all resident, and so may wait for each other.
///
/// A plain launch does not provide it, so a grid barrier there does not compile:
///
/// ```compile_fail,E0599
/// # use gridwise::prelude::*;
/// fn step<A: Acc>(acc: A) {
///     acc.sync_grid();
/// }
/// ```
pub trait GridAcc: Acc + GridHardware {
    /// Waits until all threads of all blocks have arrived here.
    ///
    /// Every thread has to call it, the same number of times. A block that leaves the kernel instead is reported as a deadlock.
    ///
    /// # Memory ordering
    /// Whatever any thread of the grid did before, to device memory, happens before whatever any thread does after: release on
    /// arrival, acquire on observation, at device scope, cumulative through the block barriers on either side. The protocol is
    /// in `kernel/grid_barrier/README.md`.
    #[inline(always)]
    #[track_caller]
    fn sync_grid(self) {
        grid_barrier::sync_grid(self, Location::caller());
    }

    /// A grid barrier that also combines the values of all threads of the grid, in the order of block and thread; every thread
    /// gets the same bits. `op` and `T` are as for [`reduce_block`](Acc::reduce_block).
    ///
    /// The result is deterministic for a given number of blocks and threads.
    #[inline(always)]
    #[track_caller]
    fn reduce_grid<T: Pod>(self, value: T, op: impl Fn(T, T) -> T) -> T {
        grid_barrier::reduce_grid(self, value, op, Location::caller())
    }
}

impl<H: GridHardware> GridAcc for H {}
