//! The accelerator that weakens an operation of another.

use core::{ops::Range, panic::Location, sync::atomic::Ordering};

use bytemuck::Pod;

use super::{Change, LAB, Late, What, acquires, is_postponed, releases, visit};
use crate::kernel::{
    atomic::{Scope, Word},
    collective,
    grid_barrier::GridState,
    hardware::{GridHardware, Hardware, Place, Rmw, Sealed, WaitSite, WordPromise},
};

/// See the module.
#[derive(Clone, Copy)]
pub(crate) struct Mutated<H>(H);

/// The weaker of an order and a scope.
fn weakened(change: Option<Change>, order: Ordering, scope: Scope) -> (Ordering, Scope) {
    match change {
        Some(Change::Order(order)) => (order, scope),
        Some(Change::Narrowed) => (order, Scope::Block),
        _ => (order, scope),
    }
}

/// The part of an order that a load, or a store, can have.
fn of_load(order: Ordering) -> Ordering {
    if acquires(order) {
        Ordering::Acquire
    } else {
        Ordering::Relaxed
    }
}

fn of_store(order: Ordering) -> Ordering {
    if releases(order) {
        Ordering::Release
    } else {
        Ordering::Relaxed
    }
}

impl<H: Hardware> Mutated<H> {
    /// For a thread that begins a launch.
    pub(crate) fn new(hardware: H) -> Self {
        let thread = (hardware.block(), hardware.thread());
        // What had yet to land when a launch ended never does.
        LAB.with_borrow_mut(|lab| lab.late.retain(|late| late.thread != thread));
        Self(hardware)
    }

    fn postpone<T: Word>(self, op: Option<Rmw>, to: Place<T>, value: T, scope: Scope) {
        let mut bytes = [0; 8];
        bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        let at = match to {
            Place::Global(pointer) => Place::Global(pointer.cast()),
            Place::Shared(offset) => Place::Shared(offset),
        };
        let late = Late {
            op,
            thread: (self.0.block(), self.0.thread()),
            at,
            size: size_of::<T>(),
            bits: u64::from_ne_bytes(bytes),
            scope,
        };
        LAB.with_borrow_mut(|lab| lab.late.push(late));
    }

    /// Before an operation of this thread: what is late lands now, unless this one is about to pass it. A release passes stores,
    /// and a mutant without its order passes read-modify-writes.
    fn land(self, order: Ordering, change: Option<Change>) {
        let passes_rmw = matches!(change, Some(Change::Order(_)));
        let thread = (self.0.block(), self.0.thread());
        let landing = LAB.with_borrow_mut(|lab| {
            if lab.late.is_empty() {
                return Vec::new();
            }
            let lands = |late: &mut Late| {
                let passed = if late.op.is_some() { passes_rmw } else { releases(order) };
                late.thread == thread && !passed
            };
            lab.late.extract_if(.., lands).collect()
        });
        for late in landing {
            let bytes = late.bits.to_ne_bytes();
            match late.size {
                4 => self.do_late::<u32>(late, bytemuck::pod_read_unaligned(&bytes[..4])),
                _ => self.do_late::<u64>(late, late.bits),
            }
        }
    }

    fn do_late<T: Word>(self, late: Late, value: T) {
        let at = match late.at {
            Place::Global(pointer) => Place::Global(pointer.cast()),
            Place::Shared(offset) => Place::Shared(offset),
        };
        match late.op {
            // SAFETY: by the caller of the store that was postponed.
            None => unsafe { self.0.atomic_store::<T>(at, value, Ordering::Relaxed, late.scope) },
            Some(op) => {
                // SAFETY: by the caller of the read-modify-write that was postponed.
                unsafe { self.0.atomic_rmw::<T>(at, op, value, Ordering::Relaxed, late.scope) };
            }
        }
    }
}

impl<H: Hardware> Sealed for Mutated<H> {}

// What a back end does in a way of its own it does here, too.
#[warn(clippy::missing_trait_methods)]
impl<H: Hardware> Hardware for Mutated<H> {
    type Deal = H::Deal;
    const LOOKS_AT_PROMISES: bool = H::LOOKS_AT_PROMISES;

    fn block(self) -> usize {
        self.0.block()
    }
    fn blocks(self) -> usize {
        self.0.blocks()
    }
    fn thread(self) -> usize {
        self.0.thread()
    }
    fn threads(self) -> usize {
        self.0.threads()
    }
    fn warp_size(self) -> usize {
        self.0.warp_size()
    }
    fn deal(self, range: Range<usize>, member: usize, members: usize) -> H::Deal {
        self.0.deal(range, member, members)
    }

    unsafe fn load<T: Pod>(self, from: Place<T>) -> T {
        // SAFETY: by the caller, here and below.
        unsafe { self.0.load(from) }
    }
    unsafe fn store<T: Pod>(self, to: Place<T>, value: T) {
        // SAFETY: by the caller.
        unsafe { self.0.store(to, value) }
    }
    fn lend<T: Pod>(self, from: Place<T>, len: usize, stores: bool) {
        self.0.lend(from, len, stores);
    }

    unsafe fn atomic_load<T: Word>(self, from: Place<T>, order: Ordering, scope: Scope) -> T {
        let change = visit(Location::caller(), What::Load(order, scope));
        let (order, scope) = weakened(change, order, scope);
        self.land(order, change);
        // SAFETY: by the caller.
        unsafe { self.0.atomic_load(from, order, scope) }
    }

    unsafe fn atomic_store<T: Word>(self, to: Place<T>, value: T, order: Ordering, scope: Scope) {
        let change = visit(Location::caller(), What::Store(order, scope));
        if change == Some(Change::Late) {
            return self.postpone(None, to, value, scope);
        }
        let (order, scope) = weakened(change, order, scope);
        self.land(order, change);
        // SAFETY: by the caller.
        unsafe { self.0.atomic_store(to, value, order, scope) }
    }

