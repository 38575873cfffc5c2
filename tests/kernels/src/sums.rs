//! Kernels of the suite `sums`.

use core::ops::Range;

use gridwise::prelude::*;

/// The sum of all values, or of their squares; every block keeps it.
#[repr(C)]
pub struct Sum<'a> {
    pub values: Span<'a, u32>,
    pub squares: bool,
    pub out: SpanMut<'a, u64>,
}

// SAFETY: each block's first thread writes the block's own element; all threads take part in the reduction.
unsafe impl GridKernel for Sum<'_> {
    const NAME: &'static str = "sum";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let mut own = 0;
        for i in acc.threads_in_grid(0..self.values.len()) {
            let value = u64::from(self.values[i]);
            own += if self.squares { value * value } else { value };
        }
        let sum = acc.reduce_grid(own, |a, b| a + b);
        if acc.thread_index() == 0 {
            self.out.set(acc, acc.block_index(), sum);
        }
    }
}

/// Prefix sums in place, modulo 2³².
#[repr(C)]
pub struct ScanInPlace<'a> {
    pub inclusive: bool,
    /// An element a block.
    pub of_block: SpanMut<'a, u32>,
    pub array: SpanMut<'a, u32>,
}

// SAFETY: each thread reads and writes its own part of the array; each block's first thread writes the block's own sum, which all
// read after the grid barrier.
unsafe impl GridKernel for ScanInPlace<'_> {
    const NAME: &'static str = "scan_in_place";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let of_block = part(0..self.array.len(), acc.block_index(), acc.block_count());
        let own = self
            .array
            .slice(acc, part(of_block, acc.thread_index(), acc.thread_count()));
        let mut sum = 0_u32;
        for i in 0..own.len() {
            sum = sum.wrapping_add(own.get(acc, i));
        }
        let (mut before, of_block) = acc.exclusive_scan_block(sum, 0, u32::wrapping_add);
        if acc.thread_index() == 0 {
            self.of_block.set(acc, acc.block_index(), of_block);
        }
        acc.sync_grid();
        for block in 0..acc.block_index() {
            before = before.wrapping_add(self.of_block.get(acc, block));
        }
        for i in 0..own.len() {
            let after = before.wrapping_add(own.get(acc, i));
            own.set(acc, i, if self.inclusive { after } else { before });
            before = after;
        }
    }
}

/// One of `parts` consecutive parts of a range, of equal length but for the last ones.
fn part(range: Range<usize>, index: usize, parts: usize) -> Range<usize> {
    let each = range.len().div_ceil(parts);
    let start = range.end.min(range.start + index * each);
    start..range.end.min(start + each)
}
