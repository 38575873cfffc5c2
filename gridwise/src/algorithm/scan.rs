//! Prefix sums, of any associative operator.

use bytemuck::Pod;
use thiserror::Error;

use super::{kernels::scan::Scan, operator::Operator};
use crate::{
    host::{
        buffer::AllocationError,
        launch::{Frames, LaunchError},
        queue::Queue,
    },
    kernel::{Span, SpanMut},
};

/// Why a scan was refused or failed.
#[derive(Error)]
#[non_exhaustive]
pub enum ScanError {
    /// The place for the result is not as long as the input.
    #[error("the place for the prefixes has {out} elements, but the input has {input}")]
    Length {
        /// Elements of the input.
        input: usize,
        /// Elements of the place for the result.
        out: usize,
    },
    /// There is no memory for what blocks tell each other.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// The launch was refused, or failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

crate::host::error::debug_as_display!(ScanError);

/// Stores into `out[i]` what `input[0]` to `input[i]` combine to: one launch, which reads the input from memory once.
///
/// `op` is associative, and `identity` combined with a value is that value; `T` has at most 64 bytes.
///
/// ```
/// use gridwise::{algorithm::{operator::Sum, scan::inclusive_scan}, prelude::*};
///
/// let queue = Device::from_env()?.queue();
/// let input = queue.upload(&[3_u32, 1, 4, 1, 5])?;
/// let mut out = queue.device().zeroed(5)?;
/// inclusive_scan(&queue, input.span(), out.span_mut(), 0, Sum)?;
/// assert_eq!(queue.download(&out)?, [3, 4, 8, 9, 14]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Determinism
/// The same bits at every run and for any number of blocks. Between devices, and numbers of threads a block, the same bits if `op` is
/// associative exactly, and not up to rounding only.
///
/// # Errors
/// If `out` is not as long as the input, there is no memory, or the launch fails, which leaves `out` in part written.
pub fn inclusive_scan<T: Pod>(
    queue: &Queue,
    input: Span<'_, T>,
    out: SpanMut<'_, T>,
    identity: T,
    op: impl Operator<T>,
) -> Result<(), ScanError> {
    scan(queue, input, out, true, identity, op)
}

/// [`inclusive_scan`] without the element itself: stores into `out[i]` what `input[0]` to `input[i - 1]` combine to, and `identity` into
/// `out[0]`.
///
/// ```
/// use gridwise::{algorithm::{operator::Sum, scan::exclusive_scan}, prelude::*};
///
/// let queue = Device::from_env()?.queue();
/// let input = queue.upload(&[3_u32, 1, 4, 1, 5])?;
/// let mut out = queue.device().zeroed(5)?;
/// exclusive_scan(&queue, input.span(), out.span_mut(), 0, Sum)?;
/// assert_eq!(queue.download(&out)?, [0, 3, 4, 8, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Determinism
/// As [`inclusive_scan`].
///
/// # Errors
/// As [`inclusive_scan`].
pub fn exclusive_scan<T: Pod>(
    queue: &Queue,
    input: Span<'_, T>,
    out: SpanMut<'_, T>,
    identity: T,
    op: impl Operator<T>,
) -> Result<(), ScanError> {
    scan(queue, input, out, false, identity, op)
}

fn scan<T: Pod>(
    queue: &Queue,
    input: Span<'_, T>,
    out: SpanMut<'_, T>,
    is_inclusive: bool,
    identity: T,
    op: impl Operator<T>,
) -> Result<(), ScanError> {
    let len = input.len();
    if out.len() != len {
        return Err(ScanError::Length {
            input: len,
            out: out.len(),
        });
    }
    let tile = queue.device().tile_len::<T>();
    let mut memory = queue.look_back(len.div_ceil(tile))?;
    let kernel = Scan {
        input,
        out,
        look_back: memory.fresh(queue),
        tile: tile as u64,
        is_inclusive,
        identity,
        op,
    };
    Ok(queue.launch(Frames::new(len, tile), kernel)?)
}
