//! Atomics: every operation, type and scope, alone against a sequential oracle and together against what must come out.

use std::marker::PhantomData;

use gridwise::{
    kernel::{atomic::Word, scope::IsScope},
    prelude::*,
};

use crate::support::{grids, queue, random_numbers, team};

/// What an operation leaves of a value; by its number.
trait Oracle: Word {
    const OPERATIONS: usize;
    fn leaves(self, operation: usize, operand: Self) -> Self;
    fn number(bits: u64) -> Self;
    /// The operation itself; returns the value before.
    fn act<A: Acc, S: IsScope>(word: Atomic<'_, Self, S>, acc: A, operation: usize, operand: Self) -> Self;
    /// The operation in shared memory.
    fn act_shared<A: Acc>(word: SharedAtomic<Self>, acc: A, operation: usize, operand: Self) -> Self;
}

/// Orders to go through.
const ORDERS: [Ordering; 5] = [
    Ordering::Relaxed,
    Ordering::Acquire,
    Ordering::Release,
    Ordering::AcqRel,
    Ordering::SeqCst,
];

/// Names of the operations, by number; floats have the first four.
const NAMES: [&str; 9] = [
    "fetch_add",
    "fetch_sub",
    "swap",
    "compare_exchange",
    "fetch_min",
    "fetch_max",
    "fetch_and",
    "fetch_or",
    "fetch_xor",
];

macro_rules! act {
    ($word:ident, $acc:ident, $operation:ident, $operand:ident, [$($name:ident),*]) => {{
        let order = ORDERS[$operation % ORDERS.len()];
        match NAMES[$operation] {
            // Exchanges if it guesses right, and it does: nobody else is there.
            "compare_exchange" => {
                let before = $word.load($acc, Ordering::Relaxed);
                let result = $word.compare_exchange($acc, before, $operand, order, Ordering::Relaxed);
                assert_eq!(result, Ok(before));
                before
            }
            $(stringify!($name) => $word.$name($acc, $operand, order),)*
            other => unreachable!("{other}"),
        }
    }};
}

macro_rules! oracle {
    ($type:ty, $operations:literal, $names:tt, |$value:ident, $operand:ident| [$($leaves:expr),*], |$bits:ident| $number:expr) => {
        impl Oracle for $type {
            const OPERATIONS: usize = $operations;
            fn leaves(self, operation: usize, $operand: Self) -> Self {
                let $value = self;
                [$($leaves),*][operation]
            }
            fn number($bits: u64) -> Self {
                $number
            }
            fn act<A: Acc, S: IsScope>(word: Atomic<'_, Self, S>, acc: A, operation: usize, operand: Self) -> Self {
                act!(word, acc, operation, operand, $names)
            }
            fn act_shared<A: Acc>(word: SharedAtomic<Self>, acc: A, operation: usize, operand: Self) -> Self {
                act!(word, acc, operation, operand, $names)
            }
        }
    };
}

macro_rules! integer_oracles {
    ($($type:ty),*) => { $(
        oracle!(
            $type, 9, [fetch_add, fetch_sub, swap, fetch_min, fetch_max, fetch_and, fetch_or, fetch_xor],
            |a, b| [
                a.wrapping_add(b), a.wrapping_sub(b), b, b,
                if b < a { b } else { a }, if b > a { b } else { a }, a & b, a | b, a ^ b
            ],
            |bits| bits as $type
        );
    )* };
}
integer_oracles!(u32, i32, u64, i64);
// Whole numbers, so that sums are exact whatever their order.
oracle!(
    f32,
    4,
    [fetch_add, fetch_sub, swap],
    |a, b| [a + b, a - b, b, b],
    |bits| (bits % 1000) as f32
);
oracle!(
    f64,
    4,
    [fetch_add, fetch_sub, swap],
    |a, b| [a + b, a - b, b, b],
    |bits| (bits % 1_000_003) as f64
);

/// One thread applies each operand with each operation, and keeps what was before.
#[repr(C)]
struct Sequence<'a, T, S> {
    shared: bool,
    word: SpanMut<'a, T>,
    operands: Span<'a, T>,
    before: SpanMut<'a, T>,
    scope: PhantomData<S>,
}

