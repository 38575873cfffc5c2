//! Shared memory: written, met at a barrier, read; reused; apart from that of other blocks.

use gridwise::prelude::*;

use crate::support::{grids, lengths, queue, random_numbers, skew, team};

const TILE: usize = 32;

/// Each frame backwards, through shared memory.
#[repr(C)]
struct Reverse<'a> {
    out: SpanMut<'a, u32>,
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

pub(crate) fn what_one_thread_writes_all_read_after_a_barrier(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        let mut out = device.zeroed(1000).unwrap();
        queue.launch(grid, Reverse { out: out.span_mut() }).unwrap();
        let indices: Vec<u32> = (0..1000).collect();
        let expected: Vec<u32> = indices
            .chunks(TILE)
            .flat_map(|chunk| chunk.iter().rev().copied())
            .collect();
        assert_eq!(queue.download(&out).unwrap(), expected, "{grid:?}");
    }
}

/// Each element plus its right neighbour in the chunk, `repeats` times over.
#[repr(C)]
struct Neighbours<'a> {
    input: Span<'a, i32>,
    out: SpanMut<'a, i32>,
    repeats: usize,
    skew: usize,
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

fn neighbours(device: &Device, len: usize, repeats: usize, skew: usize) {
    let queue = queue(device);
    let input: Vec<i32> = random_numbers(len).iter().map(|&x| (x % 1000) as i32).collect();
    let mut expected = vec![0_i32; len];
    for (input, out) in input.chunks(TILE).zip(expected.chunks_mut(TILE)) {
        for repeat in 0..repeats as i32 {
            for (i, out) in out.iter_mut().enumerate() {
                let sum = input[i] + input[(i + 1) % input.len()] + 2 * repeat;
                *out = out.wrapping_mul(3).wrapping_add(sum);
            }
        }
    }
    let input = queue.upload(&input).unwrap();
    for threads in [None, team(device, 3)] {
        let mut out = device.zeroed(len).unwrap();
        let kernel = Neighbours {
            input: input.span(),
            out: out.span_mut(),
            repeats,
            skew,
        };
        let frames = Frames::new(len, TILE);
        match threads {
            Some(threads) => queue.launch(frames.threads(threads), kernel).unwrap(),
            None => queue.launch(frames, kernel).unwrap(),
        }
        assert_eq!(
            queue.download(&out).unwrap(),
            expected,
            "{len} elements, {threads:?} threads"
        );
    }
}

// fault A10.9, A6.6: a tail shorter than the block, whose idle threads still reach the barriers.
pub(crate) fn neighbours_are_summed_for_every_tail(device: &Device) {
    for len in lengths(TILE) {
        neighbours(device, len, 1, 0);
    }
}

pub(crate) fn neighbours_are_summed_by_skewed_threads(device: &Device) {
    neighbours(device, 3 * TILE + 5, 4, 300);
}

// fault A8.3: one tile passes, the second overwrites what is still read.
pub(crate) fn a_chunk_is_reused_many_times(device: &Device) {
    neighbours(device, 2 * TILE, 200, 0);
}

/// Fills arrays of several types and reads them back when all are full.
#[repr(C)]
struct Several<'a> {
    wrong: SpanMut<'a, u32>,
    dynamic: usize,
}

type Arrays = (
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

fn several(device: &Device, dynamic: usize) {
    let queue = queue(device);
    for grid in grids(device) {
        let mut wrong = device.zeroed(1).unwrap();
        let kernel = Several {
            wrong: wrong.span_mut(),
            dynamic,
        };
        queue.launch(grid, kernel).unwrap();
        assert_eq!(queue.download(&wrong).unwrap(), [0], "{grid:?}");
    }
}

pub(crate) fn arrays_of_different_types_do_not_overlap(device: &Device) {
    several(device, 3);
}

pub(crate) fn dynamic_shared_memory_has_the_length_asked_for(device: &Device) {
    for len in [0, 1, 17, 1009] {
        several(device, len);
    }
}

/// Writes through slices, reads through the whole.
#[repr(C)]
struct Slices<'a> {
    out: SpanMut<'a, u32>,
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

pub(crate) fn slices_are_views_of_the_same_elements(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        let mut out = device.zeroed(10).unwrap();
        queue.launch(grid, Slices { out: out.span_mut() }).unwrap();
        assert_eq!(queue.download(&out).unwrap(), [0, 0, 0, 7, 8, 0, 0, 9, 0, 0]);
    }
}

