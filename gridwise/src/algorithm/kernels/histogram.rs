//! Histogram: each block counts its part into tables of its own, and after a grid barrier a few blocks add up what all have counted.
//!
//! A thread that is a warp by itself, as on a CPU, counts into tables that are its own, without atomics. The threads of a GPU share
//! tables in shared memory, one a warp, or tables in device memory, if there are too many bins for that.

use core::sync::atomic::Ordering;

use bytemuck::Pod;

use crate::{
    algorithm::operator::Transform,
    kernel::{Acc, DynamicShared, Phase, Phased, Span, SpanMut},
};

/// Bins that a block adds up at a time: with 256 of them at most four blocks combine, and the others are done.
const BINS_TOGETHER: usize = 64;

/// Tables that a lone thread counts into in turn: elements that are alike and follow each other would wait for each other at one
/// counter.
pub(crate) const LANES: usize = 8;

/// Values that a byte can have.
const BYTES: usize = 1 << u8::BITS;

/// Where a thread's tables begin are multiples of so many counters, so that no two threads write to one line of a cache.
pub(crate) const LINE: usize = 32;

/// Where blocks count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Tables {
    /// Tables in device memory that each thread has to itself, 1 or [`LANES`]; 0 if threads share tables, and count by atomics.
    pub(crate) of_thread: usize,
    /// Tables in shared memory that a block's threads share; 0 for none.
    pub(crate) of_block: usize,
    /// Tables, or those of a thread, in device memory.
    pub(crate) groups: usize,
}

impl Tables {
    /// Counters in device memory from one group to the next, each of tables of `bins`.
    #[inline(always)]
    pub(crate) fn stride(self, bins: usize) -> usize {
        (self.of_thread.max(1) * bins).next_multiple_of(LINE)
    }
}

/// See the module.
#[repr(C)]
pub struct Counting<'a, T, K> {
    pub(crate) input: Span<'a, T>,
    /// Groups of tables: one a thread, one a block for what it has counted in shared memory, or fewer that blocks share. All 0.
    pub(crate) partial: SpanMut<'a, u32>,
    /// One more than there are bins, for what is in none of them. Added to.
    pub(crate) counts: SpanMut<'a, u64>,
    pub(crate) key: K,
    pub(crate) tables: Tables,
}

// SAFETY: a thread counts into tables that it alone owns, or by atomics. Elements of shared tables are cleared and added up by the
// one thread that owns them; between lie block barriers, which all threads meet. A block's table in `partial` is then written by
// its threads, each bin by one; all tables there are read in the next phase, and each count is written by the one thread that owns it.
unsafe impl<T: Pod, K: Transform<T, usize>> Phased for Counting<'_, T, K> {
    const NAME: &'static str = "histogram";
    type Shared = DynamicShared<u32>;
    const PHASES: usize = 2;

    fn dynamic_len(&self) -> usize {
        self.tables.of_block * self.counts.len()
    }

    #[inline(always)]
    fn phase<A: Acc>(self, acc: A, shared: DynamicShared<u32>, at: Phase) {
        let Tables {
            of_thread, of_block, ..
        } = self.tables;
        match (at.index, of_thread) {
            (0, LANES) => self.count_alone::<LANES, A>(acc),
            (0, 1) => self.count_alone::<1, A>(acc),
            (0, _) if of_block > 0 => self.count_in_shared(acc, shared),
            (0, _) => self.count_together(acc),
            _ => self.combine(acc),
        }
    }

    #[inline(always)]
    fn proceed<A: Acc>(self, _: A, _: usize) -> bool {
        false
    }
}

