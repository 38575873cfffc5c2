//! Shared memory, in the kernel's type: handles that hold an offset into the block's memory.
//!
//! A handle is `Copy` and knows its size, so the host can add up what a kernel needs before the launch. The memory is
//! uninitialised at the start of a launch: it holds whatever was there before.

use core::{
    marker::PhantomData,
    ops::{Range, RangeBounds},
};

use bytemuck::Pod;

use super::{
    acc::Acc,
    atomic::{SharedAtomic, Word},
    hardware::{Place, Sealed},
    span::{out_of_bounds, resolve},
};

/// Deals out a block's shared memory, handle after handle.
#[derive(Debug)]
pub struct SharedCursor {
    used: usize,
    dynamic_len: usize,
}

impl SharedCursor {
    /// Starts after `reserved` bytes; every [`DynamicShared`] gets `dynamic_len` elements.
    #[cfg(any(feature = "std", target_arch = "nvptx64"))]
    #[inline(always)]
    pub(crate) fn new(reserved: usize, dynamic_len: usize) -> Self {
        Self {
            used: reserved,
            dynamic_len,
        }
    }

    /// Bytes dealt out so far; saturates instead of overflowing.
    #[cfg(feature = "std")]
    pub(crate) fn used(&self) -> usize {
        self.used
    }

    #[inline(always)]
    fn take<T>(&mut self, len: usize) -> usize {
        const {
            assert!(
                align_of::<T>() <= 128,
                "elements of shared memory are aligned to at most 128 bytes"
            )
        };
        let start = self
            .used
            .checked_next_multiple_of(align_of::<T>())
            .unwrap_or(usize::MAX);
        self.used = start.saturating_add(len.saturating_mul(size_of::<T>()));
        start
    }
}

/// What a kernel may name as its shared memory: `()`, [`SharedArray`], [`DynamicShared`], and tuples of up to eight of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no shared memory",
    label = "no shared memory",
    note = "shared memory is `()`, `SharedArray<T, N>` of `N` elements, `DynamicShared<T>`, or a tuple of up to eight of these"
)]
pub trait SharedLayout: Copy + Sealed {
    /// Takes its part of the memory.
    #[doc(hidden)]
    fn place(cursor: &mut SharedCursor) -> Self;

    /// Calls `visit` with the bytes of each array, and those of an element.
    #[cfg(feature = "std")]
    #[doc(hidden)]
    fn arrays(self, visit: &mut dyn FnMut(Range<usize>, usize));
}

/// `N` elements of shared memory.
///
/// An access is checked, unless the compiler can prove the index. It can for `k = i - frame.start` with `i` of a frame of at most
/// `N` indices; and for a neighbour that wraps around within the frame if a comparison chooses it,
/// `if k + 1 < frame.len() { k + 1 } else { 0 }`, not a remainder or a test for equality, from which it does not see that the index
/// stays inside. The loop is then about twice as fast.
///
/// ```
/// use gridwise::prelude::*;
///
/// #[repr(C)]
/// struct Reverse<'a> {
///     data: SpanMut<'a, u32>,
/// }
///
/// // SAFETY: the tile is written before the barrier and read after it; each element is written by the thread that owns it.
/// unsafe impl Kernel for Reverse<'_> {
///     const NAME: &'static str = "reverse";
///     type Shared = SharedArray<u32, 8>;
///
///     fn run<A: Acc>(self, acc: A, tile: Self::Shared) {
///         for i in acc.threads_in_block(0..8) {
///             tile.set(acc, i, self.data.get(acc, i));
///         }
///         acc.sync_block();
///         for i in acc.threads_in_block(0..8) {
///             self.data.set(acc, i, tile.get(acc, 7 - i));
///         }
///     }
/// }
///
/// let queue = Device::open("cpu:blocks=2")?.queue();
/// let mut data = queue.upload(&[1, 2, 3, 4, 5, 6, 7, 8])?;
/// queue.launch(Blocks::Exactly(1).threads(2), Reverse { data: data.span_mut() })?;
/// assert_eq!(queue.download(&data)?, [8, 7, 6, 5, 4, 3, 2, 1]);
/// # Ok::<(), gridwise::Error>(())
/// ```
#[derive(Debug)]
pub struct SharedArray<T, const N: usize> {
    offset: usize,
    _type: PhantomData<T>,
}

