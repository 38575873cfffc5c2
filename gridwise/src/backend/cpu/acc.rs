//! The accelerator of the CPU: a thread of a block is an OS thread, or the block has one thread and everything about it vanishes.

use std::{
    ops::Range,
    panic::Location,
    sync::{
        LazyLock,
        atomic::{AtomicU32, AtomicU64, Ordering, fence},
    },
    time::Instant,
};

use bytemuck::Pod;

use super::{flight::Flight, seat::Seat};
use crate::kernel::{
    atomic::{Scope, Word},
    grid_barrier::{FlipBarrier, GridBarrier, GridState},
    hardware::{GridHardware, Hardware, Place, Rmw, Sealed, Stretch, WaitFor, WaitSite, contiguous},
};

/// How many threads a block has.
pub(super) trait Block: Copy {
    fn thread(self) -> usize;
    fn threads(self) -> usize;
    /// Meets the other threads at the barrier of that number: 0 in the kernel, 1 past its end.
    fn meet<H: Hardware>(self, hardware: H, number: usize, site: WaitSite);
}

/// One thread: constants, so that index maps become plain loops and barriers disappear.
#[derive(Clone, Copy)]
pub(super) struct Solo;

impl Block for Solo {
    #[inline(always)]
    fn thread(self) -> usize {
        0
    }
    #[inline(always)]
    fn threads(self) -> usize {
        1
    }
    #[inline(always)]
    fn meet<H: Hardware>(self, _: H, _: usize, _: WaitSite) {}
}

/// Several threads, with a real barrier.
#[derive(Clone, Copy)]
pub(super) struct Team {
    pub(super) thread: usize,
    pub(super) threads: usize,
    /// Two lines of words, zero at the start of the launch.
    pub(super) words: *mut super::scratch::Line,
}

impl Block for Team {
    #[inline(always)]
    fn thread(self) -> usize {
        self.thread
    }
    #[inline(always)]
    fn threads(self) -> usize {
        self.threads
    }
    #[inline]
    fn meet<H: Hardware>(self, hardware: H, number: usize, site: WaitSite) {
        // SAFETY: a team has two lines.
        let line = unsafe { self.words.add(number) };
        // SAFETY: the line is zero at the start of the launch and used by this team's barrier alone, one thread a member.
        unsafe { FlipBarrier::meet(hardware, line.cast(), self.thread, self.threads, site) }
    }
}

/// See the module. `G` is `()` in a plain launch and [`GridState`] in a cooperative one.
#[derive(Clone, Copy)]
pub(super) struct Cpu<'a, B, G> {
    pub(super) flight: &'a Flight<'a>,
    pub(super) seat: &'a Seat,
    pub(super) shared: *mut u8,
    pub(super) block_index: usize,
    pub(super) blocks: usize,
    pub(super) block: B,
    pub(super) grid: G,
}

impl<B, G> Cpu<'_, B, G> {
    #[inline(always)]
    fn pointer<T>(&self, place: Place<T>) -> *mut T {
        match place {
            Place::Global(pointer) => pointer,
            // Inside the arena, which is as large as the kernel's shared memory, for offsets that the runtime dealt out.
            Place::Shared(offset) => self.shared.wrapping_add(offset).cast(),
        }
    }
}

/// Every how many barriers a thread reads the clock, for the timeout.
const CLOCK_EVERY: u64 = 1024;
/// Every how many pieces of work: they take longer than barriers.
const CLOCK_EVERY_PIECE: u64 = 32;

impl<B: Block, G: Copy> Cpu<'_, B, G> {
    /// At a barrier, the thread's `count`th of its kind: leaves a launch that has failed or has run too long. Threads that are
    /// never late for each other notice in no other way. `site`: the barrier; or it is between two pieces of work.
    #[inline(always)]
    fn look_up(self, count: u64, clock_every: u64, site: Option<WaitSite>) {
        self.flight.check(self.seat, site);
        if count.is_multiple_of(clock_every) {
            self.flight.fail_if_late();
        }
    }
}

/// Orders that release become sequentially consistent: that orders the store before the look at the sleepers in
/// [`Flight::stored`]. For a read-modify-write it is the same instruction on the common machines.
#[inline(always)]
fn waking(order: Ordering) -> Ordering {
    match order {
        Ordering::Release | Ordering::AcqRel => Ordering::SeqCst,
        other => other,
    }
}

/// Since the first call.
fn nanoseconds() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// # Safety
/// `at` is valid for atomic loads, and aligned.
#[inline(always)]
unsafe fn load_word<T: Word>(at: *mut T, order: Ordering) -> T {
    if size_of::<T>() == 4 {
        // SAFETY: by the caller; a word of four bytes.
        let bits = unsafe { AtomicU32::from_ptr(at.cast()) }.load(order);
        bytemuck::cast(bits)
    } else {
        // SAFETY: by the caller; words have four or eight bytes.
        let bits = unsafe { AtomicU64::from_ptr(at.cast()) }.load(order);
        bytemuck::cast(bits)
    }
}

impl<B: Block, G: Copy> Sealed for Cpu<'_, B, G> {}

