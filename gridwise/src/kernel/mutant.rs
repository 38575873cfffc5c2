//! An accelerator with one operation weakened, for tests of the library's own protocols.
//!
//! [`Mutated`] hands every operation on to the accelerator that it wraps. A [recording](record) run notes the *sites*: the lines
//! at which a protocol synchronises. Each site has its [mutants](Site::mutants), and a run [with one of them](with) does that
//! operation in the weaker form, wherever the protocol reaches the line. So the protocols know nothing of this, and a new line
//! in one of them has its mutants by itself.

use core::{cell::RefCell, fmt, ops::Range, panic::Location, sync::atomic::Ordering};

use bytemuck::Pod;

use super::{
    atomic::{Scope, Word},
    grid_barrier::GridState,
    hardware::{GridHardware, Hardware, Place, Rmw, Sealed, WaitSite},
};

/// What synchronises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Load(Ordering, Scope),
    Store(Ordering, Scope),
    ReadModifyWrite(Ordering, Scope),
    CompareExchange(Ordering, Ordering, Scope),
    Wait(Ordering, Scope),
    Fence(Ordering, Scope),
    BlockBarrier,
    Exchange,
}

/// A line of the library that synchronises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) location: &'static Location<'static>,
    what: What,
}

/// What is taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The order becomes this one.
    Order(Ordering),
    /// The scope becomes the block.
    Narrowed,
    /// The fence, barrier or exchange is left out; a wait is one look.
    Removed,
    /// A read-modify-write becomes a load and a store.
    Split,
    /// The order of a compare-and-swap that fails becomes relaxed.
    Failure,
    /// A relaxed store lands after the releases that follow it.
    Late,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Order(order) => write!(f, "{order:?}"),
            change => write!(f, "{change:?}"),
        }
    }
}

/// A site with something taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mutant {
    pub(crate) site: Site,
    pub(crate) change: Change,
}

impl Site {
    /// Whatever can be taken away here, one thing at a time.
    pub(crate) fn mutants(self) -> Vec<Mutant> {
        let orders = |order, possible: &[Ordering]| -> Vec<Change> {
            let weaker = |other: &&Ordering| is_weaker(**other, order);
            possible
                .iter()
                .filter(weaker)
                .map(|other| Change::Order(*other))
                .collect()
        };
        let narrowed = |scope| (scope > Scope::Block).then_some(Change::Narrowed);
        let (loads, stores) = (
            [Ordering::Acquire, Ordering::Relaxed],
            [Ordering::Release, Ordering::Relaxed],
        );
        let all = [
            Ordering::AcqRel,
            Ordering::Acquire,
            Ordering::Release,
            Ordering::Relaxed,
        ];
        let mut changes = match self.what {
            What::Load(order, _) => orders(order, &loads),
            What::Store(Ordering::Relaxed, _) => vec![Change::Late],
            What::Store(order, _) => orders(order, &stores),
            What::ReadModifyWrite(order, _) => {
                let mut changes = orders(order, &all);
                changes.push(Change::Split);
                changes
            }
            What::CompareExchange(success, failure, _) => {
                let mut changes = orders(success, &all);
                changes.extend((failure != Ordering::Relaxed).then_some(Change::Failure));
                changes.push(Change::Split);
                changes
            }
            What::Wait(order, _) => {
                let mut changes = orders(order, &loads);
                changes.push(Change::Removed);
                changes
            }
            What::Fence(order, _) => {
                let mut changes = orders(order, &all[..3]);
                changes.push(Change::Removed);
                changes
            }
            What::BlockBarrier | What::Exchange => vec![Change::Removed],
        };
        changes.extend(self.scope().and_then(narrowed));
        changes
            .into_iter()
            .map(|change| Mutant { site: self, change })
            .collect()
    }

    fn scope(self) -> Option<Scope> {
        match self.what {
            What::Load(_, scope)
            | What::Store(_, scope)
            | What::ReadModifyWrite(_, scope)
            | What::CompareExchange(_, _, scope)
            | What::Wait(_, scope)
            | What::Fence(_, scope) => Some(scope),
            What::BlockBarrier | What::Exchange => None,
        }
    }
}

fn releases(order: Ordering) -> bool {
    matches!(order, Ordering::Release | Ordering::AcqRel | Ordering::SeqCst)
}

fn acquires(order: Ordering) -> bool {
    matches!(order, Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst)
}

/// Whether an order has a part of the other, and not all.
fn is_weaker(order: Ordering, than: Ordering) -> bool {
    order != than && order != Ordering::SeqCst && releases(order) <= releases(than) && acquires(order) <= acquires(than)
}

/// A store that has yet to land: of a thread, as bits.
#[derive(Clone, Copy)]
struct Late {
    thread: (usize, usize),
    at: Place<u8>,
    size: usize,
    bits: u64,
    scope: Scope,
}

/// What accelerators on this thread do, whatever they wrap.
#[derive(Default)]
struct Lab {
    /// Sites seen so far, while recording.
    record: Option<Vec<Site>>,
    mutant: Option<Mutant>,
    late: Vec<Late>,
}

std::thread_local! {
    static LAB: RefCell<Lab> = RefCell::default();
}

/// Puts things back, also after a panic.
struct Reset;

impl Drop for Reset {
    fn drop(&mut self) {
        LAB.take();
    }
}

