//! The ring and the task queue under loom: the very code that runs on every back end, on a machine made of loom's atomics and
//! cells.
//!
//! The values in the ring, the blocks' buffers and their records are loom cells, which report two accesses that no order
//! separates; heads, tails, states and counters are loom atomics. A thread that waits for ever is a deadlock. What loom does not
//! show is said in `kernel/grid_barrier/test_loom.rs`.

use core::{ops::Range, panic::Location, sync::atomic::Ordering};
use std::collections::BTreeMap;

use bytemuck::Pod;
use loom::{cell::UnsafeCell, sync::atomic::AtomicU64, thread};

use super::{
    Order, Ring, TaskQueue,
    ring::{HEAD, Orders, RING_WORDS, TAIL},
    words::{Rules, control, local, record},
};
use crate::{
    kernel::{
        Span, SpanMut,
        atomic::{Scope, Word},
        hardware::{Hardware, Place, Rmw, Sealed, Stretch, WaitSite, contiguous},
    },
    sync::{Arc, explore},
};

mod ring;
mod tasks;

/// A word that several blocks access, and the newest value of it, which the model itself looks at without taking part.
struct LoomWord {
    atomic: AtomicU64,
    newest: std::sync::atomic::AtomicU64,
}

/// The memory of a launch: by address, what stands there.
struct World {
    blocks: usize,
    words: BTreeMap<usize, LoomWord>,
    cells: BTreeMap<usize, UnsafeCell<u64>>,
    waiting: std::sync::Mutex<Vec<thread::Thread>>,
    memory: Memory,
    rules: Rules,
    orders: Orders,
    raised_first: bool,
    /// What tasks write, a cell each.
    written: [UnsafeCell<u32>; 4],
}

/// Addresses: never accessed, they stand for the entries of the tables.
struct Memory {
    ring: Box<[u64]>,
    states: Box<[u32]>,
    values: Box<[u32]>,
    seeds: Box<[u32]>,
    control: Box<[u64]>,
    local: Box<[u32]>,
    records: Box<[u64]>,
}

// SAFETY: loom checks the accesses to the cells.
unsafe impl Sync for World {}
// SAFETY: as above.
unsafe impl Send for World {}

/// A view of memory that is never accessed.
fn view<T: Pod>(memory: &[T]) -> SpanMut<'static, T> {
    // SAFETY: only its address is used; the world outlives its threads' use of it.
    SpanMut::new(unsafe { core::slice::from_raw_parts_mut(memory.as_ptr().cast_mut(), memory.len()) })
}

impl World {
    /// A ring of `capacity` slots, these seeds, and blocks of one thread, whose buffers hold as the rules say.
    fn new(blocks: usize, capacity: usize, seeds: &[u32], rules: Rules) -> Self {
        let memory = Memory {
            ring: vec![0; RING_WORDS].into(),
            states: vec![0; capacity].into(),
            values: vec![0; capacity].into(),
            seeds: seeds.into(),
            control: vec![0; control::WORDS].into(),
            local: vec![0; blocks * local::elements::<u32>(rules.capacity as usize)].into(),
            records: vec![0; blocks * record::WORDS].into(),
        };
        let mut words = BTreeMap::new();
        let mut word = |address: usize, value: u64| {
            let word = LoomWord {
                atomic: AtomicU64::new(value),
                newest: value.into(),
            };
            words.insert(address, word);
        };
        word(memory.ring[HEAD..].as_ptr().addr(), 0);
        word(memory.ring[TAIL..].as_ptr().addr(), 0);
        let unclaimed = u64::from(!seeds.is_empty());
        word(memory.control[control::OUTSTANDING..].as_ptr().addr(), unclaimed);
        word(memory.control[control::SEEDS..].as_ptr().addr(), 0);
        word(memory.control[control::ATTENTION..].as_ptr().addr(), 0);
        for state in &memory.states {
            word(core::ptr::from_ref(state).addr(), 0);
        }
        let mut cells = BTreeMap::new();
        let plain = |address: usize| (address, UnsafeCell::new(0));
        let values = memory.values.iter().chain(&memory.local);
        cells.extend(values.map(|value| plain(core::ptr::from_ref(value).addr())));
        for block in 0..blocks {
            let record = &memory.records[block * record::WORDS..];
            let used = [
                record::FIRST,
                record::END,
                record::BASE,
                record::UNDER_WAY,
                record::MARK,
            ];
            cells.extend(used.map(|word| plain(record[word..].as_ptr().addr())));
        }
        Self {
            blocks,
            words,
            cells,
            waiting: Default::default(),
            memory,
            rules,
            orders: Orders::SOUND,
            raised_first: true,
            written: core::array::from_fn(|_| UnsafeCell::new(0)),
        }
    }

