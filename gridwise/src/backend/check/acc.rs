//! The accelerator of the checking device: a thread is a coroutine, and every operation goes through the engine.

use std::{ops::Range, panic::Location, sync::atomic::Ordering};

use bytemuck::Pod;

use super::{
    access::{Atomic, Exchange},
    address,
    engine::{Engine, Suspend},
    meet::Want,
    memory::{Extent, How},
};
use crate::{
    check::finding::Operation,
    kernel::{
        atomic::{Scope, Word, bits},
        grid_barrier::GridState,
        hardware::{
            Deal, GridHardware, Hardware, Place, Rmw, Sealed, Stretch, Strided, WaitSite, WordPromise, contiguous,
        },
        span,
    },
};

/// See the module.
#[derive(Clone, Copy)]
pub(super) struct Check<'a> {
    engine: &'a Engine,
    yielder: &'a Suspend,
    slot: u32,
    block: u32,
    thread: u32,
    /// Exposed address of the block's shared memory.
    shared: usize,
}

impl<'a> Check<'a> {
    pub(super) fn new(
        engine: &'a Engine,
        yielder: &'a Suspend,
        slot: u32,
        block: u32,
        thread: u32,
        shared: usize,
    ) -> Self {
        Self {
            engine,
            yielder,
            slot,
            block,
            thread,
            shared,
        }
    }

    pub(super) fn slot(self) -> u32 {
        self.slot
    }

    fn pointer<T>(self, place: Place<T>) -> *mut T {
        match place {
            Place::Global(pointer) => pointer,
            Place::Shared(offset) => std::ptr::with_exposed_provenance_mut(self.shared + offset),
        }
    }

    #[track_caller]
    fn locate<T>(self, place: Place<T>, operation: Operation) -> Extent {
        let location = Location::caller();
        self.engine.locate(
            self.yielder,
            self.slot,
            address(place),
            size_of::<T>(),
            operation,
            location,
        )
    }

    #[track_caller]
    fn atomic<T>(self, place: Place<T>, operation: Operation, order: Ordering, scope: Scope) -> Atomic {
        Atomic {
            extent: self.locate(place, operation),
            how: How {
                order,
                scope,
                location: Location::caller(),
            },
        }
    }
}

/// Indices as a GPU or as a CPU deals them out.
#[derive(Clone, Debug)]
pub(super) enum Dealt {
    Strided(Strided),
    Contiguous(Stretch),
}

impl Iterator for Dealt {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        match self {
            Self::Strided(indices) => indices.next(),
            Self::Contiguous(indices) => indices.next(),
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::Strided(indices) => indices.size_hint(),
            Self::Contiguous(indices) => indices.size_hint(),
        }
    }
}

impl Deal for Dealt {
    fn next_run(&mut self, limit: impl FnOnce(usize) -> usize) -> Option<Range<usize>> {
        match self {
            Self::Strided(indices) => indices.next_run(limit),
            Self::Contiguous(indices) => indices.next_run(limit),
        }
    }
}

fn word<T: Word>(bits: u64) -> T {
    if size_of::<T>() == 4 {
        bytemuck::cast(bits as u32)
    } else {
        bytemuck::cast(bits)
    }
}

/// Refuses orders that an operation cannot have, as the language does.
#[track_caller]
fn of_load(order: Ordering) {
    assert!(
        !matches!(order, Ordering::Release | Ordering::AcqRel),
        "a load cannot have the order {order:?}"
    );
}

impl Sealed for Check<'_> {}