/// Each block keeps its own index in shared memory for a while.
#[repr(C)]
struct OwnIndex<'a> {
    out: SpanMut<'a, u64>,
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

pub(crate) fn blocks_do_not_see_the_memory_of_others(device: &Device) {
    let queue = queue(device);
    let mut out = device.zeroed(50).unwrap();
    queue
        .launch(Blocks::Exactly(50), OwnIndex { out: out.span_mut() })
        .unwrap();
    assert_eq!(queue.download(&out).unwrap(), (1..=50).collect::<Vec<u64>>());
}

const BINS: usize = 300;

/// Item after item in one block: short items take a short cut, the others count their samples.
#[repr(C)]
struct Items<'a> {
    samples: Span<'a, u8>,
    item_len: usize,
    largest: SpanMut<'a, u32>,
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

// fault A8.7: an item that takes a short cut leaves its counts to the next.
pub(crate) fn an_item_leaves_nothing_behind_for_the_next(device: &Device) {
    let queue = queue(device);
    let (items, item_len) = (9, 101);
    let samples: Vec<u8> = random_numbers(items * item_len)
        .iter()
        .map(|&x| (x % 5) as u8)
        .collect();
    let expected: Vec<u32> = (0..items)
        .map(|item| {
            let mut bins = [0; 5];
            for &sample in &samples[item * item_len..(item + 1) * item_len] {
                bins[sample as usize] += 1;
            }
            if item % 2 == 0 {
                u32::MAX
            } else {
                bins.into_iter().max().unwrap()
            }
        })
        .collect();
    let samples = queue.upload(&samples).unwrap();
    for grid in grids(device) {
        let mut largest = device.zeroed(items).unwrap();
        let kernel = Items {
            samples: samples.span(),
            item_len,
            largest: largest.span_mut(),
        };
        queue.launch(grid, kernel).unwrap();
        assert_eq!(queue.download(&largest).unwrap(), expected, "{grid:?}");
    }
}

/// A histogram of signed or unsigned bytes: counted in shared memory, added up in device memory.
#[repr(C)]
struct Histogram<'a> {
    samples: Span<'a, u8>,
    signed: bool,
    bins: SpanMut<'a, u32>,
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

fn histogram(device: &Device, signed: bool) {
    let queue = queue(device);
    let samples: Vec<u8> = random_numbers(5003).iter().map(|&x| x as u8).collect();
    let mut expected = vec![0; BINS];
    for (i, &sample) in samples.iter().enumerate() {
        expected[if signed {
            (sample as i8 as i32 + 128) as usize
        } else {
            sample as usize + i % 45
        }] += 1;
    }
    let samples = queue.upload(&samples).unwrap();
    for grid in grids(device) {
        let mut bins = device.zeroed(BINS).unwrap();
        let kernel = Histogram {
            samples: samples.span(),
            signed,
            bins: bins.span_mut(),
        };
        queue.launch(grid, kernel).unwrap();
        assert_eq!(queue.download(&bins).unwrap(), expected, "{grid:?}");
    }
}

// fault A10.4: bin numbers computed in the type of the samples.
pub(crate) fn there_may_be_more_bins_than_values_of_a_sample(device: &Device) {
    histogram(device, false);
}

// fault A10.4
pub(crate) fn the_full_range_of_signed_samples_is_counted(device: &Device) {
    histogram(device, true);
}

/// Reads past the end of shared memory in one block.
#[repr(C)]
struct PastTheEnd;

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

pub(crate) fn an_index_out_of_bounds_names_block_and_thread(device: &Device) {
    let threads = team(device, 3).unwrap_or(1);
    match queue(device).launch(Blocks::Exactly(3).threads(threads), PastTheEnd) {
        Err(LaunchError::Panicked {
            kernel: "past_the_end",
            block: 2,
            thread,
            message,
        }) => {
            assert_eq!(thread, threads - 1);
            assert!(message.contains("out of bounds"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}
