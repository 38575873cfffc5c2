//! Kernels of the suite `atomics`.

use core::marker::PhantomData;

use gridwise::{
    kernel::{atomic::Word, scope::IsScope},
    prelude::*,
};

/// What an operation leaves of a value; by its number.
pub trait Oracle: Word {
    const OPERATIONS: usize;
    fn leaves(self, operation: usize, operand: Self) -> Self;
    fn number(bits: u64) -> Self;
    /// The operation itself; returns the value before.
    fn act<A: Acc, S: IsScope>(word: Atomic<'_, Self, S>, acc: A, operation: usize, operand: Self) -> Self;
    /// The operation in shared memory.
    fn act_shared<A: Acc>(word: SharedAtomic<Self>, acc: A, operation: usize, operand: Self) -> Self;
}

/// Orders to go through.
pub const ORDERS: [Ordering; 5] = [
    Ordering::Relaxed,
    Ordering::Acquire,
    Ordering::Release,
    Ordering::AcqRel,
    Ordering::SeqCst,
];

/// Names of the operations, by number; floats have the first four.
pub const NAMES: [&str; 9] = [
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
pub struct Sequence<'a, T, S> {
    pub shared: bool,
    pub word: SpanMut<'a, T>,
    pub operands: Span<'a, T>,
    pub before: SpanMut<'a, T>,
    pub scope: PhantomData<S>,
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

/// All threads of a grid act on one word an operation.
#[repr(C)]
pub struct Together<'a, T, S> {
    pub operands: Span<'a, T>,
    /// One word an operation.
    pub words: SpanMut<'a, T>,
    /// What a swap returned, an element an operand.
    pub swapped: SpanMut<'a, T>,
    pub scope: PhantomData<S>,
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

/// Takes tickets, and marks each.
#[repr(C)]
pub struct Tickets<'a> {
    pub per_thread: usize,
    pub next: SpanMut<'a, u32>,
    pub taken: SpanMut<'a, u32>,
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

/// Writes down the tickets for which there is room: each is looked at twice, and drawn once.
#[repr(C)]
pub struct Compact<'a> {
    pub per_thread: usize,
    pub next: SpanMut<'a, u32>,
    /// Starts as zeros.
    pub kept: SpanMut<'a, u32>,
}

// SAFETY: tickets are unique, so each element is written by one thread.
unsafe impl Kernel for Compact<'_> {
    const NAME: &'static str = "compact";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for _ in 0..self.per_thread {
            let ticket = self.next.atomic(0).fetch_add(acc, 1, Ordering::Relaxed) as usize;
            if ticket < self.kept.len() {
                self.kept
                    .set(acc, ticket, self.kept.get(acc, ticket) + ticket as u32 + 1);
            }
        }
    }
}

/// Swaps one NaN, and one zero, for another, by their bits.
#[repr(C)]
pub struct Bits<'a> {
    pub words: SpanMut<'a, f64>,
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

/// Blocks claim chunks until none is left.
#[repr(C)]
pub struct ChunkLoop<'a> {
    pub chunk: usize,
    pub next: SpanMut<'a, u64>,
    pub visits: SpanMut<'a, u32>,
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

/// Each block counts its threads in shared memory.
#[repr(C)]
pub struct SharedCount<'a> {
    pub out: SpanMut<'a, i64>,
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

/// Loads with an order for stores.
#[repr(C)]
pub struct ReleaseLoad<'a> {
    pub word: SpanMut<'a, u32>,
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
