//! What a back end provides for one thread: the small set of operations that everything else in [`kernel`](super) is written in.
//!
//! Hidden from the documentation and sealed: kernels use [`Acc`](super::Acc), whose methods are written once, on top of this.
//! Every access to memory that somebody else may write goes through here, so that the checking device sees it and a GPU can
//! choose the address space.

use core::{ops::Range, panic::Location, sync::atomic::Ordering};

use bytemuck::Pod;

use super::atomic::{Scope, Word};

pub(crate) use super::sealed::Sealed;

/// Where an element lies.
#[derive(Debug)]
pub enum Place<T> {
    /// In device memory.
    Global(*mut T),
    /// In the block's shared memory, that many bytes from its start.
    Shared(usize),
}

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Place<T> {}

/// The read-modify-write operations. Floats have `Add` and `Exchange` only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rmw {
    /// Adds, wrapping.
    Add,
    /// Subtracts, wrapping.
    Sub,
    /// Keeps the smaller.
    Min,
    /// Keeps the larger.
    Max,
    /// Bitwise and.
    And,
    /// Bitwise or.
    Or,
    /// Bitwise exclusive or.
    Xor,
    /// Replaces.
    Exchange,
}

/// What a thread waits for, for reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitFor {
    /// All blocks, at a grid barrier.
    GridBarrier,
    /// All threads of the block, at a block barrier.
    BlockBarrier,
    /// A value of an atomic word.
    Word,
    /// The other threads of the block, past the end of the kernel.
    BlockEnd,
    /// The other lanes of the warp.
    Warp,
    /// A value that a loop of the kernel loads over and over.
    Spin,
}

/// A wait and the line of the kernel that asked for it.
#[derive(Clone, Copy, Debug)]
pub struct WaitSite {
    /// What for.
    pub what: WaitFor,
    /// Where in the source.
    pub location: &'static Location<'static>,
}

/// What a kernel promises of an atomic word, for devices that look. Values are bit patterns, widened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordPromise {
    /// It held that when the launch began.
    BeganAt(u64),
    /// It holds that when the launch ends.
    EndsAt(u64),
    /// It grows as work is taken, and stands there at least when the launch ends: everything is taken then.
    Drained(u64),
    /// Nothing any more about the end.
    Withdrawn,
}

/// The indices that one member of a group gets, in ascending order.
pub trait Deal: Iterator<Item = usize> + Clone {
    /// Takes the next stretch of consecutive indices, at most `limit(first)` of them (at least 1).
    fn next_run(&mut self, limit: impl FnOnce(usize) -> usize) -> Option<Range<usize>>;
}

/// Contiguous indices, as a CPU wants them.
///
/// They are counted from 0 and the first one added, so that the compiler knows the index within a frame, `i - frame.start`, for
/// the count itself, and drops checks of it.
#[derive(Clone, Debug)]
pub struct Stretch {
    first: usize,
    /// At most `len`.
    done: usize,
    /// `first + len` does not overflow.
    len: usize,
}

impl Stretch {
    /// Those that are left.
    #[inline(always)]
    pub fn range(&self) -> Range<usize> {
        self.first + self.done..self.first + self.len
    }
}

impl Iterator for Stretch {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        let done = self.done;
        // Unequal rather than less, so that the number of rounds is plain to the compiler; and less as well, for the checks.
        if done == self.len {
            return None;
        }
        // SAFETY: `done` is at most `len`, and not equal.
        unsafe { core::hint::assert_unchecked(done < self.len) };
        self.done = done + 1;
        // SAFETY: less than `first + len`.
        Some(unsafe { self.first.unchecked_add(done) })
    }
}

impl Deal for Stretch {
    #[inline(always)]
    fn next_run(&mut self, limit: impl FnOnce(usize) -> usize) -> Option<Range<usize>> {
        let Range { start, end } = self.range();
        if start == end {
            return None;
        }
        let len = limit(start).min(end - start);
        self.done += len;
        Some(start..start + len)
    }
}

/// Every `stride`-th index, as a GPU wants them: neighbouring threads touch neighbouring elements.
#[derive(Clone, Debug)]
pub struct Strided {
    next: usize,
    end: usize,
    stride: usize,
}

impl Strided {
    /// The indices `range.start + member`, then every `members`-th.
    #[inline(always)]
    pub fn new(range: Range<usize>, member: usize, members: usize) -> Self {
        // An overflow means that this member has no index: start at the end.
        let next = range.start.checked_add(member).unwrap_or(range.end);
        Self {
            next,
            end: range.end,
            stride: members,
        }
    }
}

impl Iterator for Strided {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.next >= self.end {
            return None;
        }
        let index = self.next;
        self.next = index.checked_add(self.stride).unwrap_or(self.end);
        Some(index)
    }
}