impl<B: Block, G: Copy> Hardware for Cpu<'_, B, G> {
    type Deal = Stretch;

    #[inline(always)]
    fn block(self) -> usize {
        self.block_index
    }
    #[inline(always)]
    fn blocks(self) -> usize {
        self.blocks
    }
    #[inline(always)]
    fn thread(self) -> usize {
        self.block.thread()
    }
    #[inline(always)]
    fn threads(self) -> usize {
        self.block.threads()
    }
    #[inline(always)]
    fn warp_size(self) -> usize {
        1
    }
    #[inline(always)]
    fn deal(self, range: Range<usize>, member: usize, members: usize) -> Stretch {
        contiguous(range, member, members)
    }

    #[inline(always)]
    unsafe fn load<T: Pod>(self, from: Place<T>) -> T {
        // SAFETY: by the caller.
        unsafe { self.pointer(from).read() }
    }

    #[inline(always)]
    unsafe fn store<T: Pod>(self, to: Place<T>, value: T) {
        // SAFETY: by the caller.
        unsafe { self.pointer(to).write(value) }
    }

    #[inline(always)]
    unsafe fn atomic_load<T: Word>(self, from: Place<T>, order: Ordering, _: Scope) -> T {
        // SAFETY: by the caller.
        unsafe { load_word(self.pointer(from), order) }
    }

    #[inline(always)]
    unsafe fn atomic_store<T: Word>(self, to: Place<T>, value: T, order: Ordering, _: Scope) {
        let at = self.pointer(to);
        if size_of::<T>() == 4 {
            // SAFETY: by the caller; a word of four bytes.
            unsafe { AtomicU32::from_ptr(at.cast()) }.store(bytemuck::cast(value), waking(order));
        } else {
            // SAFETY: by the caller; words have four or eight bytes.
            unsafe { AtomicU64::from_ptr(at.cast()) }.store(bytemuck::cast(value), waking(order));
        }
        self.flight.stored();
    }

    #[inline(always)]
    unsafe fn atomic_rmw<T: Word>(self, at: Place<T>, op: Rmw, operand: T, order: Ordering, _: Scope) -> T {
        // SAFETY: by the caller.
        let before = unsafe { T::host_rmw(self.pointer(at), op, operand, waking(order)) };
        self.flight.stored();
        before
    }

    #[inline(always)]
    unsafe fn atomic_cas<T: Word>(
        self,
        at: Place<T>,
        current: T,
        new: T,
        (success, failure): (Ordering, Ordering),
        _: Scope,
    ) -> Result<T, T> {
        let at = self.pointer(at);
        let result = if size_of::<T>() == 4 {
            // SAFETY: by the caller; a word of four bytes.
            let word = unsafe { AtomicU32::from_ptr(at.cast()) };
            word.compare_exchange(bytemuck::cast(current), bytemuck::cast(new), waking(success), failure)
                .map(bytemuck::cast)
                .map_err(bytemuck::cast)
        } else {
            // SAFETY: by the caller; words have four or eight bytes.
            let word = unsafe { AtomicU64::from_ptr(at.cast()) };
            word.compare_exchange(bytemuck::cast(current), bytemuck::cast(new), waking(success), failure)
                .map(bytemuck::cast)
                .map_err(bytemuck::cast)
        };
        if result.is_ok() {
            self.flight.stored();
        }
        result
    }

    #[inline(always)]
    unsafe fn wait_until<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        _: Scope,
        site: WaitSite,
        mut ready: impl FnMut(T) -> bool,
    ) -> T {
        let at = self.pointer(at);
        let mut look = move || {
            // SAFETY: by the caller.
            let value = unsafe { load_word(at, order) };
            ready(value).then_some(value)
        };
        let mut looks = self.flight.looks;
        loop {
            if let Some(value) = look() {
                return value;
            }
            if looks == 0 {
                break;
            }
            looks -= 1;
            std::hint::spin_loop();
        }
        self.flight.wait(self.seat, site, look)
    }

    #[inline(always)]
    unsafe fn wait_briefly<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        _: Scope,
        mut ready: impl FnMut(T) -> bool,
    ) -> T {
        let at = self.pointer(at);
        for _ in 0..self.flight.brief_looks {
            // SAFETY: by the caller.
            let value = unsafe { load_word(at, order) };
            if ready(value) {
                return value;
            }
            std::hint::spin_loop();
        }
        // SAFETY: by the caller.
        unsafe { load_word(at, order) }
    }

    #[inline(always)]
    fn memory_fence(self, order: Ordering, _: Scope) {
        fence(order);
    }

    #[inline(always)]
    fn block_barrier(self, location: &'static Location<'static>) {
        if self.block.threads() == 1 {
            return;
        }
        let site = WaitSite {
            what: WaitFor::BlockBarrier,
            location,
        };
        self.look_up(self.seat.enter_block_barrier(), CLOCK_EVERY, Some(site));
        self.block.meet(self, 0, site);
    }

    #[inline(always)]
    fn check_in(self) {
        self.look_up(self.seat.check_in(), CLOCK_EVERY_PIECE, None);
    }

    #[inline(always)]
    fn collect_alone(self) {
        self.look_up(self.seat.check_in(), CLOCK_EVERY, None);
    }

    #[inline(always)]
    fn scratch(self) -> usize {
        0
    }

    #[inline(always)]
    fn clock(self) -> u64 {
        nanoseconds()
    }

    #[inline(always)]
    fn ballot(self, vote: bool) -> u64 {
        u64::from(vote)
    }

    #[inline(always)]
    fn shuffle<T: Pod>(self, value: T, _: usize) -> T {
        value
    }
}

impl<B: Block> GridHardware for Cpu<'_, B, GridState> {
    #[inline(always)]
    fn grid_state(self) -> GridState {
        self.grid
    }

    #[inline(always)]
    fn enter_grid_barrier(self, location: &'static Location<'static>) {
        let site = WaitSite {
            what: WaitFor::GridBarrier,
            location,
        };
        self.look_up(self.seat.enter_grid_barrier(), CLOCK_EVERY, Some(site));
    }

    #[inline(always)]
    fn reduction_parity(self) -> bool {
        self.seat.reduction_parity()
    }
}