impl<T: Pod, K: Transform<T, usize>> Counting<'_, T, K> {
    /// The bin of an element, the last for what is in none.
    #[inline(always)]
    fn bin(&self, element: T) -> usize {
        self.key.apply(element).min(self.counts.len() - 1)
    }

    /// The group of that number, of what there are, over and over.
    #[inline(always)]
    fn group<A: Acc>(&self, acc: A, number: usize) -> SpanMut<'_, u32> {
        let bins = self.counts.len();
        let first = number % self.tables.groups * self.tables.stride(bins);
        self.partial
            .slice(acc, first..first + self.tables.of_thread.max(1) * bins)
    }

    /// Counts into `L` tables that are this thread's alone: the counters of a bin lie beside each other.
    #[inline(always)]
    fn count_alone<const L: usize, A: Acc>(&self, acc: A) {
        let group = self.group(acc, acc.thread_index_in_grid());
        // SAFETY: the group is this thread's alone.
        let counters = unsafe { group.as_mut_slice(acc) };
        let (counters, _) = counters.as_chunks_mut::<L>();
        if size_of::<T>() == 1
            && let Some((of_bytes, others)) = counters.split_first_chunk_mut::<BYTES>()
            && let Some(last) = others.len().checked_sub(1)
        {
            // So that a key which is the byte itself, as most are, is compared with nothing.
            self.count_into::<L, A>(acc, |element, lane| {
                let bin = self.key.apply(element);
                match of_bytes.get_mut(bin) {
                    Some(counter) => counter[lane] += 1,
                    None => others[(bin - BYTES).min(last)][lane] += 1,
                }
            });
        } else {
            let last = counters.len() - 1;
            self.count_into::<L, A>(acc, |element, lane| {
                counters[self.key.apply(element).min(last)][lane] += 1
            });
        }
    }

    /// Counts each element of the thread's in one of `L` lanes.
    #[inline(always)]
    fn count_into<const L: usize, A: Acc>(&self, acc: A, mut count: impl FnMut(T, usize)) {
        for run in acc.runs_in_grid(0..self.input.len()) {
            let (chunks, rest) = self.input[run].as_chunks::<L>();
            for chunk in chunks {
                for (lane, &element) in chunk.iter().enumerate() {
                    count(element, lane);
                }
            }
            for &element in rest {
                count(element, 0);
            }
        }
    }

    #[inline(always)]
    fn count_in_shared<A: Acc>(&self, acc: A, shared: DynamicShared<u32>) {
        let bins = self.counts.len();
        for i in acc.threads_in_block(0..shared.len()) {
            shared.set(acc, i, 0); // shared memory holds anything at the start
        }
        acc.sync_block();
        let number = acc.warp_index() % self.tables.of_block;
        let table = shared.slice(number * bins..(number + 1) * bins);
        for run in acc.runs_in_grid(0..self.input.len()) {
            for &element in &self.input[run] {
                table.atomic(self.bin(element)).fetch_add(acc, 1, Ordering::Relaxed);
            }
        }
        acc.sync_block();
        let group = self.group(acc, acc.block_index());
        for bin in acc.threads_in_block(0..bins) {
            let of_table = |table| shared.get(acc, table * bins + bin);
            group.set(acc, bin, (0..self.tables.of_block).map(of_table).sum());
        }
    }

    /// Counts where there is no room in shared memory.
    #[inline(always)]
    fn count_together<A: Acc>(&self, acc: A) {
        let group = self.group(acc, acc.block_index());
        for run in acc.runs_in_grid(0..self.input.len()) {
            for &element in &self.input[run] {
                group.atomic(self.bin(element)).fetch_add(acc, 1, Ordering::Relaxed);
            }
        }
    }

    #[inline(always)]
    fn combine<A: Acc>(&self, acc: A) {
        let bins = self.counts.len();
        let lanes = self.tables.of_thread.max(1);
        for some in acc.blocks_in_grid(0..bins, BINS_TOGETHER) {
            for bin in acc.threads_in_block(some) {
                let mut sum = self.counts.get(acc, bin);
                for number in 0..self.tables.groups {
                    let group = self.group(acc, number);
                    for lane in 0..lanes {
                        sum += u64::from(group.get(acc, bin * lanes + lane));
                    }
                }
                self.counts.set(acc, bin, sum);
            }
        }
    }
}
