//! Kernels of the suite `shared_memory`.

use gridwise::prelude::*;

use crate::support::skew;

pub const TILE: usize = 32;

/// Each frame backwards, through shared memory.
#[repr(C)]
pub struct Reverse<'a> {
    pub out: SpanMut<'a, u32>,
}

// SAFETY: `out[i]` is written by the thread that owns `i`; barriers separate writes and reads of the tile.
unsafe impl Kernel for Reverse<'_> {
    const NAME: &'static str = "reverse";
    type Shared = SharedArray<u32, TILE>;

    fn run<A: Acc>(self, acc: A, tile: Self::Shared) {
        for frame in acc.blocks_in_grid(0..self.out.len(), TILE) {
            let n = frame.len();
            for i in acc.threads_in_block(0..n) {
                tile.set(acc, i, (frame.start + i) as u32);
            }
            acc.sync_block();
            for i in acc.threads_in_block(0..n) {
                self.out.set(acc, frame.start + i, tile.get(acc, n - 1 - i));
            }
            acc.sync_block();
        }
    }
}

/// Each element plus its right neighbour in the chunk, `repeats` times over.
#[repr(C)]
pub struct Neighbours<'a> {
    pub input: Span<'a, i32>,
    pub out: SpanMut<'a, i32>,
    pub repeats: usize,
    pub skew: usize,
}

// SAFETY: `out[i]` is accessed by the thread that owns `i`; barriers separate writes and reads of the chunk.
unsafe impl Kernel for Neighbours<'_> {
    const NAME: &'static str = "neighbours";
    type Shared = SharedArray<i32, TILE>;

    fn run<A: Acc>(self, acc: A, chunk: Self::Shared) {
        for frame in acc.blocks_in_grid(0..self.out.len(), TILE) {
            let (input, out) = (&self.input[frame.clone()], self.out.slice(acc, frame));
            let n = input.len();
            for repeat in 0..self.repeats {
                skew(self.skew * ((acc.thread_index() + repeat) % 3));
                for i in acc.threads_in_block(0..n) {
                    chunk.set(acc, i, input[i] + repeat as i32);
                }
                skew(self.skew * ((acc.thread_index() + repeat + 1) % 3));
                acc.sync_block();
                for i in acc.threads_in_block(0..n) {
                    let sum = chunk.get(acc, i) + chunk.get(acc, (i + 1) % n);
                    out.set(acc, i, out.get(acc, i).wrapping_mul(3).wrapping_add(sum));
                }
                skew(self.skew * (acc.thread_index() % 2));
                acc.sync_block();
            }
        }
    }
}

/// Fills arrays of several types and reads them back when all are full.
#[repr(C)]
pub struct Several<'a> {
    pub wrong: SpanMut<'a, u32>,
    pub dynamic: usize,
}

pub type Arrays = (
    SharedArray<u8, 3>,
    SharedArray<f64, 5>,
    SharedArray<u16, 7>,
    DynamicShared<u64>,
);

// SAFETY: elements are written by the threads that own them, read after a barrier; `wrong` is atomic.
unsafe impl Kernel for Several<'_> {
    const NAME: &'static str = "several";
    type Shared = Arrays;

    fn dynamic_len(&self) -> usize {
        self.dynamic
    }

    fn run<A: Acc>(self, acc: A, (bytes, doubles, shorts, words): Arrays) {
        assert_eq!((bytes.len(), doubles.len(), shorts.len()), (3, 5, 7));
        assert_eq!(words.len(), self.dynamic);
        for i in acc.threads_in_block(0..3) {
            bytes.set(acc, i, 10 + i as u8);
        }
        for i in acc.threads_in_block(0..5) {
            doubles.set(acc, i, 0.5 + i as f64);
        }
        for i in acc.threads_in_block(0..7) {
            shorts.set(acc, i, 1000 + i as u16);
        }
        for i in acc.threads_in_block(0..self.dynamic) {
            words.set(acc, i, u64::MAX - i as u64);
        }
        acc.sync_block();
        let wrong = (0..3).filter(|&i| bytes.get(acc, i) != 10 + i as u8).count()
            + (0..5).filter(|&i| doubles.get(acc, i) != 0.5 + i as f64).count()
            + (0..7).filter(|&i| shorts.get(acc, i) != 1000 + i as u16).count()
            + (0..self.dynamic)
                .filter(|&i| words.get(acc, i) != u64::MAX - i as u64)
                .count();
        self.wrong.atomic(0).fetch_add(acc, wrong as u32, Ordering::Relaxed);
    }
}

/// Writes through slices, reads through the whole.
#[repr(C)]
pub struct Slices<'a> {
    pub out: SpanMut<'a, u32>,
}

