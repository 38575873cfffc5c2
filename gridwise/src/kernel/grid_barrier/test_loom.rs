//! The barriers under loom: the very code that runs on every back end, on a machine made of loom's atomics and cells.
//!
//! What is plain data in a launch is a loom cell here, which reports two accesses that no order separates; what is a barrier
//! word is a loom atomic, which may return any value that the memory model allows. A thread that waits for ever is a
//! deadlock.
//!
//! What loom does not show: it takes sequentially consistent accesses for acquire and release (the barriers use none), it never
//! lets a load see a store that is later in program order (load buffering), and it explores up to a bound on preemptions. The
//! argument that needs none of this is in `README.md`.

use core::{ops::Range, panic::Location, sync::atomic::Ordering};

use bytemuck::Pod;
use loom::{cell::UnsafeCell, sync::atomic::AtomicU32, thread};

use super::*;
use crate::{
    kernel::{
        atomic::Word,
        hardware::{Sealed, Stretch, contiguous},
        mutant::Mutated,
    },
    sync::{Arc, explore},
};

mod data;
mod reductions;
mod taken_away;

static SITE: WaitSite = WaitSite {
    what: WaitFor::GridBarrier,
    location: Location::caller(),
};

type Slot = UnsafeCell<[u8; SLOT_BYTES]>;

/// A word, and the newest value of it, which the model itself looks at without taking part.
struct LoomWord {
    atomic: AtomicU32,
    newest: std::sync::atomic::AtomicU32,
}

impl LoomWord {
    fn new(value: u32) -> Self {
        Self {
            atomic: AtomicU32::new(value),
            newest: value.into(),
        }
    }
}

/// The memory of a launch.
struct World {
    blocks: usize,
    threads: usize,
    shape: BarrierShape,
    /// Addresses of the barrier words and of the slots: never accessed, they stand for the entries of the tables below.
    word_addresses: Box<[u32]>,
    slot_addresses: Box<[[u8; SLOT_BYTES]]>,
    /// The words in use, by index.
    words: Vec<(usize, LoomWord)>,
    /// Threads that wait until a word changes.
    waiting: std::sync::Mutex<Vec<thread::Thread>>,
    slots: Vec<Slot>,
    /// Scratch for the collectives of each block, a slot a thread.
    scratch: Vec<Slot>,
    /// Plain data of the model's own, a cell a thread.
    cells: Vec<UnsafeCell<u32>>,
    /// Whether reductions alternate between two slots.
    alternates: bool,
    /// The parity of each thread's next reduction: no part of the protocol, so no atomics of loom's.
    odd_reductions: Box<[std::sync::atomic::AtomicBool]>,
}

// SAFETY: loom checks the accesses to the cells; the addresses are not accessed.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

/// Words that a block barrier uses, after those of the grid barrier.
const BLOCK_WORDS: usize = LINE_WORDS;

impl World {
    fn new(shape: BarrierShape, blocks: usize, threads: usize) -> Self {
        let grid_words = shape.words(blocks);
        let total = grid_words + blocks * BLOCK_WORDS;
        // Each shape uses the first two words of a line at most.
        let used = (0..total).filter(|index| match shape {
            BarrierShape::Counter if *index < grid_words => *index < 2,
            _ => index % LINE_WORDS == 0,
        });
        let used = used.filter(|index| *index < grid_words || threads > 1);
        let slot = || Slot::new([0; SLOT_BYTES]);
        Self {
            blocks,
            threads,
            shape,
            word_addresses: vec![0; total].into(),
            slot_addresses: vec![[0; SLOT_BYTES]; GridState::slots(blocks)].into(),
            words: used.map(|index| (index, LoomWord::new(0))).collect(),
            waiting: Default::default(),
            slots: (0..GridState::slots(blocks)).map(|_| slot()).collect(),
            scratch: (0..if threads > 1 { blocks * threads } else { 0 })
                .map(|_| slot())
                .collect(),
            cells: (0..blocks * threads).map(|_| UnsafeCell::new(0)).collect(),
            alternates: true,
            odd_reductions: (0..blocks * threads).map(|_| false.into()).collect(),
        }
    }

    /// With a word of the grid barrier that starts at `value`.
    fn starting_at(mut self, index: usize, value: u32) -> Self {
        for (_, word) in self.words.iter_mut().filter(|(at, _)| *at == index) {
            *word = LoomWord::new(value);
        }
        self
    }

    fn words(&self) -> *mut u32 {
        self.word_addresses.as_ptr().cast_mut()
    }

    fn word<T>(&self, place: Place<T>) -> &LoomWord {
        let Place::Global(pointer) = place else {
            unreachable!("barriers live in device memory")
        };
        let index = (pointer.addr() - self.word_addresses.as_ptr().addr()) / size_of::<u32>();
        let entry = self.words.iter().find(|(at, _)| *at == index);
        &entry.expect("a word in use").1
    }

    fn slot<T>(&self, block: usize, place: Place<T>) -> &Slot {
        match place {
            Place::Global(pointer) => &self.slots[(pointer.addr() - self.slot_addresses.as_ptr().addr()) / SLOT_BYTES],
            Place::Shared(offset) => &self.scratch[block * self.threads + offset / SLOT_BYTES],
        }
    }

    /// To be called after each change of a word, with its new value.
    fn changed(&self, word: &LoomWord, value: u32) {
        word.newest.store(value, Ordering::Relaxed);
        for thread in self.waiting.lock().unwrap().drain(..) {
            thread.unpark();
        }
    }

