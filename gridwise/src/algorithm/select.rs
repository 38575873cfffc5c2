//! Compaction and partition: the elements for which something holds, in order.

use bytemuck::Pod;
use thiserror::Error;

use super::{kernels::select::Select, operator::Predicate};
use crate::{
    host::{
        buffer::{AllocationError, CopyError},
        launch::{Frames, LaunchError},
        queue::Queue,
    },
    kernel::{Span, SpanMut},
};

#[cfg(all(test, not(loom)))]
mod test;

/// Why a selection was refused or failed.
#[derive(Error)]
#[non_exhaustive]
pub enum SelectError {
    /// More elements are selected than there is room for. Those that fit are there, the first of them.
    #[error("{selected} elements are selected, but there is room for {room}")]
    Selected {
        /// How many are selected.
        selected: usize,
        /// The length of the place for them.
        room: usize,
    },
    /// More elements are rejected than there is room for. Those that fit are there, the first of them.
    #[error("{rejected} elements are rejected, but there is room for {room}")]
    Rejected {
        /// How many are rejected.
        rejected: usize,
        /// The length of the place for them.
        room: usize,
    },
    /// There is no memory for what blocks tell each other.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// The number of selected elements could not be read.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The launch was refused, or failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

crate::host::error::debug_as_display!(SelectError);

/// Stores the elements for which `predicate` holds into `out`, in order, and returns how many they are: one launch, which reads the input
/// from memory once. The rest of `out` is not touched.
///
/// ```
/// use gridwise::{algorithm::select::compact, prelude::*};
///
/// let queue = Device::from_env()?.queue();
/// let input = queue.upload(&[3_u32, 1, 4, 1, 5])?;
/// let mut out = queue.device().zeroed(5)?;
/// let odd = compact(&queue, input.span(), out.span_mut(), |x| x % 2 == 1)?;
/// assert_eq!(queue.download(&out)?[..odd], [3, 1, 1, 5]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A block that needs to know how many are selected before its elements waits for the blocks that count there, which have all started.
///
/// # Determinism
/// The same on every device, grid and run.
///
/// # Errors
/// If there is not enough room in `out`, there is no memory, or the launch fails, which leaves `out` in part written.
pub fn compact<T: Pod>(
    queue: &Queue,
    input: Span<'_, T>,
    out: SpanMut<'_, T>,
    predicate: impl Predicate<T>,
) -> Result<usize, SelectError> {
    let room = out.len();
    let mut none = queue.device().zeroed(0)?;
    let selected = select(queue, input, out, none.span_mut(), predicate)?;
    if selected > room {
        return Err(SelectError::Selected { selected, room });
    }
    Ok(selected)
}

/// Stores the elements for which `predicate` holds into `selected`, and the others into `rejected`, both in order. Returns how many are
/// selected.
///
/// ```
/// use gridwise::{algorithm::select::partition, prelude::*};
///
/// let queue = Device::from_env()?.queue();
/// let input = queue.upload(&[3_u32, 1, 4, 1, 5])?;
/// let mut odd = queue.device().zeroed(5)?;
/// let mut even = queue.device().zeroed(5)?;
/// let count = partition(&queue, input.span(), odd.span_mut(), even.span_mut(), |x| x % 2 == 1)?;
/// assert_eq!(queue.download(&odd)?[..count], [3, 1, 1, 5]);
/// assert_eq!(queue.download(&even)?[..5 - count], [4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Determinism
/// The same on every device, grid and run.
///
/// # Errors
/// If there is not enough room in either place, there is no memory, or the launch fails, which leaves both in part written.
pub fn partition<T: Pod>(
    queue: &Queue,
    input: Span<'_, T>,
    selected: SpanMut<'_, T>,
    rejected: SpanMut<'_, T>,
    predicate: impl Predicate<T>,
) -> Result<usize, SelectError> {
    let (len, room_in, room_out) = (input.len(), selected.len(), rejected.len());
    let selected = select(queue, input, selected, rejected, predicate)?;
    if selected > room_in {
        return Err(SelectError::Selected {
            selected,
            room: room_in,
        });
    }
    let rejected = len - selected;
    if rejected > room_out {
        return Err(SelectError::Rejected {
            rejected,
            room: room_out,
        });
    }
    Ok(selected)
}

/// As far as there is room; returns how many are selected.
fn select<T: Pod>(
    queue: &Queue,
    input: Span<'_, T>,
    selected: SpanMut<'_, T>,
    rejected: SpanMut<'_, T>,
    predicate: impl Predicate<T>,
) -> Result<usize, SelectError> {
    let (len, tile) = (input.len(), queue.device().tile_len::<T>());
    let mut memory = queue.look_back(len.div_ceil(tile))?;
    let mut count = queue.device().zeroed(1)?;
    let kernel = Select {
        input,
        selected,
        rejected,
        count: count.span_mut(),
        look_back: memory.fresh(queue),
        tile: tile as u64,
        predicate,
    };
    queue.launch(Frames::new(len, tile), kernel)?;
    let mut selected = [0];
    queue.read(count.span(), &mut selected)?;
    Ok(selected[0] as usize)
}