// SAFETY: only one thread does anything.
unsafe impl<T: Oracle, S: IsScope> Kernel for Sequence<'_, T, S> {
    const NAME: &'static str = "sequence";
    type Shared = SharedArray<T, 3>;

    fn run<A: Acc>(self, acc: A, cells: Self::Shared) {
        if acc.block_index() > 0 || acc.thread_index() > 0 {
            return;
        }
        let word = self.word.atomic(0).scoped::<S>();
        let cell = cells.atomic(1);
        cell.store(acc, word.load(acc, Ordering::SeqCst), Ordering::SeqCst);
        for (i, &operand) in self.operands.iter().enumerate() {
            let operation = i % T::OPERATIONS;
            let before = if self.shared {
                T::act_shared(cell, acc, operation, operand)
            } else {
                T::act(word, acc, operation, operand)
            };
            self.before.set(acc, i, before);
        }
        if self.shared {
            word.store(acc, cell.load(acc, Ordering::Acquire), Ordering::Release);
        }
    }
}

fn sequence_of<T: Oracle, S: IsScope>(device: &Device, shared: bool) {
    let queue = queue(device);
    let operands: Vec<T> = random_numbers(300).into_iter().map(T::number).collect();
    let mut value = T::number(5);
    let mut word = queue.upload(&[value]).unwrap();
    let on_device = queue.upload(&operands).unwrap();
    let mut before = device.zeroed(operands.len()).unwrap();
    let kernel = Sequence::<T, S> {
        shared,
        word: word.span_mut(),
        operands: on_device.span(),
        before: before.span_mut(),
        scope: PhantomData,
    };
    queue.launch(Blocks::Exactly(1), kernel).unwrap();
    let before = queue.download(&before).unwrap();
    for (i, &operand) in operands.iter().enumerate() {
        let name = NAMES[i % T::OPERATIONS];
        assert_eq!(
            before[i],
            value,
            "{name} number {i} at {:?}, shared: {shared}",
            S::SCOPE
        );
        value = value.leaves(i % T::OPERATIONS, operand);
    }
    assert_eq!(queue.download(&word).unwrap(), [value]);
}

fn sequences<T: Oracle>(device: &Device) {
    sequence_of::<T, scope::Block>(device, false);
    sequence_of::<T, scope::Device>(device, false);
    sequence_of::<T, scope::System>(device, false);
    sequence_of::<T, scope::Block>(device, true);
}

/// All threads of a grid act on one word an operation.
#[repr(C)]
struct Together<'a, T, S> {
    operands: Span<'a, T>,
    /// One word an operation.
    words: SpanMut<'a, T>,
    /// What a swap returned, an element an operand.
    swapped: SpanMut<'a, T>,
    scope: PhantomData<S>,
}

// SAFETY: the words are atomic; what is swapped out is written by the thread that owns the operand.
unsafe impl<T: Oracle, S: IsScope> Kernel for Together<'_, T, S> {
    const NAME: &'static str = "together";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.operands.len()) {
            let operand = self.operands[i];
            for (operation, name) in NAMES[..T::OPERATIONS].iter().enumerate() {
                let word = self.words.atomic(operation).scoped::<S>();
                match *name {
                    "swap" => self.swapped.set(acc, i, word.swap(acc, operand, Ordering::AcqRel)),
                    "compare_exchange" => {
                        // A sum by hand, to show that a success is never given to two.
                        let mut now = word.load(acc, Ordering::Relaxed);
                        while let Err(other) =
                            word.compare_exchange(acc, now, now.leaves(0, operand), Ordering::AcqRel, Ordering::Relaxed)
                        {
                            now = other;
                        }
                    }
                    _ => drop(T::act(word, acc, operation, operand)),
                }
            }
        }
    }
}

