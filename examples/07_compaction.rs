//! Stream compaction in one pass: each thread counts what it keeps, a block scan and a grid barrier turn the counts into
//! places, and each thread moves what it keeps to its place. What is kept stays in order.
//!
//! `cargo run --release --example 07_compaction`

use std::ops::Range;

use gridwise::prelude::*;

#[repr(C)]
struct Compact<'a> {
    input: Span<'a, u32>,
    /// The first elements are what is kept; the rest is not touched.
    out: SpanMut<'a, u32>,
    /// How much each block keeps.
    of_block: SpanMut<'a, u64>,
    /// How much is kept.
    kept: SpanMut<'a, u64>,
}

// SAFETY: each block's first thread writes the block's own count, which all read after the grid barrier; the places that
// threads write to follow one another without overlap, because they are sums of the numbers of elements that are written.
unsafe impl GridKernel for Compact<'_> {
    const NAME: &'static str = "compact";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        // Consecutive elements for each thread, in the order of blocks and threads, so that the order of counts is that of
        // elements.
        let of_block = part(0..self.input.len(), acc.block_index(), acc.block_count());
        let mine = &self.input[part(of_block, acc.thread_index(), acc.thread_count())];

        let count = mine.iter().filter(|&&element| keep(element)).count() as u64;
        let (before_in_block, of_block) = acc.exclusive_scan_block(count, 0, |a, b| a + b);
        if acc.thread_index() == 0 {
            self.of_block.set(acc, acc.block_index(), of_block);
        }
        acc.sync_grid();
        let sum = |blocks: Range<usize>| blocks.map(|block| self.of_block.get(acc, block)).sum::<u64>();
        let before = sum(0..acc.block_index()) + before_in_block;

        let places = self.out.slice(acc, before as usize..(before + count) as usize);
        for (place, &element) in mine.iter().filter(|&&element| keep(element)).enumerate() {
            places.set(acc, place, element);
        }
        if acc.block_index() == 0 && acc.thread_index() == 0 {
            self.kept.set(acc, 0, sum(0..acc.block_count()));
        }
    }
}

/// One of `parts` parts of a range, consecutive and of equal length, but for the last.
fn part(range: Range<usize>, index: usize, parts: usize) -> Range<usize> {
    let each = range.len().div_ceil(parts);
    let start = range.end.min(range.start + index * each);
    start..range.end.min(start + each)
}

fn keep(element: u32) -> bool {
    element.is_multiple_of(3)
}

fn main() -> Result<(), gridwise::Error> {
    let input: Vec<u32> = (0..1_000_003_u32).map(|i| i.wrapping_mul(2_654_435_761)).collect();

    let device = Device::from_env()?;
    let queue = device.queue();
    let on_device = queue.upload(&input)?;
    let mut out = device.zeroed(input.len())?;
    let mut of_block = device.zeroed(device.most_resident_blocks())?;
    let mut kept = device.zeroed(1)?;
    queue.launch_cooperative(
        Blocks::Resident,
        Compact {
            input: on_device.span(),
            out: out.span_mut(),
            of_block: of_block.span_mut(),
            kept: kept.span_mut(),
        },
    )?;
    let kept = queue.download(&kept)?[0] as usize;
    let mut result = vec![0; kept];
    queue.read(out.span().range(..kept), &mut result)?;

    let expected: Vec<u32> = input.iter().copied().filter(|&element| keep(element)).collect();
    assert_eq!(result, expected);
    println!(
        "{}: {kept} of {} elements kept, in order, in one launch",
        device.name(),
        input.len()
    );
    Ok(())
}