    fn ring(&self) -> Ring<'static, u32> {
        let memory = &self.memory;
        let mut ring = Ring::new(view(&memory.ring), view(&memory.states), view(&memory.values));
        ring.orders = self.orders;
        ring
    }

    /// Never written: not in a cell.
    fn seeds(&self) -> Span<'static, u32> {
        let seeds: &[u32] = &self.memory.seeds;
        // SAFETY: the world outlives its threads' use of it.
        Span::new(unsafe { core::slice::from_raw_parts(seeds.as_ptr(), seeds.len()) })
    }

    fn queue(&self) -> TaskQueue<'static, u32> {
        let memory = &self.memory;
        let mut queue = TaskQueue::new(
            self.ring(),
            self.seeds(),
            [view(&memory.control), view(&memory.records)],
            view(&memory.local),
            self.rules,
            None,
        );
        queue.raised_first = self.raised_first;
        queue
    }

    fn word<T>(&self, place: Place<T>) -> &LoomWord {
        self.words.get(&address(place)).expect("a word in use")
    }

    fn cell<T>(&self, place: Place<T>) -> &UnsafeCell<u64> {
        self.cells.get(&address(place)).expect("a cell in use")
    }

    /// To be called after each change of a word, with its new value.
    fn changed(&self, word: &LoomWord, value: u64) {
        word.newest.store(value, Ordering::Relaxed);
        for thread in self.waiting.lock().unwrap().drain(..) {
            thread.unpark();
        }
    }

    /// Runs `body` in every block, one of them being the caller; returns when all are done.
    fn run(self, body: impl Fn(LoomAcc<'_>) + Clone + Send + 'static) -> Arc<Self> {
        let world = Arc::new(self);
        let others: Vec<_> = (1..world.blocks)
            .map(|block| {
                let (world, body) = (world.clone(), body.clone());
                thread::spawn(move || body(LoomAcc { world: &world, block }))
            })
            .collect();
        body(LoomAcc {
            world: &world,
            block: 0,
        });
        for other in others {
            other.join().unwrap();
        }
        world
    }
}

fn address<T>(place: Place<T>) -> usize {
    match place {
        Place::Global(pointer) => pointer.addr(),
        Place::Shared(_) => unreachable!("queues live in device memory"),
    }
}

/// A word of four or eight bytes, in eight.
fn widen<T: Pod>(value: T) -> u64 {
    let mut bytes = [0; 8];
    bytes[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    u64::from_le_bytes(bytes)
}

fn narrow<T: Pod>(value: u64) -> T {
    bytemuck::pod_read_unaligned(&value.to_le_bytes()[..size_of::<T>()])
}

/// The thread of a block.
#[derive(Clone, Copy)]
struct LoomAcc<'a> {
    world: &'a World,
    block: usize,
}

impl Sealed for LoomAcc<'_> {}

impl Hardware for LoomAcc<'_> {
    type Deal = Stretch;

    fn block(self) -> usize {
        self.block
    }
    fn blocks(self) -> usize {
        self.world.blocks
    }
    fn thread(self) -> usize {
        0
    }
    fn threads(self) -> usize {
        1
    }
    fn warp_size(self) -> usize {
        1
    }
    fn deal(self, range: Range<usize>, member: usize, members: usize) -> Stretch {
        contiguous(range, member, members)
    }

    unsafe fn load<T: Pod>(self, from: Place<T>) -> T {
        // SAFETY: loom reports a conflicting access before it happens.
        narrow(self.world.cell(from).with(|cell| unsafe { *cell }))
    }

    unsafe fn store<T: Pod>(self, to: Place<T>, value: T) {
        // SAFETY: as in `load`.
        self.world.cell(to).with_mut(|cell| unsafe { *cell = widen(value) });
    }

    unsafe fn atomic_load<T: Word>(self, from: Place<T>, order: Ordering, _: Scope) -> T {
        narrow(self.world.word(from).atomic.load(order))
    }

    unsafe fn atomic_store<T: Word>(self, to: Place<T>, value: T, order: Ordering, _: Scope) {
        let word = self.world.word(to);
        word.atomic.store(widen(value), order);
        self.world.changed(word, widen(value));
    }

    unsafe fn atomic_rmw<T: Word>(self, at: Place<T>, op: Rmw, operand: T, order: Ordering, _: Scope) -> T {
        let word = self.world.word(at);
        let before = match op {
            Rmw::Add => word.atomic.fetch_add(widen(operand), order),
            Rmw::Sub => word.atomic.fetch_sub(widen(operand), order),
            Rmw::Or => word.atomic.fetch_or(widen(operand), order),
            other => unreachable!("queues do no {other:?}"),
        };
        self.world.changed(word, widen(narrow::<T>(before).apply(op, operand)));
        narrow(before)
    }

    unsafe fn atomic_cas<T: Word>(
        self,
        at: Place<T>,
        current: T,
        new: T,
        (success, failure): (Ordering, Ordering),
        _: Scope,
    ) -> Result<T, T> {
        let word = self.world.word(at);
        let result = word
            .atomic
            .compare_exchange(widen(current), widen(new), success, failure);
        if result.is_ok() {
            self.world.changed(word, widen(new));
        }
        result.map(narrow).map_err(narrow)
    }

    unsafe fn wait_until<T: Word>(
        self,
        at: Place<T>,
        order: Ordering,
        _: Scope,
        _: WaitSite,
        mut ready: impl FnMut(T) -> bool,
    ) -> T {
        // As in the model of the grid barrier: not a loop of looks, which loom would explore without end.
        let word = self.world.word(at);
        loop {
            let value = narrow(word.atomic.load(order));
            if ready(value) {
                return value;
            }
            if ready(narrow(word.newest.load(Ordering::Relaxed))) {
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
    fn block_barrier(self, _: &'static Location<'static>) {}
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

/// Rules with a buffer for one task and the spawns of another.
fn rules(most_spawns: u64) -> Rules {
    Rules {
        capacity: (2 + most_spawns).next_power_of_two(),
        keep: 1,
        most_spawns,
        generation_end: u64::MAX,
        order: Order::Lifo,
        counted: false,
    }
}