    unsafe fn atomic_rmw<T: Word>(self, at: Place<T>, op: Rmw, operand: T, order: Ordering, scope: Scope) -> T {
        let what = What::ReadModifyWrite(order, scope);
        let change = visit(Location::caller(), what);
        if is_postponed(Location::caller(), what) {
            self.postpone(Some(op), at, operand, scope);
            return operand; // nobody looks at it
        }
        let (order, scope) = weakened(change, order, scope);
        self.land(order, change);
        if change == Some(Change::Split) {
            // SAFETY: by the caller.
            let before: T = unsafe { self.0.atomic_load(at, of_load(order), scope) };
            // SAFETY: by the caller.
            unsafe {
                self.0
                    .atomic_store(at, before.apply(op, operand), of_store(order), scope)
            };
            return before;
        }
        // SAFETY: by the caller.
        unsafe { self.0.atomic_rmw(at, op, operand, order, scope) }
    }

    unsafe fn atomic_cas<T: Word>(
        self,
        at: Place<T>,
        current: T,
        new: T,
        (success, failure): (Ordering, Ordering),
        scope: Scope,
    ) -> Result<T, T> {
        let change = visit(Location::caller(), What::CompareExchange(success, failure, scope));
        let (success, scope) = weakened(change, success, scope);
        let failure = if change == Some(Change::Failure) {
            Ordering::Relaxed
        } else {
            failure
        };
        self.land(success, change);
        if change == Some(Change::Split) {
            // SAFETY: by the caller.
            let before: T = unsafe { self.0.atomic_load(at, of_load(success), scope) };
            if bytemuck::bytes_of(&before) != bytemuck::bytes_of(&current) {
                return Err(before);
            }
            // SAFETY: by the caller.
            unsafe { self.0.atomic_store(at, new, of_store(success), scope) };
            return Ok(before);
        }
        // SAFETY: by the caller.
        unsafe { self.0.atomic_cas(at, current, new, (success, failure), scope) }
    }

    unsafe fn wait_until<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        scope: Scope,
        site: WaitSite,
        ready: impl FnMut(T) -> bool,
    ) -> T {
        let change = visit(Location::caller(), What::Wait(order, scope));
        let (order, scope) = weakened(change, order, scope);
        self.land(order, change);
        if change == Some(Change::Removed) {
            // SAFETY: by the caller.
            return unsafe { self.0.atomic_load(at, order, scope) };
        }
        // SAFETY: by the caller.
        unsafe { self.0.wait_until(at, order, scope, site, ready) }
    }

    unsafe fn wait_briefly<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        scope: Scope,
        ready: impl FnMut(T) -> bool,
    ) -> T {
        let change = visit(Location::caller(), What::Load(order, scope));
        let (order, scope) = weakened(change, order, scope);
        self.land(order, change);
        // SAFETY: by the caller.
        unsafe { self.0.wait_briefly(at, order, scope, ready) }
    }

    fn memory_fence(self, order: Ordering, scope: Scope) {
        let change = visit(Location::caller(), What::Fence(order, scope));
        let (order, scope) = weakened(change, order, scope);
        self.land(order, change);
        if change != Some(Change::Removed) {
            self.0.memory_fence(order, scope);
        }
    }

    fn block_barrier(self, location: &'static Location<'static>) {
        let change = visit(Location::caller(), What::BlockBarrier);
        self.land(Ordering::Relaxed, change);
        if change != Some(Change::Removed) {
            self.0.block_barrier(location);
        }
    }
    // As a back end without votes of its own has them: through barriers and exchanges that may be weakened.
    fn block_barrier_count(self, vote: bool, location: &'static Location<'static>) -> usize {
        collective::reduce_block(self, usize::from(vote), |a, b| a + b, location)
    }
    fn block_barrier_any(self, vote: bool, location: &'static Location<'static>) -> bool {
        self.block_barrier_count(vote, location) > 0
    }
    fn block_barrier_all(self, vote: bool, location: &'static Location<'static>) -> bool {
        self.block_barrier_count(vote, location) == self.threads()
    }
    fn check_in(self) {
        self.0.check_in();
    }
    fn collect_alone(self) {
        self.0.collect_alone();
    }
    fn scratch(self) -> usize {
        self.0.scratch()
    }
    fn clock(self) -> u64 {
        self.0.clock()
    }
    fn out_of_bounds<T>(self, first: Place<T>, index: usize, len: usize) -> ! {
        self.0.out_of_bounds(first, index, len)
    }

    fn promise_stored_once<T: Pod>(self, first: Place<T>, len: usize) {
        self.0.promise_stored_once(first, len);
    }
    fn phase_begins(self) {
        self.0.phase_begins();
    }
    fn promise_word<T: Word>(self, at: Place<T>, promise: WordPromise) {
        self.0.promise_word(at, promise);
    }
    fn ballot(self, vote: bool) -> u64 {
        match visit(Location::caller(), What::Exchange) {
            None => self.0.ballot(vote),
            Some(_) => u64::from(vote) << (self.0.thread() % self.0.warp_size()),
        }
    }
    fn shuffle<T: Pod>(self, value: T, from: usize) -> T {
        match visit(Location::caller(), What::Exchange) {
            None => self.0.shuffle(value, from),
            Some(_) => value,
        }
    }
}

impl<H: GridHardware> GridHardware for Mutated<H> {
    fn grid_state(self) -> GridState {
        self.0.grid_state()
    }
    fn enter_grid_barrier(self, location: &'static Location<'static>) {
        self.0.enter_grid_barrier(location);
    }
    fn reduction_parity(self) -> bool {
        self.0.reduction_parity()
    }
}