/// Runs something, and returns the sites that it reached, in the order of the source.
pub(crate) fn record(run: impl FnOnce()) -> Vec<Site> {
    let _reset = Reset;
    LAB.with_borrow_mut(|lab| lab.record = Some(Vec::new()));
    run();
    let mut sites = LAB.with_borrow_mut(|lab| lab.record.take()).unwrap_or_default();
    sort(&mut sites);
    sites
}

/// Into the order of the source.
pub(crate) fn sort(sites: &mut [Site]) {
    sites.sort_by_key(|site| (site.location.file(), site.location.line(), site.location.column()));
}

/// Runs something with a mutant in the place of the sound operation.
pub(crate) fn with<R>(mutant: Mutant, run: impl FnOnce() -> R) -> R {
    let _reset = Reset;
    LAB.with_borrow_mut(|lab| lab.mutant = Some(mutant));
    run()
}

/// Notes a site, or says what is different there.
fn visit(location: &'static Location<'static>, what: What) -> Option<Change> {
    LAB.with_borrow_mut(|lab| {
        let site = Site { location, what };
        if let Some(sites) = &mut lab.record
            && !sites.contains(&site)
        {
            sites.push(site);
        }
        lab.mutant
            .filter(|mutant| mutant.site == site)
            .map(|mutant| mutant.change)
    })
}

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

    fn postpone<T: Word>(self, to: Place<T>, value: T, scope: Scope) {
        let mut bytes = [0; 8];
        bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
        let at = match to {
            Place::Global(pointer) => Place::Global(pointer.cast()),
            Place::Shared(offset) => Place::Shared(offset),
        };
        let late = Late {
            thread: (self.0.block(), self.0.thread()),
            at,
            size: size_of::<T>(),
            bits: u64::from_ne_bytes(bytes),
            scope,
        };
        LAB.with_borrow_mut(|lab| lab.late.push(late));
    }

    /// Before an operation of this thread: what is late lands now, unless a release is about to pass it.
    fn land(self, order: Ordering) {
        if releases(order) {
            return;
        }
        let thread = (self.0.block(), self.0.thread());
        let landing = LAB.with_borrow_mut(|lab| {
            if lab.late.is_empty() {
                return Vec::new();
            }
            lab.late.extract_if(.., |late| late.thread == thread).collect()
        });
        for Late {
            at, size, bits, scope, ..
        } in landing
        {
            let bytes = bits.to_ne_bytes();
            match size {
                4 => self.store_late::<u32>(at, bytemuck::pod_read_unaligned(&bytes[..4]), scope),
                _ => self.store_late::<u64>(at, bits, scope),
            }
        }
    }

    fn store_late<T: Word>(self, at: Place<u8>, value: T, scope: Scope) {
        let at = match at {
            Place::Global(pointer) => Place::Global(pointer.cast()),
            Place::Shared(offset) => Place::Shared(offset),
        };
        // SAFETY: by the caller of the store that was postponed.
        unsafe { self.0.atomic_store::<T>(at, value, Ordering::Relaxed, scope) }
    }
}

impl<H: Hardware> Sealed for Mutated<H> {}

// What a back end does in a way of its own it does here, too.
#[warn(clippy::missing_trait_methods)]
impl<H: Hardware> Hardware for Mutated<H> {
    type Deal = H::Deal;

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
        self.land(order);
        // SAFETY: by the caller.
        unsafe { self.0.atomic_load(from, order, scope) }
    }

    unsafe fn atomic_store<T: Word>(self, to: Place<T>, value: T, order: Ordering, scope: Scope) {
        let change = visit(Location::caller(), What::Store(order, scope));
        if change == Some(Change::Late) {
            return self.postpone(to, value, scope);
        }
        let (order, scope) = weakened(change, order, scope);
        self.land(order);
        // SAFETY: by the caller.
        unsafe { self.0.atomic_store(to, value, order, scope) }
    }

    unsafe fn atomic_rmw<T: Word>(self, at: Place<T>, op: Rmw, operand: T, order: Ordering, scope: Scope) -> T {
        let change = visit(Location::caller(), What::ReadModifyWrite(order, scope));
        let (order, scope) = weakened(change, order, scope);
        self.land(order);
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
        self.land(success);
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
        self.land(order);
        if change == Some(Change::Removed) {
            // SAFETY: by the caller.
            return unsafe { self.0.atomic_load(at, order, scope) };
        }
        // SAFETY: by the caller.
        unsafe { self.0.wait_until(at, order, scope, site, ready) }
    }

    fn memory_fence(self, order: Ordering, scope: Scope) {
        let change = visit(Location::caller(), What::Fence(order, scope));
        let (order, scope) = weakened(change, order, scope);
        self.land(order);
        if change != Some(Change::Removed) {
            self.0.memory_fence(order, scope);
        }
    }

    fn block_barrier(self, location: &'static Location<'static>) {
        let change = visit(Location::caller(), What::BlockBarrier);
        self.land(Ordering::Relaxed);
        if change != Some(Change::Removed) {
            self.0.block_barrier(location);
        }
    }
    fn check_in(self) {
        self.0.check_in();
    }
    fn scratch(self) -> usize {
        self.0.scratch()
    }
    fn clock(self) -> u64 {
        self.0.clock()
    }
    fn out_of_bounds(self, index: usize, len: usize) -> ! {
        self.0.out_of_bounds(index, len)
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