impl Deal for Strided {
    #[inline(always)]
    fn next_run(&mut self, _: impl FnOnce(usize) -> usize) -> Option<Range<usize>> {
        self.next().map(|index| index..index + 1)
    }
}

/// Cuts `range` into `members` stretches whose lengths differ by at most one, and returns the one of `member`.
///
/// # Panics
/// If `member` is not below `members`.
#[inline(always)]
pub fn contiguous(range: Range<usize>, member: usize, members: usize) -> Stretch {
    assert!(member < members, "there is no such member");
    #[expect(
        clippy::implicit_saturating_sub,
        reason = "the compiler does not see through a saturating subtraction that a frame's length went into"
    )]
    let len = if range.start < range.end {
        range.end - range.start
    } else {
        0
    };
    let (each, left) = (len / members, len % members);
    Stretch {
        first: range.start + member * each + member.min(left),
        done: 0,
        len: each + usize::from(member < left),
    }
}

/// One thread of one block of one grid, as a back end provides it.
///
/// # Safety contract of the methods
///
/// The `unsafe` methods need a place that lies inside memory that the launch may use, aligned for `T`; who may access it when
/// is what the kernel's author vouches for.
///
/// Methods are `#[track_caller]` where the checking device reports the line of the kernel; the attribute here covers every
/// implementation, and costs nothing where the location is not used. The two that are told a location are so in tests only, which
/// tell the lines of a protocol apart.
pub trait Hardware: Copy + Sealed {
    /// How a group's indices are dealt out to its members.
    type Deal: Deal;
    /// Whether promises are looked at: nobody need make many of them otherwise.
    const LOOKS_AT_PROMISES: bool = false;

    /// Index of this block, below [`blocks`](Self::blocks).
    fn block(self) -> usize;
    /// Blocks in the grid, at least 1.
    fn blocks(self) -> usize;
    /// Index of this thread within its block, below [`threads`](Self::threads).
    fn thread(self) -> usize;
    /// Threads in each block, at least 1.
    fn threads(self) -> usize;
    /// Threads that run in lock step, at least 1, at most 64.
    fn warp_size(self) -> usize;
    /// The part of `range` that `member` of `members` gets.
    fn deal(self, range: Range<usize>, member: usize, members: usize) -> Self::Deal;