    /// Runs `body` in every thread of the grid, one of them being the caller.
    fn run(self, body: impl Fn(LoomAcc<'_>) + Copy + Send + 'static) {
        let world = Arc::new(self);
        for rank in 1..world.cells.len() {
            let world = world.clone();
            // Not joined: loom waits for all threads at the end of the model.
            thread::spawn(move || body(LoomAcc { world: &world, rank }));
        }
        body(LoomAcc { world: &world, rank: 0 });
    }
}

/// One thread of the launch.
#[derive(Clone, Copy)]
struct LoomAcc<'a> {
    world: &'a World,
    rank: usize,
}

impl LoomAcc<'_> {
    /// Writes this thread's own cell.
    fn write(self, value: u32) {
        // SAFETY: loom reports a conflicting access before it happens.
        self.world.cells[self.rank].with_mut(|cell| unsafe { *cell = value });
    }

    /// Reads everybody's cells, which hold `value`.
    fn read_all(self, value: u32) {
        for cell in &self.world.cells {
            // SAFETY: as in `write`.
            cell.with(|cell| assert_eq!(unsafe { *cell }, value));
        }
    }

    /// Meets the other blocks, each of one thread, in the given shape.
    fn meet<B: GridBarrier>(self) {
        let (rank, blocks) = (self.rank, self.world.blocks);
        // SAFETY: the world has the words of its shape, and each member is one thread.
        unsafe { B::meet(Mutated::new(self), self.world.words(), rank, blocks, SITE) }
    }
}

impl Sealed for LoomAcc<'_> {}

impl Hardware for LoomAcc<'_> {
    type Deal = Stretch;

    fn block(self) -> usize {
        self.rank / self.world.threads
    }
    fn blocks(self) -> usize {
        self.world.blocks
    }
    fn thread(self) -> usize {
        self.rank % self.world.threads
    }
    fn threads(self) -> usize {
        self.world.threads
    }
    fn warp_size(self) -> usize {
        1
    }
    fn deal(self, range: Range<usize>, member: usize, members: usize) -> Stretch {
        contiguous(range, member, members)
    }

    unsafe fn load<T: Pod>(self, from: Place<T>) -> T {
        let slot = self.world.slot(self.block(), from);
        // SAFETY: as in `write`.
        slot.with(|slot| bytemuck::pod_read_unaligned(&unsafe { &*slot }[..size_of::<T>()]))
    }

    unsafe fn store<T: Pod>(self, to: Place<T>, value: T) {
        let slot = self.world.slot(self.block(), to);
        // SAFETY: as in `write`.
        slot.with_mut(|slot| unsafe { &mut *slot }[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value)));
    }

    unsafe fn atomic_load<T: Word>(self, from: Place<T>, order: Ordering, _: Scope) -> T {
        bytemuck::cast(self.world.word(from).atomic.load(order))
    }

    unsafe fn atomic_store<T: Word>(self, to: Place<T>, value: T, order: Ordering, _: Scope) {
        let (word, value) = (self.world.word(to), bytemuck::cast(value));
        word.atomic.store(value, order);
        self.world.changed(word, value);
    }

    unsafe fn atomic_rmw<T: Word>(self, at: Place<T>, op: Rmw, operand: T, order: Ordering, _: Scope) -> T {
        assert_eq!(op, Rmw::Add, "barriers only add");
        let (word, operand) = (self.world.word(at), bytemuck::cast(operand));
        let before = word.atomic.fetch_add(operand, order);
        self.world.changed(word, before.wrapping_add(operand));
        bytemuck::cast(before)
    }

    unsafe fn atomic_cas<T: Word>(self, _: Place<T>, _: T, _: T, _: (Ordering, Ordering), _: Scope) -> Result<T, T> {
        unreachable!("barriers do not compare")
    }

    unsafe fn wait_until<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        _: Scope,
        _: WaitSite,
        mut ready: impl FnMut(T) -> bool,
    ) -> T {
        // Not a loop of looks: loom would explore two waiting threads that look in turn without end. A look that fails has no
        // effect but to order more, and so does loom's waking of a parked thread: what matters is found where the first look
        // succeeds, and loom explores that too.
        let word = self.world.word(at);
        loop {
            let value = bytemuck::cast(word.atomic.load(order));
            if ready(value) {
                return value;
            }
            if ready(bytemuck::cast(word.newest.load(Ordering::Relaxed))) {
                // A stale value: after the yield loom returns a newer one.
                thread::yield_now();
            } else {
                self.world.waiting.lock().unwrap().push(thread::current());
                thread::park();
            }
        }
    }

    fn memory_fence(self, order: Ordering, _: Scope) {
        loom::sync::atomic::fence(order);
    }

    fn block_barrier(self, _: &'static Location<'static>) {
        if self.world.threads > 1 {
            let first = self.world.shape.words(self.world.blocks) + self.block() * BLOCK_WORDS;
            let words = self.world.words().wrapping_add(first);
            // SAFETY: as in `meet`, for the words of this block.
            unsafe { FlipBarrier::meet(self, words, self.thread(), self.threads(), SITE) }
        }
    }

    fn scratch(self) -> usize {
        0
    }
    fn clock(self) -> u64 {
        0
    }
    fn ballot(self, vote: bool) -> u64 {
        u64::from(vote)
    }
    fn shuffle<T: Pod>(self, value: T, _: usize) -> T {
        value
    }
}

impl GridHardware for LoomAcc<'_> {
    fn grid_state(self) -> GridState {
        let slots = self.world.slot_addresses.as_ptr().cast_mut();
        // SAFETY: the world has the words and slots of its shape.
        unsafe { GridState::new(self.world.words(), slots, self.world.shape) }
    }
    fn enter_grid_barrier(self, _: &'static Location<'static>) {}
    fn reduction_parity(self) -> bool {
        self.world.alternates && self.world.odd_reductions[self.rank].fetch_xor(true, Ordering::Relaxed)
    }
}
