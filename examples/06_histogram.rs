//! A histogram in one pass: each block counts into shared memory, a grid barrier, and a few blocks add up what all have counted.
//!
//! `cargo run --release --example 06_histogram`

use gridwise::prelude::*;

const BINS: usize = 256;
/// Bins that a block adds up at a time: with 256 bins at most four blocks combine, and the others are done.
const BINS_TOGETHER: usize = 64;

#[repr(C)]
struct Histogram<'a> {
    input: Span<'a, u8>,
    /// `BINS` counts for each block.
    partial: SpanMut<'a, u32>,
    counts: SpanMut<'a, u64>,
}

// SAFETY: `bins` are cleared, counted by atomics, and read in phases separated by block barriers. Each block writes its own
// part of `partial`, which all read after the grid barrier; each count is written by the one thread that owns it.
unsafe impl GridKernel for Histogram<'_> {
    const NAME: &'static str = "histogram";
    type Shared = SharedArray<u32, BINS>;

    fn run<A: GridAcc>(self, acc: A, bins: Self::Shared) {
        for bin in acc.threads_in_block(0..BINS) {
            bins.set(acc, bin, 0); // shared memory holds anything at the start
        }
        acc.sync_block();
        for run in acc.runs_in_grid(0..self.input.len()) {
            for &value in &self.input[run] {
                bins.atomic(value.into()).fetch_add(acc, 1, Ordering::Relaxed);
            }
        }
        acc.sync_block();
        let mine = self
            .partial
            .slice(acc, BINS * acc.block_index()..BINS * (acc.block_index() + 1));
        for bin in acc.threads_in_block(0..BINS) {
            mine.set(acc, bin, bins.get(acc, bin));
        }

        acc.sync_grid();
        for some in acc.blocks_in_grid(0..BINS, BINS_TOGETHER) {
            for bin in acc.threads_in_block(some) {
                let of_block = |block| u64::from(self.partial.get(acc, BINS * block + bin));
                self.counts.set(acc, bin, (0..acc.block_count()).map(of_block).sum());
            }
        }
    }
}

fn main() -> Result<(), gridwise::Error> {
    let input: Vec<u8> = (0..1_000_003_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 23) as u8)
        .collect();

    let device = Device::from_env()?;
    let queue = device.queue();
    let on_device = queue.upload(&input)?;
    let mut partial = device.zeroed(BINS * device.most_resident_blocks())?;
    let mut counts = device.zeroed(BINS)?;
    queue.launch_cooperative(
        Blocks::Resident,
        Histogram {
            input: on_device.span(),
            partial: partial.span_mut(),
            counts: counts.span_mut(),
        },
    )?;
    let counts = queue.download(&counts)?;

    let mut expected = vec![0; BINS];
    input.iter().for_each(|&value| expected[usize::from(value)] += 1);
    assert_eq!(counts, expected);
    println!(
        "{}: {} values counted into {BINS} bins in one launch",
        device.name(),
        input.len()
    );
    Ok(())
}