    /// A plain load.
    ///
    /// # Safety
    /// See the trait.
    #[track_caller]
    unsafe fn load<T: Pod>(self, from: Place<T>) -> T;
    /// A plain store.
    ///
    /// # Safety
    /// See the trait.
    #[track_caller]
    unsafe fn store<T: Pod>(self, to: Place<T>, value: T);
    /// Told when `len` elements are lent out as a plain slice, which this thread then loads from, or stores into if `stores`.
    #[inline(always)]
    #[track_caller]
    fn lend<T: Pod>(self, _from: Place<T>, _len: usize, _stores: bool) {}
    /// An atomic load: `Relaxed`, `Acquire` or `SeqCst`.
    ///
    /// # Safety
    /// See the trait.
    #[track_caller]
    unsafe fn atomic_load<T: Word>(self, from: Place<T>, order: Ordering, scope: Scope) -> T;
    /// An atomic store: `Relaxed`, `Release` or `SeqCst`.
    ///
    /// # Safety
    /// See the trait.
    #[track_caller]
    unsafe fn atomic_store<T: Word>(self, to: Place<T>, value: T, order: Ordering, scope: Scope);
    /// An atomic read-modify-write; returns the value before.
    ///
    /// # Safety
    /// See the trait.
    #[track_caller]
    unsafe fn atomic_rmw<T: Word>(self, at: Place<T>, op: Rmw, operand: T, order: Ordering, scope: Scope) -> T;
    /// A strong compare-and-swap by bit pattern: `Ok(before)` if it stored, else `Err(before)`.
    ///
    /// # Safety
    /// See the trait.
    #[track_caller]
    unsafe fn atomic_cas<T: Word>(
        self,
        at: Place<T>,
        current: T,
        new: T,
        order: (Ordering, Ordering),
        scope: Scope,
    ) -> Result<T, T>;
    /// Waits until `ready` holds of the word, and returns the value it held of. The observing load has `order`.
    ///
    /// # Safety
    /// See the trait.
    #[cfg_attr(test, track_caller)]
    unsafe fn wait_until<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        scope: Scope,
        site: WaitSite,
        ready: impl FnMut(T) -> bool,
    ) -> T;
    /// Looks at the word until `ready` holds of it, but not for long; returns what it saw last. Every look has `order`.
    ///
    /// # Safety
    /// See the trait.
    #[inline(always)]
    #[track_caller]
    unsafe fn wait_briefly<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        scope: Scope,
        mut ready: impl FnMut(T) -> bool,
    ) -> T {
        // SAFETY: by the caller.
        let first = unsafe { self.atomic_load(at, order, scope) };
        if ready(first) {
            return first;
        }
        // SAFETY: by the caller.
        unsafe { self.atomic_load(at, order, scope) }
    }
    /// A memory fence. Waits for nobody.
    #[track_caller]
    fn memory_fence(self, order: Ordering, scope: Scope);

    /// The block barrier.
    #[cfg_attr(test, track_caller)]
    fn block_barrier(self, location: &'static Location<'static>);
    /// The block barrier; how many threads of the block voted `true`.
    #[inline(always)]
    fn block_barrier_count(self, vote: bool, location: &'static Location<'static>) -> usize {
        super::collective::reduce_block(self, usize::from(vote), |a, b| a + b, location)
    }
    /// The block barrier; whether a thread of the block voted `true`.
    #[inline(always)]
    fn block_barrier_any(self, vote: bool, location: &'static Location<'static>) -> bool {
        self.block_barrier_count(vote, location) > 0
    }
    /// The block barrier; whether all threads of the block voted `true`.
    #[inline(always)]
    fn block_barrier_all(self, vote: bool, location: &'static Location<'static>) -> bool {
        self.block_barrier_count(vote, location) == self.threads()
    }
    /// A point between two pieces of work, where a thread leaves a launch that has failed elsewhere or has run too long.
    #[inline(always)]
    fn check_in(self) {}
    /// In place of the barriers of a vote, a reduction or a scan where a block has one thread. Where its block barrier is nothing, a
    /// thread that goes on until such a result is right leaves a launch that has run too long here.
    #[inline(always)]
    fn collect_alone(self) {}
    /// Start of the scratch that block collectives use, one slot of [`SLOT_BYTES`] for each warp, in shared memory.
    fn scratch(self) -> usize;

    /// Nanoseconds since some fixed moment.
    fn clock(self) -> u64;

    /// Called for an index that is not below the length of a view that starts at `first`, instead of the access.
    ///
    /// To be inlined: an accelerator of more than two words is passed by reference, and one that something refers to, even on
    /// a way that is never taken, is copied to memory before every access.
    #[inline(always)]
    #[track_caller]
    fn out_of_bounds<T>(self, _first: Place<T>, index: usize, len: usize) -> ! {
        index_out_of_bounds(index, len)
    }

    /// Told that the launch stores each of these elements once, counting from here the stores of this thread.
    #[inline(always)]
    #[track_caller]
    fn promise_stored_once<T: Pod>(self, _first: Place<T>, _len: usize) {}
    /// Told that a phase begins, in a launch that does one phase of a run: what was promised before it was promised of that
    /// launch alone, because every launch of the run promises it again.
    #[inline(always)]
    fn phase_begins(self) {}
    /// Told what is promised of a word.
    #[inline(always)]
    #[track_caller]
    fn promise_word<T: Word>(self, _at: Place<T>, _promise: WordPromise) {}

    /// One bit for each lane of the warp whose `vote` is true.
    #[track_caller]
    fn ballot(self, vote: bool) -> u64;
    /// `value` of the lane `from` (modulo the warp size).
    #[track_caller]
    fn shuffle<T: Pod>(self, value: T, from: usize) -> T;
}

#[cold]
#[inline(never)]
#[track_caller]
fn index_out_of_bounds(index: usize, len: usize) -> ! {
    panic!("index {index} is out of bounds of a span of {len}")
}

/// A thread of a grid whose blocks are all resident.
pub trait GridHardware: Hardware {
    /// The barrier state of this launch.
    fn grid_state(self) -> super::grid_barrier::GridState;
    /// Called at every grid barrier before arriving, by every thread: counts rounds for reports, and leaves an aborted launch.
    fn enter_grid_barrier(self, location: &'static Location<'static>);
    /// Meets the other blocks; called by one thread of each.
    #[inline(always)]
    fn meet_blocks(self, site: WaitSite) {
        self.grid_state().meet(self, self.block(), self.blocks(), site);
    }
    /// Alternates with every call in a thread, starting with `false`.
    fn reduction_parity(self) -> bool;
}

/// Size and alignment of a slot for collectives: the largest value they take.
pub const SLOT_BYTES: usize = 64;

/// Bytes of shared memory that the library keeps for itself in front of a kernel's own.
pub const fn reserved_shared(threads: usize, warp_size: usize) -> usize {
    threads.div_ceil(warp_size) * SLOT_BYTES
}
