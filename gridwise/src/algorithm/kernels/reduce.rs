//! Reduction: each block folds its part of the elements, and the host what the blocks have made.

use bytemuck::Pod;

use crate::{
    algorithm::operator::{Operator, Transform},
    kernel::{Acc, Kernel, Span, SpanMut, hardware::contiguous},
};

/// Accumulators of a thread, where elements may be taken in any order: neighbours go to different ones, so that a vector unit adds
/// as many at a time as it can, and none waits for the one before.
const LANES: usize = 16;

/// Stretches that a thread folds at the same time, where elements have to keep their order: so that their operations overlap.
const STRETCHES: usize = 4;

/// See the module.
#[repr(C)]
pub struct Reduction<'a, T, U, M, O> {
    pub(crate) input: Span<'a, T>,
    /// What each block makes of its part.
    pub(crate) partial: SpanMut<'a, U>,
    pub(crate) identity: U,
    pub(crate) map: M,
    pub(crate) op: O,
}

// SAFETY: a block's first thread writes the block's element of `partial`, which nobody reads. The one block barrier is in the
// reduction, which every thread makes once.
unsafe impl<T: Pod, U: Pod, M: Transform<T, U>, O: Operator<U>> Kernel for Reduction<'_, T, U, M, O> {
    const NAME: &'static str = "reduce";
    type Shared = ();

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, (): ()) {
        let input = self.input.as_slice();
        let combine = |left, right| self.op.apply(left, right);
        let add = |sum, &element: &T| combine(sum, self.map.apply(element));
        let (member, members) = (acc.thread_index_in_grid(), acc.thread_count_in_grid());
        let part = || &input[contiguous(0..input.len(), member, members).range()];
        let sum = if acc.warp_size() == 1 {
            if O::COMMUTATIVE {
                fold_lanes(part(), self.identity, add, combine)
            } else {
                fold_stretches(part(), self.identity, add, combine)
            }
        } else if O::COMMUTATIVE {
            let mine = acc.threads_in_grid(0..input.len());
            mine.fold(self.identity, |sum, i| add(sum, &input[i]))
        } else {
            part().iter().fold(self.identity, add)
        };
        let of_block = acc.reduce_block(sum, combine);
        if acc.thread_index() == 0 {
            self.partial.set(acc, acc.block_index(), of_block);
        }
    }
}

/// Element `i` goes to accumulator `i % LANES`.
#[inline(always)]
fn fold_lanes<T, U: Copy>(elements: &[T], identity: U, add: impl Fn(U, &T) -> U, combine: impl Fn(U, U) -> U) -> U {
    let mut lanes = [identity; LANES];
    let (chunks, rest) = elements.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, element) in lanes.iter_mut().zip(chunk) {
            *lane = add(*lane, element);
        }
    }
    let sum = lanes.into_iter().fold(identity, combine);
    rest.iter().fold(sum, add)
}

/// The first quarter goes to the first accumulator, and so on.
#[inline(always)]
fn fold_stretches<T, U: Copy>(elements: &[T], identity: U, add: impl Fn(U, &T) -> U, combine: impl Fn(U, U) -> U) -> U {
    let len = elements.len() / STRETCHES;
    let mut rest = elements;
    let stretches: [&[T]; STRETCHES] = core::array::from_fn(|_| {
        let (stretch, others) = rest.split_at(len);
        rest = others;
        stretch
    });
    let mut sums = [identity; STRETCHES];
    for i in 0..len {
        for (sum, stretch) in sums.iter_mut().zip(stretches) {
            *sum = add(*sum, &stretch[i]);
        }
    }
    let sum = sums.into_iter().fold(identity, combine);
    rest.iter().fold(sum, add)
}
