//! Reduction: all elements combined to one.
//!
//! ```
//! use gridwise::{algorithm::{operator::{Max, Sum}, reduce::{reduce, transform_reduce}}, prelude::*};
//!
//! let device = Device::from_env()?;
//! let queue = device.queue();
//! let numbers = queue.upload(&[3.0_f32, -4.0, 1.0])?;
//! assert_eq!(reduce(&queue, numbers.span(), 0.0, Sum)?, 0.0);
//! let largest = transform_reduce(&queue, numbers.span(), 0.0, |x: f32| f64::from(x.abs()), Max)?;
//! assert_eq!(largest, 4.0);
//! # Ok::<(), gridwise::Error>(())
//! ```
//!
//! It is one plain launch, in which each block folds a part, and the host combines what the blocks have made, in order: there is
//! no grid barrier to wait at, and the grid need not be resident.
//!
//! # Determinism
//!
//! Elements keep their order, unless the operator says that it is [commutative](Operator::COMMUTATIVE); so operators need not be.
//! The same elements on a grid of the same size give the same bits, run after run. Across grids and devices they do so if the
//! operator is associative exactly, as on integers; sums of floats differ by rounding.
//!
//! # On a GPU
//!
//! Kernels for [`Sum`](struct@super::operator::Sum), [`Min`](struct@super::operator::Min) and [`Max`](struct@super::operator::Max) of `u32`, `u64`, `f32`
//! and `f64` are there. Another one is listed in [`export!`](crate::export) by its type,
//! `kernel gridwise::algorithm::kernels::reduce::Reduction<'static, T, U, M, O>`, with [`Unchanged`](struct@Unchanged) for the map of a
//! plain reduction.

#[cfg(all(test, not(loom)))]
mod test;

use bytemuck::Pod;

use super::{
    kernels::reduce::Reduction,
    operator::{Operator, Transform, Unchanged},
};
use crate::{
    host::{error::Error, launch::Frames, queue::Queue},
    kernel::Span,
};

/// Elements that are worth a block: fewer are folded before another block has begun.
const FRAME: usize = 4096;

/// Combines all elements to one; see the [module](self) for what is promised of the result.
///
/// `identity ∘ x = x = x ∘ identity` has to hold: it is what no elements at all come to, and it may be combined with others any
/// number of times. `T` has at most 64 bytes.
///
/// # Errors
/// If there is no memory, or the launch fails.
pub fn reduce<T: Pod>(queue: &Queue, input: Span<'_, T>, identity: T, op: impl Operator<T>) -> Result<T, Error> {
    transform_reduce(queue, input, identity, Unchanged, op)
}

/// [`reduce`], of what `map` makes of the elements.
///
/// # Errors
/// As [`reduce`].
pub fn transform_reduce<T: Pod, U: Pod>(
    queue: &Queue,
    input: Span<'_, T>,
    identity: U,
    map: impl Transform<T, U>,
    op: impl Operator<U>,
) -> Result<U, Error> {
    if input.is_empty() {
        return Ok(identity);
    }
    let device = queue.device();
    let mut partial = device.zeroed(device.most_resident_blocks().max(1))?;
    // There may be fewer blocks.
    queue.fill(partial.span_mut(), identity);
    let kernel = Reduction {
        input,
        partial: partial.span_mut(),
        identity,
        map,
        op,
    };
    queue.launch(Frames::new(input.len(), FRAME), kernel)?;
    let partial = queue.elements(partial.span())?;
    Ok(partial.iter().fold(identity, |sum, &of_block| op.apply(sum, of_block)))
}