/// Elements of shared memory whose number the kernel's `dynamic_len` gives at launch.
#[derive(Debug)]
pub struct DynamicShared<T> {
    whole: SharedSlice<T>,
}

/// A part of a [`SharedArray`] or [`DynamicShared`].
#[derive(Debug)]
pub struct SharedSlice<T> {
    offset: usize,
    len: usize,
    _type: PhantomData<T>,
}

impl<T, const N: usize> Clone for SharedArray<T, N> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, const N: usize> Copy for SharedArray<T, N> {}
impl<T> Clone for DynamicShared<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for DynamicShared<T> {}
impl<T> Clone for SharedSlice<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for SharedSlice<T> {}

impl<T: Pod> SharedSlice<T> {
    /// Elements in the slice.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether the slice has no elements.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Loads element `index`.
    ///
    /// # Panics
    /// If `index` is not below the length.
    #[inline(always)]
    #[track_caller]
    pub fn get<A: Acc>(self, acc: A, index: usize) -> T {
        if index >= self.len() {
            acc.out_of_bounds(self.first(), index, self.len())
        }
        let place = Place::Shared(self.offset_of(index));
        // SAFETY: inside the block's shared memory, because handles are placed by the runtime and the index was checked.
        unsafe { acc.load(place) }
    }

    /// Stores into element `index`.
    ///
    /// # Panics
    /// If `index` is not below the length.
    #[inline(always)]
    #[track_caller]
    pub fn set<A: Acc>(self, acc: A, index: usize, value: T) {
        if index >= self.len() {
            acc.out_of_bounds(self.first(), index, self.len())
        }
        let place = Place::Shared(self.offset_of(index));
        // SAFETY: as in `get`.
        unsafe { acc.store(place, value) }
    }

    /// Element `index` as an atomic word at block scope.
    ///
    /// # Panics
    /// If `index` is not below the length.
    #[inline(always)]
    #[track_caller]
    pub fn atomic(self, index: usize) -> SharedAtomic<T>
    where
        T: Word,
    {
        if index >= self.len() {
            out_of_bounds(self.first(), index, self.len())
        }
        let offset = self.offset_of(index);
        // SAFETY: as in `get`.
        unsafe { SharedAtomic::new(offset) }
    }

    /// The elements inside `range`.
    ///
    /// # Panics
    /// If `range` is not inside `0..len`.
    #[inline(always)]
    #[track_caller]
    pub fn slice(self, range: impl RangeBounds<usize>) -> Self {
        let Range { start, end } = resolve(range, self.len());
        Self {
            offset: self.offset + start * size_of::<T>(),
            len: end - start,
            _type: PhantomData,
        }
    }

    #[inline(always)]
    fn first(self) -> Place<T> {
        Place::Shared(self.offset)
    }

    #[cfg(feature = "std")]
    fn visit(self, visit: &mut dyn FnMut(Range<usize>, usize)) {
        visit(self.offset..self.offset + self.len * size_of::<T>(), size_of::<T>());
    }

    /// Where element `index` lies. The index has been checked.
    #[inline(always)]
    fn offset_of(self, index: usize) -> usize {
        self.offset + index * size_of::<T>()
    }
}

