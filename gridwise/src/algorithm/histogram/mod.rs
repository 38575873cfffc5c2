//! Histogram: how many elements fall into each bin.
//!
//! ```
//! use gridwise::{algorithm::{histogram::histogram, operator::AsIndex}, prelude::*};
//!
//! let device = Device::from_env()?;
//! let queue = device.queue();
//! let bytes = queue.upload(b"abracadabra")?;
//! let counted = histogram(&queue, bytes.span(), 256, AsIndex, Strategy::Auto)?;
//! assert_eq!(counted.counts[usize::from(b'a')], 5);
//! // Three bins for numbers from 0 to 3; others are in none.
//! let numbers = queue.upload(&[0.5, 2.9, 2.0, -7.0, 1e9])?;
//! let bin = |x: f64| if x < 0.0 { usize::MAX } else { x as usize };
//! let counted = histogram(&queue, numbers.span(), 3, bin, Strategy::Auto)?;
//! assert_eq!((counted.counts, counted.outside), (vec![1, 0, 2], 2));
//! # Ok::<(), gridwise::Error>(())
//! ```
//!
//! One pass: blocks count their parts into tables of their own; after a grid barrier, or in a second launch, a few blocks add up what
//! all have counted. Of a CPU each thread has tables, several, so that equal neighbours do not wait for each other; of a GPU each warp
//! has one in shared memory. Any number of bins will do: where they do not fit there, blocks count in device memory.
//!
//! # Determinism
//! Counts are the same on every device, grid and run.
//!
//! # On a GPU
//! Kernels for `u8` and `u32` by [`AsIndex`](struct@super::operator::AsIndex) are there. Another one is listed in
//! [`export!`](crate::export) by its type, `phased gridwise::algorithm::kernels::histogram::Counting<'static, T, K>`.

#[cfg(all(test, not(loom)))]
mod test;

use bytemuck::Pod;

use super::{
    kernels::histogram::{Counting, LANES, LINE, Tables},
    operator::Transform,
};
use crate::{
    host::{
        buffer::AllocationError,
        error::Error,
        phases::{RunOptions, RunReport, Settled},
        queue::Queue,
    },
    kernel::{Span, SpanMut},
};

/// Elements counted in one run at most: as many as a counter of a block can count.
const PIECE: usize = u32::MAX as usize;

/// Bytes of the tables that a thread counts into in turn, at most: half of the nearest cache.
const NEAREST_BYTES: usize = 16 << 10;

/// Bytes of tables in device memory at most: they are shared where each block's or thread's own would take more.
const TABLE_BYTES: usize = 256 << 20;

/// What was counted.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Histogram {
    /// How many elements fell into each bin.
    pub counts: Vec<u64>,
    /// How many fell into none: whose key is not below the number of bins.
    pub outside: u64,
    /// How it was run.
    pub report: RunReport,
}

/// Counts how many elements fall into each of `bins` bins. The bin of an element is what `key` makes of it; a key that is not below
/// `bins` is counted apart.
///
/// # Errors
/// If there is no memory for the bins, or a launch fails; with [`Strategy::Persistent`](crate::host::phases::Strategy::Persistent),
/// also if the grid cannot be resident.
pub fn histogram<T: Pod>(
    queue: &Queue,
    input: Span<'_, T>,
    bins: usize,
    key: impl Transform<T, usize>,
    options: impl Into<RunOptions>,
) -> Result<Histogram, Error> {
    in_pieces(queue, input, bins, key, options.into(), PIECE)
}

fn in_pieces<T: Pod>(
    queue: &Queue,
    input: Span<'_, T>,
    bins: usize,
    key: impl Transform<T, usize>,
    options: RunOptions,
    piece: usize,
) -> Result<Histogram, Error> {
    let no_memory = || Error::from(AllocationError::of::<u64>(bins));
    let mut counts = queue.device().zeroed(bins.checked_add(1).ok_or_else(no_memory)?)?;
    let mut report = RunReport::nothing_to_do();
    for start in (0..input.len()).step_by(piece) {
        let input = input.range(start..input.len().min(start + piece));
        let run = count(queue, input, counts.span_mut(), key, options)?;
        report.add(&run);
    }
    let mut counts = queue.download(&counts)?;
    let outside = counts.pop().unwrap_or(0);
    Ok(Histogram {
        counts,
        outside,
        report,
    })
}

/// Adds to `counts`, whose last is for elements in no bin.
fn count<T: Pod>(
    queue: &Queue,
    input: Span<'_, T>,
    counts: SpanMut<'_, u64>,
    key: impl Transform<T, usize>,
    options: RunOptions,
) -> Result<RunReport, Error> {
    let device = queue.device();
    let bins = counts.len();
    let mut kernel = Counting {
        input,
        partial: SpanMut::new(&mut []),
        counts,
        key,
        tables: Tables {
            of_thread: 0,
            of_block: 0,
            groups: 0,
        },
    };
    let settled = queue.settle(&kernel, options)?;
    let Settled { blocks, threads, .. } = settled;
    kernel.tables = tables(
        bins,
        (blocks, threads),
        device.warp_size(),
        device.free_shared_bytes(threads),
    );
    // Shared memory may leave room for fewer blocks.
    let settled = queue.settle(&kernel, options)?;
    let Tables { of_thread, groups, .. } = kernel.tables;
    let most = settled.blocks * if of_thread > 0 { settled.threads } else { 1 };
    kernel.tables.groups = groups.min(most);
    let no_memory = || AllocationError::of::<u32>(bins);
    let counters = bins
        .checked_mul(of_thread.max(1))
        .and_then(|len| len.checked_next_multiple_of(LINE));
    let len = counters
        .and_then(|len| len.checked_mul(kernel.tables.groups))
        .ok_or_else(no_memory)?;
    let mut partial = device.zeroed(len)?;
    kernel.partial = partial.span_mut();
    queue.run(kernel, settled.options)
}

/// What tables there is room for.
fn tables(bins: usize, (blocks, threads): (usize, usize), warp_size: usize, shared_bytes: usize) -> Tables {
    let bytes = bins.saturating_mul(size_of::<u32>());
    let fit_in_device_memory = (TABLE_BYTES / bytes).max(1);
    if warp_size == 1 && blocks * threads <= fit_in_device_memory {
        let lanes = if bytes.saturating_mul(LANES) <= NEAREST_BYTES {
            LANES
        } else {
            1
        };
        return Tables {
            of_thread: lanes,
            of_block: 0,
            groups: blocks * threads,
        };
    }
    // Other blocks of a multiprocessor want some shared memory, too.
    let room = (shared_bytes / 4).max(bytes).min(shared_bytes);
    let of_block = (room / bytes).min(threads.div_ceil(warp_size));
    Tables {
        of_thread: 0,
        of_block,
        // A block stores what it has counted in shared memory into a table that is its own.
        groups: if of_block > 0 {
            blocks
        } else {
            blocks.min(fit_in_device_memory)
        },
    }
}