impl Hardware for Check<'_> {
    type Deal = Dealt;

    fn block(self) -> usize {
        self.block as usize
    }
    fn blocks(self) -> usize {
        self.engine.blocks
    }
    fn thread(self) -> usize {
        self.thread as usize
    }
    fn threads(self) -> usize {
        self.engine.threads
    }
    fn warp_size(self) -> usize {
        self.engine.model.warp_size
    }
    fn deal(self, range: Range<usize>, member: usize, members: usize) -> Dealt {
        // Of fewer indices, each gets the one with its number, or none.
        let matters = members > 1 && range.len() > members;
        if matters && self.engine.deals_contiguously() {
            Dealt::Contiguous(contiguous(range, member, members))
        } else {
            Dealt::Strided(Strided::new(range, member, members))
        }
    }

    unsafe fn load<T: Pod>(self, from: Place<T>) -> T {
        if size_of::<T>() > 0 {
            self.engine.plain_point(self.yielder, self.slot);
            let extent = self.locate(from, Operation::Load);
            self.engine
                .plain(self.slot, extent, Operation::Load, Location::caller());
        }
        // SAFETY: by the caller.
        unsafe { self.pointer(from).read() }
    }

    unsafe fn store<T: Pod>(self, to: Place<T>, value: T) {
        if size_of::<T>() == 0 {
            return;
        }
        self.engine.outside_conditions("stores");
        self.engine.plain_point(self.yielder, self.slot);
        let extent = self.locate(to, Operation::Store);
        self.engine
            .plain(self.slot, extent, Operation::Store, Location::caller());
        // SAFETY: by the caller.
        unsafe { self.pointer(to).write(value) }
        self.engine.after_plain_store(self.slot, extent, Location::caller());
    }

    #[track_caller]
    fn lend<T: Pod>(self, from: Place<T>, len: usize, stores: bool) {
        if size_of::<T>() == 0 || len == 0 {
            return;
        }
        let operation = if stores { Operation::Store } else { Operation::Load };
        self.engine.plain_point(self.yielder, self.slot);
        let mut extent = self.locate(from, operation);
        extent.size *= len;
        self.engine.plain(self.slot, extent, operation, Location::caller());
    }

    unsafe fn atomic_load<T: Word>(self, from: Place<T>, order: Ordering, scope: Scope) -> T {
        of_load(order);
        let atomic = self.atomic(from, Operation::AtomicLoad, order, scope);
        word(self.engine.atomic_load(self.yielder, self.slot, atomic))
    }

    unsafe fn atomic_store<T: Word>(self, to: Place<T>, value: T, order: Ordering, scope: Scope) {
        assert!(
            !matches!(order, Ordering::Acquire | Ordering::AcqRel),
            "a store cannot have the order {order:?}"
        );
        self.engine.outside_conditions("stores");
        let atomic = self.atomic(to, Operation::AtomicStore, order, scope);
        self.engine.atomic_store(self.yielder, self.slot, atomic, bits(value));
    }

    unsafe fn atomic_rmw<T: Word>(self, at: Place<T>, op: Rmw, operand: T, order: Ordering, scope: Scope) -> T {
        self.engine.outside_conditions("stores");
        let atomic = self.atomic(at, Operation::ReadModifyWrite, order, scope);
        let before = self
            .engine
            .read_modify_write(self.yielder, self.slot, atomic, |before| {
                bits(word::<T>(before).apply(op, operand))
            });
        word(before)
    }

    unsafe fn atomic_cas<T: Word>(
        self,
        at: Place<T>,
        current: T,
        new: T,
        (success, failure): (Ordering, Ordering),
        scope: Scope,
    ) -> Result<T, T> {
        of_load(failure);
        self.engine.outside_conditions("stores");
        let atomic = self.atomic(at, Operation::CompareExchange, success, scope);
        let exchange = Exchange {
            current: bits(current),
            new: bits(new),
            failure,
        };
        self.engine
            .compare_exchange(self.yielder, self.slot, atomic, exchange)
            .map(word)
            .map_err(word)
    }

    unsafe fn wait_until<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        scope: Scope,
        site: WaitSite,
        mut ready: impl FnMut(T) -> bool,
    ) -> T {
        of_load(order);
        self.engine.outside_conditions("waits itself");
        let mut atomic = self.atomic(at, Operation::Wait, order, scope);
        atomic.how.location = site.location;
        let mut ready = |bits| ready(word(bits));
        word(
            self.engine
                .wait_until(self.yielder, self.slot, atomic, site, &mut ready),
        )
    }

    fn memory_fence(self, order: Ordering, scope: Scope) {
        assert!(order != Ordering::Relaxed, "a fence cannot be relaxed");
        let location = Location::caller();
        let how = How { order, scope, location };
        self.engine.fence(self.yielder, self.slot, how);
    }

    fn block_barrier(self, location: &'static Location<'static>) {
        self.engine.outside_conditions("meets a barrier");
        self.engine.block_barrier(self.yielder, self.slot, location);
    }

    fn check_in(self) {
        self.engine.leave_if_over();
    }

    fn scratch(self) -> usize {
        0
    }

    /// Operations so far: time on this device.
    fn clock(self) -> u64 {
        self.engine.state.borrow().steps
    }

    /// With the element's name.
    #[cold]
    fn out_of_bounds<T>(self, first: Place<T>, index: usize, len: usize) -> ! {
        span::out_of_bounds(first, index, len)
    }

    const LOOKS_AT_PROMISES: bool = true;

    fn promise_stored_once<T: Pod>(self, first: Place<T>, len: usize) {
        if size_of::<T>() == 0 || len == 0 {
            return;
        }
        let mut extent = self.locate(first, Operation::Store);
        extent.size *= len;
        self.engine
            .promise_stored_once(self.slot, extent, size_of::<T>(), Location::caller());
    }

    fn phase_begins(self) {
        let mut state = self.engine.state.borrow_mut();
        state.threads[self.slot as usize].in_phase = true;
    }

    fn promise_word<T: Word>(self, at: Place<T>, promise: WordPromise) {
        let extent = self.locate(at, Operation::AtomicLoad);
        self.engine.promise_word(self.slot, extent, promise, Location::caller());
    }

    fn ballot(self, vote: bool) -> u64 {
        let location = Location::caller();
        self.engine.outside_conditions("meets its warp");
        self.engine
            .warp_exchange(self.yielder, self.slot, &[u8::from(vote)], Want::Ballot, location);
        let state = self.engine.state.borrow();
        let inbox = &state.threads[self.slot as usize].inbox;
        inbox.as_slice().try_into().map_or(u64::from(vote), u64::from_ne_bytes)
    }

    fn shuffle<T: Pod>(self, value: T, from: usize) -> T {
        let want = Want::Value {
            from: from % self.engine.model.warp_size,
        };
        if self.engine.model.warp_size == 1 {
            return value;
        }
        let location = Location::caller();
        self.engine.outside_conditions("meets its warp");
        self.engine
            .warp_exchange(self.yielder, self.slot, bytemuck::bytes_of(&value), want, location);
        let state = self.engine.state.borrow();
        bytemuck::try_pod_read_unaligned(&state.threads[self.slot as usize].inbox).unwrap_or(value)
    }
}

impl GridHardware for Check<'_> {
    fn grid_state(self) -> GridState {
        // A plain launch hands kernels an accelerator without grid barriers, by their type.
        self.engine
            .grid
            .unwrap_or_else(|| unreachable!("only a cooperative launch has a grid barrier"))
    }

    fn enter_grid_barrier(self, location: &'static Location<'static>) {
        self.engine.enter_grid_barrier(self.slot, location);
    }

    fn reduction_parity(self) -> bool {
        let mut state = self.engine.state.borrow_mut();
        let parity = &mut state.threads[self.slot as usize].parity;
        std::mem::replace(parity, !*parity)
    }
}
