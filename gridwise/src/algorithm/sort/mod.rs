//! Stable sorting of keys, and of values by their keys.
//!
//! ```
//! use gridwise::{algorithm::sort::{sort, sort_by_key}, prelude::*};
//!
//! let device = Device::from_env()?;
//! let queue = device.queue();
//! let mut numbers = queue.upload(&[3.0_f32, -1.0, 0.0, f32::INFINITY, -0.0])?;
//! sort(&queue, numbers.span_mut(), Strategy::Auto)?;
//! assert_eq!(queue.download(&numbers)?, [-1.0, -0.0, 0.0, 3.0, f32::INFINITY]);
//!
//! let mut keys = queue.upload(&[2_u32, 1, 2, 1])?;
//! let mut values = queue.upload(b"abcd")?;
//! sort_by_key(&queue, keys.span_mut(), values.span_mut(), Strategy::Auto)?;
//! assert_eq!(queue.download(&keys)?, [1, 1, 2, 2]);
//! assert_eq!(queue.download(&values)?, b"bdac");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! It is a radix sort, a digit of eight bits a step, from the lowest: in each, blocks count digits, meet at a grid barrier, and move
//! keys. Bits in which all keys agree are left out, so that small numbers and few different ones take fewer steps; keys that are
//! all equal are only read. As much memory again as keys and values take is allocated meanwhile.
//!
//! # Determinism
//! The result is the same on every device, grid and run: equal keys keep their order.
//!
//! # On a GPU
//! Kernels for `u32`, `u64` and `f32` without values are there. Another one is listed in [`export!`](crate::export) by its type,
//! `phased gridwise::algorithm::kernels::sort::Sorting<'static, K, V>`, with `()` for `V` where there are no values.

#[cfg(all(test, not(loom)))]
mod test;

use bytemuck::Pod;
use thiserror::Error;

use super::{
    kernels::sort::{DIGITS, Sorting},
    key::SortKey,
};
use crate::{
    host::{
        buffer::AllocationError,
        error::Error,
        launch::{Blocks, LaunchError},
        phases::{RunOptions, RunReport},
        queue::Queue,
    },
    kernel::SpanMut,
};

/// Keys that are worth a block: with fewer, its counts would cost more than its keys.
const KEYS_A_BLOCK: usize = 2 * DIGITS;

/// Why keys were not sorted. They are as they were, unless the device failed.
#[derive(Error)]
#[non_exhaustive]
pub enum SortError {
    /// There is not one value for each key.
    #[error("{values} values, but {keys} keys")]
    ValueLength {
        /// Keys.
        keys: usize,
        /// Values.
        values: usize,
    },
    /// More keys than are counted in 32 bits.
    #[error("{keys} keys, but at most {} can be sorted; sort parts, and merge them", u32::MAX)]
    TooManyKeys {
        /// Keys.
        keys: usize,
    },
    /// The device failed.
    #[error(transparent)]
    Runtime(#[from] Error),
}

crate::host::error::debug_as_display!(SortError);

impl From<AllocationError> for SortError {
    fn from(error: AllocationError) -> Self {
        Self::Runtime(error.into())
    }
}

impl From<LaunchError> for SortError {
    fn from(error: LaunchError) -> Self {
        Self::Runtime(error.into())
    }
}

/// Sorts keys where they are, in ascending order; floats as [`f32::total_cmp`] has it. The grid that is asked for is an upper bound:
/// few keys take fewer blocks.
///
/// # Errors
/// If there are too many keys, or no memory, or a launch fails; with
/// [`Strategy::Persistent`](crate::host::phases::Strategy::Persistent), also if the grid cannot be resident.
pub fn sort<K: SortKey>(
    queue: &Queue,
    keys: SpanMut<'_, K>,
    options: impl Into<RunOptions>,
) -> Result<RunReport, SortError> {
    run(queue, keys, SpanMut::<()>::new(&mut []), options.into())
}

/// Sorts keys where they are, and moves each value along with its key.
///
/// # Errors
/// As [`sort`]; and if there is not one value for each key.
pub fn sort_by_key<K: SortKey, V: Pod>(
    queue: &Queue,
    keys: SpanMut<'_, K>,
    values: SpanMut<'_, V>,
    options: impl Into<RunOptions>,
) -> Result<RunReport, SortError> {
    if keys.len() != values.len() {
        return Err(SortError::ValueLength {
            keys: keys.len(),
            values: values.len(),
        });
    }
    run(queue, keys, values, options.into())
}

/// `values` has an element for each key, unless its elements have no size.
fn run<K: SortKey, V: Pod>(
    queue: &Queue,
    keys: SpanMut<'_, K>,
    values: SpanMut<'_, V>,
    options: RunOptions,
) -> Result<RunReport, SortError> {
    let (device, len) = (queue.device(), keys.len());
    if u32::try_from(len).is_err() {
        return Err(SortError::TooManyKeys { keys: len });
    }
    if len < 2 || size_of::<K>() == 0 {
        return Ok(RunReport::nothing_to_do());
    }
    let mut varying = device.zeroed(1)?;
    let mut kernel = Sorting {
        keys: [keys, SpanMut::new(&mut [])],
        values: [values, SpanMut::new(&mut [])],
        counts: SpanMut::new(&mut []),
        varying: varying.span_mut(),
        warps: 1,
    };
    let settled = queue.settle(&kernel, options)?;
    kernel.warps = settled.threads.div_ceil(device.warp_size());
    // Shared memory may leave room for fewer blocks.
    let settled = queue.settle(&kernel, options)?;
    let blocks = settled.blocks.min(len.div_ceil(KEYS_A_BLOCK));
    let mut counts = device.zeroed(blocks * DIGITS)?;
    let (mut more_keys, mut more_values) = (
        device.to_be_written(len)?,
        device.to_be_written(kernel.values[0].len())?,
    );
    kernel.counts = counts.span_mut();
    kernel.keys[1] = more_keys.span_mut();
    kernel.values[1] = more_values.span_mut();
    let grid = Blocks::Exactly(blocks).threads(settled.threads);
    Ok(queue.run(kernel, settled.options.grid(grid))?)
}