fn together_at<T: Oracle, S: IsScope>(device: &Device) {
    let queue = queue(device);
    let operands: Vec<T> = random_numbers(700).into_iter().map(T::number).collect();
    let start = T::number(77);
    // At block scope only the threads of one block may act together.
    let grids = if S::SCOPE == Scope::Block {
        vec![Blocks::Exactly(1).threads(team(device, 4).unwrap_or(1))]
    } else {
        grids(device)
    };
    for grid in grids {
        let on_device = queue.upload(&operands).unwrap();
        let mut words = queue.upload(&vec![start; T::OPERATIONS]).unwrap();
        let mut swapped = device.zeroed(operands.len()).unwrap();
        let kernel = Together::<T, S> {
            operands: on_device.span(),
            words: words.span_mut(),
            swapped: swapped.span_mut(),
            scope: PhantomData,
        };
        queue.launch(grid, kernel).unwrap();
        let words = queue.download(&words).unwrap();
        for (operation, name) in NAMES[..T::OPERATIONS].iter().enumerate() {
            let expected = match *name {
                "swap" => continue,
                "compare_exchange" => operands.iter().fold(start, |sum, &operand| sum.leaves(0, operand)),
                _ => operands
                    .iter()
                    .fold(start, |value, &operand| value.leaves(operation, operand)),
            };
            assert_eq!(words[operation], expected, "{name} on {grid:?} at {:?}", S::SCOPE);
        }
        // What went in came out, or is there still.
        let sorted = |values: &mut Vec<T>| {
            let mut bytes: Vec<String> = values.drain(..).map(|value| format!("{value:?}")).collect();
            bytes.sort();
            bytes
        };
        let mut out = queue.download(&swapped).unwrap();
        out.push(words[2]);
        let mut all_in = operands.clone();
        all_in.push(start);
        assert_eq!(sorted(&mut out), sorted(&mut all_in), "swap on {grid:?}");
    }
}

fn together<T: Oracle>(device: &Device) {
    together_at::<T, scope::Block>(device);
    together_at::<T, scope::Device>(device);
    together_at::<T, scope::System>(device);
}

pub(crate) fn every_operation_on_u32_does_what_it_says(device: &Device) {
    sequences::<u32>(device);
}

pub(crate) fn every_operation_on_i32_does_what_it_says(device: &Device) {
    sequences::<i32>(device);
}

pub(crate) fn every_operation_on_u64_does_what_it_says(device: &Device) {
    sequences::<u64>(device);
}

pub(crate) fn every_operation_on_i64_does_what_it_says(device: &Device) {
    sequences::<i64>(device);
}

pub(crate) fn every_operation_on_f32_does_what_it_says(device: &Device) {
    sequences::<f32>(device);
}

pub(crate) fn every_operation_on_f64_does_what_it_says(device: &Device) {
    sequences::<f64>(device);
}

pub(crate) fn no_operation_on_u32_is_lost(device: &Device) {
    together::<u32>(device);
}

pub(crate) fn no_operation_on_i32_is_lost(device: &Device) {
    together::<i32>(device);
}

pub(crate) fn no_operation_on_u64_is_lost(device: &Device) {
    together::<u64>(device);
}

pub(crate) fn no_operation_on_i64_is_lost(device: &Device) {
    together::<i64>(device);
}

pub(crate) fn no_sum_of_floats_is_lost(device: &Device) {
    together::<f32>(device);
    together::<f64>(device);
}

/// Takes tickets, and marks each.
#[repr(C)]
struct Tickets<'a> {
    per_thread: usize,
    next: SpanMut<'a, u32>,
    taken: SpanMut<'a, u32>,
}

// SAFETY: tickets are unique, so each mark is written by one thread; that they are is what is tested, and marks are atomic.
unsafe impl Kernel for Tickets<'_> {
    const NAME: &'static str = "tickets";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for _ in 0..self.per_thread {
            let ticket = self.next.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
            self.taken.atomic(ticket as usize).fetch_add(acc, 1, Ordering::Relaxed);
        }
    }
}

fn tickets(device: &Device, blocks: usize, threads: usize, per_thread: usize) {
    let queue = queue(device);
    let all = blocks * threads * per_thread;
    let (mut next, mut taken) = (device.zeroed(1).unwrap(), device.zeroed(all).unwrap());
    let kernel = Tickets {
        per_thread,
        next: next.span_mut(),
        taken: taken.span_mut(),
    };
    queue.launch(Blocks::Exactly(blocks).threads(threads), kernel).unwrap();
    assert_eq!(queue.download(&next).unwrap(), [all as u32]);
    assert_eq!(queue.download(&taken).unwrap(), vec![1; all]);
}

pub(crate) fn sixty_four_blocks_increment_one_counter(device: &Device) {
    tickets(device, 64, 1, 1);
    tickets(device, 64, team(device, 2).unwrap_or(1), 1);
}

pub(crate) fn tickets_are_unique(device: &Device) {
    tickets(device, 7, team(device, 4).unwrap_or(1), 500);
}

/// Swaps one NaN, and one zero, for another, by their bits.
#[repr(C)]
struct Bits<'a> {
    words: SpanMut<'a, f64>,
}

