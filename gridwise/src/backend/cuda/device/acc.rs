//! The accelerator: one thread of a grid on the device.

use core::{cell::Cell, ops::Range, panic::Location, sync::atomic::Ordering};

use bytemuck::Pod;

use super::{atomics, entry::WARP, fault, intrinsics, memory};
use crate::{
    backend::cuda::parameters::Fault,
    kernel::{
        atomic::{Scope, Word},
        grid_barrier::GridState,
        hardware::{GridHardware, Hardware, Place, Rmw, Sealed, Strided, WaitSite},
    },
};

/// What a thread remembers. It stays in registers where the kernel is compiled into its entry as a whole.
#[derive(Default)]
pub(super) struct Own {
    /// Barriers and pieces of work so far.
    met: Cell<u32>,
    /// Whether the next reduction of the grid is an odd one.
    odd: Cell<bool>,
}

/// See the module. `G` is `()` in a plain launch and [`GridState`] in a cooperative one.
#[derive(Clone, Copy)]
pub(super) struct Cuda<'a, G> {
    fault: *mut Fault,
    own: &'a Own,
    grid: G,
}

/// Every how many barriers a thread looks whether the launch has been given up: that is a read of the host's memory, which
/// takes about as long as a grid barrier.
const LOOK_EVERY: u32 = 1024;
/// Every how many pieces of work, which take longer.
const LOOK_EVERY_PIECE: u32 = 32;
/// Every how many attempts of a wait, which are as long as they take each other to become.
const LOOK_EVERY_ATTEMPT: u32 = 64;
/// Nanoseconds between two attempts, from and to.
const BACK_OFF: Range<u32> = 32..1024;

impl<'a, G> Cuda<'a, G> {
    #[inline(always)]
    pub(super) fn new(fault: *mut Fault, own: &'a Own, grid: G) -> Self {
        Self { fault, own, grid }
    }

    /// Now and then leaves a launch that has failed elsewhere or has run too long.
    #[inline(always)]
    fn look_up(&self, every: u32) {
        let met = self.own.met.get().wrapping_add(1);
        self.own.met.set(met);
        if met % every == 0 {
            fault::leave_if_failed(self.fault);
        }
    }
}

/// One bit for each lane of this warp that exists: the last warp of a block may be incomplete.
#[inline(always)]
fn lanes() -> u32 {
    let left = intrinsics::threads() - (intrinsics::thread() & !(WARP as u32 - 1));
    if left >= WARP as u32 { u32::MAX } else { (1 << left) - 1 }
}

impl<G: Copy> Sealed for Cuda<'_, G> {}