macro_rules! forward {
    ([$($generics:tt)*] $type:ty) => {
        impl<$($generics)*> $type {
            /// Whether there are no elements.
            #[inline(always)]
            pub fn is_empty(self) -> bool {
                self.whole().is_empty()
            }

            /// Elements in the array.
            #[inline(always)]
            pub fn len(self) -> usize {
                self.whole().len()
            }

            /// Loads element `index`.
            ///
            /// # Panics
            /// If `index` is not below the length.
            #[inline(always)]
            #[track_caller]
            pub fn get<A: Acc>(self, acc: A, index: usize) -> T {
                self.whole().get(acc, index)
            }

            /// Stores into element `index`.
            ///
            /// # Panics
            /// If `index` is not below the length.
            #[inline(always)]
            #[track_caller]
            pub fn set<A: Acc>(self, acc: A, index: usize, value: T) {
                self.whole().set(acc, index, value)
            }

            /// Element `index` as an atomic word at block scope.
            ///
            /// # Panics
            /// If `index` is not below the length.
            #[inline(always)]
            #[track_caller]
            pub fn atomic(self, index: usize) -> SharedAtomic<T>
            where
                T: Word,
            {
                self.whole().atomic(index)
            }

            /// The elements inside `range`.
            ///
            /// # Panics
            /// If `range` is not inside `0..len`.
            #[inline(always)]
            #[track_caller]
            pub fn slice(self, range: impl RangeBounds<usize>) -> SharedSlice<T> {
                self.whole().slice(range)
            }

            /// The first `len` elements.
            ///
            /// # Panics
            /// If there are fewer.
            #[inline(always)]
            #[track_caller]
            pub fn prefix(self, len: usize) -> SharedSlice<T> {
                self.whole().slice(..len)
            }
        }
    };
}
forward!([T: Pod, const N: usize] SharedArray<T, N>);
forward!([T: Pod] DynamicShared<T>);

impl<T: Pod, const N: usize> SharedArray<T, N> {
    #[inline(always)]
    fn whole(self) -> SharedSlice<T> {
        SharedSlice {
            offset: self.offset,
            len: N,
            _type: PhantomData,
        }
    }
}

impl<T: Pod> DynamicShared<T> {
    #[inline(always)]
    fn whole(self) -> SharedSlice<T> {
        self.whole
    }
}

impl Sealed for () {}
impl SharedLayout for () {
    fn place(_: &mut SharedCursor) {}

    #[cfg(feature = "std")]
    fn arrays(self, _: &mut dyn FnMut(Range<usize>, usize)) {}
}

impl<T: Pod, const N: usize> Sealed for SharedArray<T, N> {}
impl<T: Pod, const N: usize> SharedLayout for SharedArray<T, N> {
    #[inline(always)]
    fn place(cursor: &mut SharedCursor) -> Self {
        Self {
            offset: cursor.take::<T>(N),
            _type: PhantomData,
        }
    }

    #[cfg(feature = "std")]
    fn arrays(self, visit: &mut dyn FnMut(Range<usize>, usize)) {
        self.whole().visit(visit);
    }
}

impl<T: Pod> Sealed for DynamicShared<T> {}
impl<T: Pod> SharedLayout for DynamicShared<T> {
    #[inline(always)]
    fn place(cursor: &mut SharedCursor) -> Self {
        let len = cursor.dynamic_len;
        let offset = cursor.take::<T>(len);
        Self {
            whole: SharedSlice {
                offset,
                len,
                _type: PhantomData,
            },
        }
    }

    #[cfg(feature = "std")]
    fn arrays(self, visit: &mut dyn FnMut(Range<usize>, usize)) {
        self.whole().visit(visit);
    }
}

macro_rules! tuples {
    ($($($name:ident)+;)*) => { $(
        impl<$($name: SharedLayout),+> Sealed for ($($name,)+) {}
        impl<$($name: SharedLayout),+> SharedLayout for ($($name,)+) {
            #[inline(always)]
            fn place(cursor: &mut SharedCursor) -> Self {
                ($($name::place(cursor),)+)
            }

            #[cfg(feature = "std")]
            #[allow(non_snake_case)]
            fn arrays(self, visit: &mut dyn FnMut(Range<usize>, usize)) {
                let ($($name,)+) = self;
                $($name.arrays(visit);)+
            }
        }
    )* };
}
tuples! { A; A B; A B C; A B C D; A B C D E; A B C D E F; A B C D E F G; A B C D E F G H; }