// SAFETY: elements are written by the first thread, read after a barrier; the first thread of block 0 writes `out`.
unsafe impl Kernel for Slices<'_> {
    const NAME: &'static str = "slices";
    type Shared = SharedArray<u32, 10>;

    fn run<A: Acc>(self, acc: A, all: Self::Shared) {
        if acc.thread_index() == 0 {
            (0..10).for_each(|i| all.set(acc, i, 0));
            let middle = all.slice(3..8);
            assert_eq!(
                (middle.len(), all.prefix(4).len(), all.slice(5..5).is_empty()),
                (5, 4, true)
            );
            middle.set(acc, 0, 7);
            middle.slice(2..).set(acc, 2, 9);
            middle.atomic(1).fetch_add(acc, 8, Ordering::Relaxed);
        }
        acc.sync_block();
        for i in acc.threads_in_grid(0..10) {
            self.out.set(acc, i, all.get(acc, i));
        }
    }
}

/// Each block keeps its own index in shared memory for a while.
#[repr(C)]
pub struct OwnIndex<'a> {
    pub out: SpanMut<'a, u64>,
}

// SAFETY: the cell is written by one thread, read after a barrier; each block's first thread writes its own element.
unsafe impl Kernel for OwnIndex<'_> {
    const NAME: &'static str = "own_index";
    type Shared = SharedArray<u64, 1>;

    fn run<A: Acc>(self, acc: A, cell: Self::Shared) {
        if acc.thread_index() == acc.thread_count() - 1 {
            cell.set(acc, 0, acc.block_index() as u64);
        }
        acc.sync_block();
        skew(200);
        let kept = cell.get(acc, 0);
        acc.sync_block();
        if acc.thread_index() == 0 {
            self.out.set(acc, acc.block_index(), kept + 1);
        }
    }
}

pub const BINS: usize = 300;

/// Item after item in one block: short items take a short cut, the others count their samples.
#[repr(C)]
pub struct Items<'a> {
    pub samples: Span<'a, u8>,
    pub item_len: usize,
    pub largest: SpanMut<'a, u32>,
}

// SAFETY: bins are cleared by their owners, counted atomically, read by the first thread, with barriers between.
unsafe impl Kernel for Items<'_> {
    const NAME: &'static str = "items";
    type Shared = SharedArray<u32, BINS>;

    fn run<A: Acc>(self, acc: A, bins: Self::Shared) {
        let items = self.largest.len();
        for frame in acc.blocks_in_grid(0..items, 1) {
            let item = frame.start;
            for bin in acc.threads_in_block(0..BINS) {
                bins.set(acc, bin, 0);
            }
            acc.sync_block();
            let samples = &self.samples[item * self.item_len..(item + 1) * self.item_len];
            for i in acc.threads_in_block(0..self.item_len) {
                bins.atomic(samples[i] as usize).fetch_add(acc, 1, Ordering::Relaxed);
            }
            acc.sync_block();
            if item % 2 == 0 {
                // The short cut: uniform in the block, and it leaves the bins full.
                if acc.thread_index() == 0 {
                    self.largest.set(acc, item, u32::MAX);
                }
            } else if acc.thread_index() == 0 {
                let largest = (0..BINS).map(|bin| bins.get(acc, bin)).max();
                self.largest.set(acc, item, largest.unwrap_or(0));
            }
            acc.sync_block();
        }
    }
}

/// A histogram of signed or unsigned bytes: counted in shared memory, added up in device memory.
#[repr(C)]
pub struct Histogram<'a> {
    pub samples: Span<'a, u8>,
    pub signed: bool,
    pub bins: SpanMut<'a, u32>,
}

// SAFETY: bins are cleared by their owners, counted atomically, read by their owners, with barriers between; sums are atomic.
unsafe impl Kernel for Histogram<'_> {
    const NAME: &'static str = "histogram";
    type Shared = SharedArray<u32, BINS>;

    fn run<A: Acc>(self, acc: A, bins: Self::Shared) {
        for bin in acc.threads_in_block(0..BINS) {
            bins.set(acc, bin, 0);
        }
        acc.sync_block();
        for i in acc.threads_in_grid(0..self.samples.len()) {
            let sample = self.samples[i];
            let bin = if self.signed {
                (i32::from(sample as i8) + 128) as usize
            } else {
                // Values from 0 to 299, more than a byte can count.
                usize::from(sample) + i % 45
            };
            bins.atomic(bin).fetch_add(acc, 1, Ordering::Relaxed);
        }
        acc.sync_block();
        for bin in acc.threads_in_block(0..BINS) {
            self.bins
                .atomic(bin)
                .fetch_add(acc, bins.get(acc, bin), Ordering::Relaxed);
        }
    }
}

/// Reads past the end of shared memory in one block.
#[repr(C)]
pub struct PastTheEnd;

// SAFETY: it stores nothing that it reads.
unsafe impl Kernel for PastTheEnd {
    const NAME: &'static str = "past_the_end";
    type Shared = SharedArray<u32, 4>;

    fn run<A: Acc>(self, acc: A, four: Self::Shared) {
        if acc.block_index() == 2 && acc.thread_index() == acc.thread_count() - 1 {
            four.set(acc, 4, 1);
        }
    }
}
