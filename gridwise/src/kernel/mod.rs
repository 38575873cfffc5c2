//! The kernel side: what code on a device sees. `no_std`, and the same source on every back end.
//!
//! A kernel is plain data plus one generic function over an *accelerator*: one thread of one block of one grid. The ladder of
//! synchronisation is [`Acc`] (block and warp) and [`GridAcc`] (the whole grid).

pub mod acc;
pub mod atomic;
pub mod collective;
pub mod domain;
pub mod grid_barrier;
#[doc(hidden)]
pub mod hardware;
pub mod look_back;
#[doc(hidden)]
pub mod measure;
#[cfg(all(test, feature = "std"))]
pub(crate) mod mutant;
pub mod phased;
pub mod queue;
pub mod shared;
pub mod span;

/// Keeps traits ours to implement: nobody else can name it.
mod sealed {
    #[allow(unreachable_pub)] // Public traits have it as their supertrait.
    pub trait Sealed {}
}

pub use acc::{Acc, GridAcc};
pub use atomic::{Atomic, Scope, SharedAtomic, scope};
pub use look_back::LookBack;
pub use phased::{Phase, Phased};
pub use queue::{ChunkCounter, Spawner, Tasks, TwoLevelQueue};
pub use shared::{DynamicShared, SharedArray, SharedLayout, SharedSlice};
pub use span::{Span, SpanMut};

/// The names a kernel author uses.
pub mod prelude {
    pub use super::{
        Acc, Atomic, ChunkCounter, DynamicShared, GridAcc, GridKernel, Kernel, LookBack, Phase, Phased, Scope,
        SharedArray, SharedAtomic, SharedSlice, Span, SpanMut, Spawner, Tasks, TwoLevelQueue, scope,
    };
}

/// A kernel: plain data and one function, run by every thread of a grid.
///
/// The runtime hands each thread its own bitwise copy of `self`, so that fields stay in registers; nothing is ever dropped
/// through those copies. A kernel that synchronises the whole grid is a [`GridKernel`] instead.
///
/// ```
/// use gridwise::prelude::*;
///
/// #[repr(C)]
/// struct Scale<'a> {
///     data: SpanMut<'a, f32>,
///     factor: f32,
/// }
///
/// // SAFETY: each element is read and written by the one thread that owns it.
/// unsafe impl Kernel for Scale<'_> {
///     const NAME: &'static str = "scale";
///     type Shared = ();
///
///     fn run<A: Acc>(self, acc: A, _: ()) {
///         for i in acc.threads_in_grid(0..self.data.len()) {
///             self.data.set(acc, i, self.factor * self.data.get(acc, i));
///         }
///     }
/// }
///
/// let queue = Device::open("cpu:blocks=2")?.queue();
/// let mut data = queue.upload(&[1.0, 2.0, 3.0])?;
/// queue.launch(Frames::new(3, 1), Scale { data: data.span_mut(), factor: 2.0 })?;
/// assert_eq!(queue.download(&data)?, [2.0, 4.0, 6.0]);
/// # Ok::<(), gridwise::Error>(())
/// ```
///
/// # Safety
///
/// The implementer vouches, for every number of blocks and threads and every value of the fields, that
///
/// * conflicting accesses to one element (same memory, at least one a write, not both atomic) are ordered by barriers, by
///   atomics of sufficient order and scope, or by being made by one thread;
/// * every thread of a block reaches the same block barriers in the same order;
/// * a bitwise copy of the struct may be used by many threads at once (spans, numbers and arrays of them may; `&mut` and
///   `&Cell` may not), and it is `repr(C)`, so that a device compiled by another compiler lays it out alike;
/// * views made by [`SpanMut::slice`], atomics and handles to shared memory are not kept beyond `run`.
///
/// The checking device tests these claims.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kernel for a plain launch",
    label = "no `Kernel`",
    note = "a `GridKernel`, which synchronises the grid, goes to `launch_cooperative`; a `Phased` one to `run`; `Tasks` to `run_tasks`"
)]
pub unsafe trait Kernel: Sized {
    /// Names the kernel in errors, reports and compiled modules.
    const NAME: &'static str;

    /// The shared memory that each block holds: `()`, a [`SharedArray`], a [`DynamicShared`], or a tuple of them.
    type Shared: SharedLayout;

    /// Elements in each [`DynamicShared`] of [`Shared`](Self::Shared), for this launch.
    fn dynamic_len(&self) -> usize {
        0
    }

    /// What one thread does.
    fn run<A: Acc>(self, acc: A, shared: Self::Shared);
}

/// A kernel that may synchronise the whole grid, and so needs all of its blocks resident together.
///
/// Only a cooperative launch accepts it: a grid barrier in a plain launch does not compile.
///
/// ```
/// use gridwise::prelude::*;
///
/// /// Divides all elements by their sum.
/// #[repr(C)]
/// struct Normalise<'a> {
///     data: SpanMut<'a, f32>,
/// }
///
/// // SAFETY: each element is read and written by the one thread that owns it; every thread takes part in the reduction.
/// unsafe impl GridKernel for Normalise<'_> {
///     const NAME: &'static str = "normalise";
///     type Shared = ();
///
///     fn run<A: GridAcc>(self, acc: A, _: ()) {
///         let mine = acc.threads_in_grid(0..self.data.len());
///         let sum = mine.clone().map(|i| self.data.get(acc, i)).sum();
///         let sum = acc.reduce_grid(sum, |a: f32, b| a + b);
///         for i in mine {
///             self.data.set(acc, i, self.data.get(acc, i) / sum);
///         }
///     }
/// }
///
/// let queue = Device::open("cpu:blocks=2")?.queue();
/// let mut data = queue.upload(&[1.0, 2.0, 5.0])?;
/// queue.launch_cooperative(Blocks::Resident, Normalise { data: data.span_mut() })?;
/// assert_eq!(queue.download(&data)?, [0.125, 0.25, 0.625]);
/// # Ok::<(), gridwise::Error>(())
/// ```
///
/// # Safety
///
/// As [`Kernel`]; and every thread of every block reaches the same grid barriers in the same order.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no kernel for a cooperative launch",
    label = "no `GridKernel`",
    note = "a `Kernel`, which does not synchronise the grid, goes to `launch`; a `Phased` one to `run`; `Tasks` to `run_tasks`"
)]
pub unsafe trait GridKernel: Sized {
    /// Names the kernel in errors, reports and compiled modules.
    const NAME: &'static str;

    /// The shared memory that each block holds, as for [`Kernel::Shared`].
    type Shared: SharedLayout;

    /// Elements in each [`DynamicShared`] of [`Shared`](Self::Shared), for this launch.
    fn dynamic_len(&self) -> usize {
        0
    }

    /// What one thread does.
    fn run<A: GridAcc>(self, acc: A, shared: Self::Shared);
}