// SAFETY: the words are atomic, and one thread uses them.
unsafe impl Kernel for Bits<'_> {
    const NAME: &'static str = "bits";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        if acc.block_index() > 0 || acc.thread_index() > 0 {
            return;
        }
        let exchange = |index, current, new| {
            let word = self.words.atomic(index);
            word.compare_exchange(acc, current, new, Ordering::SeqCst, Ordering::SeqCst)
                .is_ok()
        };
        assert!(exchange(0, f64::NAN, 1.0), "the same bits are equal, even of a NaN");
        assert!(!exchange(1, -0.0, 1.0), "zeros of different bits are not equal");
        assert!(exchange(1, 0.0, 2.0));
    }
}

pub(crate) fn compare_exchange_compares_bits(device: &Device) {
    let queue = queue(device);
    let mut words = queue.upload(&[f64::NAN, 0.0]).unwrap();
    queue
        .launch(
            Blocks::Exactly(1),
            Bits {
                words: words.span_mut(),
            },
        )
        .unwrap();
    assert_eq!(queue.download(&words).unwrap(), [1.0, 2.0]);
}

/// Blocks claim chunks until none is left.
#[repr(C)]
struct ChunkLoop<'a> {
    chunk: usize,
    next: SpanMut<'a, u64>,
    visits: SpanMut<'a, u32>,
}

// SAFETY: a chunk belongs to the block that claimed it, an element of it to one thread.
unsafe impl Kernel for ChunkLoop<'_> {
    const NAME: &'static str = "chunk_loop";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let (len, chunk) = (self.visits.len(), self.chunk);
        loop {
            let start = acc.broadcast(|| self.next.atomic(0).fetch_add(acc, chunk as u64, Ordering::Relaxed));
            let start = start as usize;
            if start >= len {
                break;
            }
            for i in acc.threads_in_block(start..(start + chunk).min(len)) {
                self.visits.set(acc, i, self.visits.get(acc, i) + 1);
            }
        }
    }
}

pub(crate) fn a_chunk_counter_hands_out_every_chunk(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        for (len, chunk) in [(0, 4), (1, 4), (1009, 13), (1000, 10), (5, 100)] {
            let (mut next, mut visits) = (device.zeroed(1).unwrap(), device.zeroed(len).unwrap());
            let kernel = ChunkLoop {
                chunk,
                next: next.span_mut(),
                visits: visits.span_mut(),
            };
            queue.launch(grid, kernel).unwrap();
            assert_eq!(queue.download(&visits).unwrap(), vec![1; len], "{grid:?}");
        }
    }
}

/// Each block counts its threads in shared memory.
#[repr(C)]
struct SharedCount<'a> {
    out: SpanMut<'a, i64>,
}

// SAFETY: the counter is cleared, counted atomically and read, with barriers between; each block writes its own element.
unsafe impl Kernel for SharedCount<'_> {
    const NAME: &'static str = "shared_count";
    type Shared = SharedArray<i64, 1>;

    fn run<A: Acc>(self, acc: A, count: Self::Shared) {
        if acc.thread_index() == 0 {
            count.set(acc, 0, 0);
        }
        acc.sync_block();
        for _ in 0..100 {
            count.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
        }
        acc.sync_block();
        if acc.thread_index() == 0 {
            self.out.set(acc, acc.block_index(), count.get(acc, 0));
        }
    }
}

pub(crate) fn shared_counters_count_every_thread(device: &Device) {
    let queue = queue(device);
    let threads = team(device, 8).unwrap_or(1);
    let mut out = device.zeroed(5).unwrap();
    let grid = Blocks::Exactly(5).threads(threads);
    queue.launch(grid, SharedCount { out: out.span_mut() }).unwrap();
    assert_eq!(queue.download(&out).unwrap(), [100 * threads as i64; 5]);
}

/// Loads with an order for stores.
#[repr(C)]
struct ReleaseLoad<'a> {
    word: SpanMut<'a, u32>,
}

// SAFETY: the word is atomic.
unsafe impl Kernel for ReleaseLoad<'_> {
    const NAME: &'static str = "release_load";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        // Not a constant, or the compiler would refuse it.
        let order = ORDERS[2 + acc.block_index()];
        self.word.atomic(0).load(acc, order);
    }
}

pub(crate) fn an_order_that_a_load_cannot_have_is_an_error(device: &Device) {
    let mut word = device.zeroed(1).unwrap();
    let refused = queue(device).launch(Blocks::Exactly(1).threads(1), ReleaseLoad { word: word.span_mut() });
    assert!(matches!(refused, Err(LaunchError::Panicked { .. })), "{refused:?}");
}