impl<G: Copy> Hardware for Cuda<'_, G> {
    type Deal = Strided;

    #[inline(always)]
    fn block(self) -> usize {
        intrinsics::block() as usize
    }
    #[inline(always)]
    fn blocks(self) -> usize {
        intrinsics::blocks() as usize
    }
    #[inline(always)]
    fn thread(self) -> usize {
        intrinsics::thread() as usize
    }
    #[inline(always)]
    fn threads(self) -> usize {
        intrinsics::threads() as usize
    }
    #[inline(always)]
    fn warp_size(self) -> usize {
        WARP
    }
    #[inline(always)]
    fn deal(self, range: Range<usize>, member: usize, members: usize) -> Strided {
        Strided::new(range, member, members)
    }

    #[inline(always)]
    unsafe fn load<T: Pod>(self, from: Place<T>) -> T {
        match from {
            // SAFETY: by the caller.
            Place::Global(pointer) => unsafe { memory::in_global(pointer).read() },
            // SAFETY: by the caller.
            Place::Shared(offset) => unsafe { memory::load_shared(offset) },
        }
    }

    #[inline(always)]
    unsafe fn store<T: Pod>(self, to: Place<T>, value: T) {
        match to {
            // SAFETY: by the caller.
            Place::Global(pointer) => unsafe { memory::in_global(pointer).write(value) },
            // SAFETY: by the caller.
            Place::Shared(offset) => unsafe { memory::store_shared(offset, value) },
        }
    }

    #[inline(always)]
    unsafe fn atomic_load<T: Word>(self, from: Place<T>, order: Ordering, scope: Scope) -> T {
        // SAFETY: by the caller.
        unsafe { atomics::load(from, order, scope) }
    }

    #[inline(always)]
    unsafe fn atomic_store<T: Word>(self, to: Place<T>, value: T, order: Ordering, scope: Scope) {
        // SAFETY: by the caller.
        unsafe { atomics::store(to, value, order, scope) }
    }

    #[inline(always)]
    unsafe fn atomic_rmw<T: Word>(self, at: Place<T>, op: Rmw, operand: T, order: Ordering, scope: Scope) -> T {
        // SAFETY: by the caller.
        unsafe { atomics::rmw(at, op, operand, order, scope) }
    }

    #[inline(always)]
    unsafe fn atomic_cas<T: Word>(
        self,
        at: Place<T>,
        current: T,
        new: T,
        order: (Ordering, Ordering),
        scope: Scope,
    ) -> Result<T, T> {
        // SAFETY: by the caller.
        unsafe { atomics::cas(at, current, new, order, scope) }
    }

    #[inline(always)]
    unsafe fn wait_until<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        scope: Scope,
        _: WaitSite,
        mut ready: impl FnMut(T) -> bool,
    ) -> T {
        let (mut pause, mut attempts) = (BACK_OFF.start, 0_u32);
        loop {
            // SAFETY: by the caller.
            let value = unsafe { atomics::load(at, order, scope) };
            if ready(value) {
                return value;
            }
            attempts = attempts.wrapping_add(1);
            if attempts % LOOK_EVERY_ATTEMPT == 0 {
                fault::leave_if_failed(self.fault);
            }
            intrinsics::sleep(pause);
            pause = (2 * pause).min(BACK_OFF.end);
        }
    }

    #[inline(always)]
    unsafe fn wait_briefly<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        scope: Scope,
        mut ready: impl FnMut(T) -> bool,
    ) -> T {
        let mut pause = BACK_OFF.start;
        loop {
            // SAFETY: by the caller.
            let value = unsafe { atomics::load(at, order, scope) };
            if ready(value) || pause >= BACK_OFF.end {
                return value;
            }
            intrinsics::sleep(pause);
            pause *= 2;
        }
    }

    #[inline(always)]
    fn memory_fence(self, order: Ordering, scope: Scope) {
        atomics::fence(order, scope);
    }

    #[inline(always)]
    fn block_barrier(self, _: &'static Location<'static>) {
        self.look_up(LOOK_EVERY);
        intrinsics::barrier();
    }

    #[inline(always)]
    fn block_barrier_count(self, vote: bool, _: &'static Location<'static>) -> usize {
        self.look_up(LOOK_EVERY);
        intrinsics::barrier_count(vote) as usize
    }

    #[inline(always)]
    fn block_barrier_any(self, vote: bool, _: &'static Location<'static>) -> bool {
        self.look_up(LOOK_EVERY);
        intrinsics::barrier_any(vote)
    }

    #[inline(always)]
    fn block_barrier_all(self, vote: bool, _: &'static Location<'static>) -> bool {
        self.look_up(LOOK_EVERY);
        intrinsics::barrier_all(vote)
    }

    #[inline(always)]
    fn check_in(self) {
        self.look_up(LOOK_EVERY_PIECE);
    }

    #[inline(always)]
    fn scratch(self) -> usize {
        0
    }

    #[inline(always)]
    fn clock(self) -> u64 {
        intrinsics::nanoseconds()
    }

    #[inline(always)]
    fn out_of_bounds<T>(self, _first: Place<T>, index: usize, len: usize) -> ! {
        fault::out_of_bounds(index, len, Location::caller())
    }

    #[inline(always)]
    fn ballot(self, vote: bool) -> u64 {
        u64::from(intrinsics::ballot(lanes(), vote))
    }

    /// In pieces of four bytes.
    #[inline(always)]
    fn shuffle<T: Pod>(self, mut value: T, from: usize) -> T {
        let lanes = lanes();
        let bytes = (&raw mut value).cast::<u8>();
        for at in (0..size_of::<T>()).step_by(4) {
            let len = (size_of::<T>() - at).min(4);
            let mut piece = 0_u32;
            // SAFETY: a part of the value, into a word that is as long or longer; plain data is all initialised bytes.
            unsafe { core::ptr::copy_nonoverlapping(bytes.add(at), (&raw mut piece).cast(), len) };
            let piece = intrinsics::shuffle(lanes, piece, from as u32);
            // SAFETY: as above, back again.
            unsafe { core::ptr::copy_nonoverlapping((&raw const piece).cast(), bytes.add(at), len) };
        }
        value
    }
}

/// The grid barrier, for one thread of each block: three shapes and their waits, once in a module and not at every barrier of every
/// kernel. What it waits for takes longer than a call.
#[inline(never)]
fn meet_out_of_line(fault: *mut Fault, grid: GridState, site: WaitSite) {
    let own = Own::default();
    let waiting = Cuda::new(fault, &own, ());
    grid.meet(waiting, waiting.block(), waiting.blocks(), site);
}

impl GridHardware for Cuda<'_, GridState> {
    #[inline(always)]
    fn grid_state(self) -> GridState {
        self.grid
    }

    /// The block barriers about the grid barrier count rounds already.
    #[inline(always)]
    fn enter_grid_barrier(self, _: &'static Location<'static>) {}

    #[inline(always)]
    fn meet_blocks(self, site: WaitSite) {
        meet_out_of_line(self.fault, self.grid, site);
    }

    #[inline(always)]
    fn reduction_parity(self) -> bool {
        self.own.odd.replace(!self.own.odd.get())
    }
}
