//! Views of buffers that kernels hold.

use core::{
    marker::PhantomData,
    ops::{Bound, Deref, Range, RangeBounds},
};

use bytemuck::Pod;

use super::{
    acc::Acc,
    atomic::{Atomic, Word},
    hardware::Place,
};

/// Whose memory a view is of.
///
/// The host, and the kernels that run on it, cannot reach the memory that a GPU has to itself. Views remember where they come
/// from, so that trying is an error and not undefined behaviour. Where there is no such device, nothing is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub struct Home(usize);

impl Home {
    /// Memory of the host.
    pub const HOST: Self = Self(0);

    /// Memory of the CUDA device of that number.
    #[cfg(feature = "cuda")]
    pub(crate) const fn cuda(ordinal: usize) -> Self {
        Self(ordinal + 1)
    }

    /// The CUDA device, if the memory is of one.
    #[cfg(feature = "cuda")]
    pub(crate) const fn ordinal(self) -> Option<usize> {
        self.0.checked_sub(1)
    }

    /// Stops who is about to access memory that it cannot reach.
    #[inline(always)]
    #[track_caller]
    fn reach(self) {
        #[cfg(feature = "cuda")]
        if self != Self::HOST {
            out_of_reach(self)
        }
    }
}

#[cfg(feature = "cuda")]
#[cold]
#[inline(never)]
#[track_caller]
fn out_of_reach(home: Home) -> ! {
    panic!(
        "this view is of memory of cuda:{}, which the host and kernels on the host cannot reach; copy it with the queue of that \
         device",
        home.0 - 1
    )
}

/// A view of a buffer that nobody writes for the whole launch, so it dereferences to a plain slice.
///
/// In a program, outside kernels, the elements can be read only of memory of the host: dereferencing a view of a GPU's memory
/// panics.
///
/// ```
/// # use gridwise::prelude::*;
/// let queue = Device::open("cpu:blocks=1")?.queue();
/// let buffer = queue.upload(&[1, 2, 3, 4])?;
/// let middle = buffer.span().range(1..3);
/// assert_eq!(middle.iter().sum::<i32>(), 5);
/// # Ok::<(), gridwise::Error>(())
/// ```
/// ```compile_fail,E0277
/// # use gridwise::prelude::*;
/// let device = Device::open("cpu:blocks=1")?;
/// let buffer = device.zeroed::<i32>(4)?;
/// let span = buffer.span();
/// std::thread::scope(|s| { s.spawn(move || span[0]); }); // a span belongs to the thread that made it
/// # Ok::<(), gridwise::Error>(())
/// ```
#[repr(C)]
pub struct Span<'a, T> {
    start: *const T,
    len: usize,
    home: Home,
    // The raw pointer makes a span neither Send nor Sync: it is made where the launch is asked for.
    _borrow: PhantomData<(&'a [T], *const T)>,
}

impl<T> Clone for Span<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Span<'_, T> {}

impl<'a, T: Pod> Span<'a, T> {
    /// A view of a slice in host memory.
    #[cfg(feature = "std")]
    pub(crate) fn new(slice: &'a [T]) -> Self {
        // SAFETY: a slice of the host, borrowed for `'a`.
        unsafe { Self::of_home(slice.as_ptr(), slice.len(), Home::HOST) }
    }

    /// The elements, if the host reaches them.
    #[cfg(feature = "std")]
    pub(crate) fn on_host(self) -> Option<&'a [T]> {
        (self.home == Home::HOST).then(|| self.as_slice())
    }

    /// A view of memory that may be a device's own.
    ///
    /// # Safety
    /// `start` is aligned, and `home` has `len` elements there, initialised and not written for `'a`.
    #[cfg(feature = "std")]
    pub(crate) unsafe fn of_home(start: *const T, len: usize, home: Home) -> Self {
        Self {
            start,
            len,
            home,
            _borrow: PhantomData,
        }
    }

    /// Whose memory it is, and where there.
    #[cfg(feature = "cuda")]
    pub(crate) fn lies(self) -> (Home, *const T) {
        (self.home, self.start)
    }

    /// Elements in the view.
    #[inline(always)]
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether the view has no elements.
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The elements, for as long as the buffer is borrowed.
    ///
    /// # Panics
    /// On the host, if it is a view of a GPU's memory.
    #[inline(always)]
    #[track_caller]
    pub fn as_slice(self) -> &'a [T] {
        self.home.reach();
        // SAFETY: made from a slice that is borrowed, and so not written, for `'a`.
        unsafe { core::slice::from_raw_parts(in_its_memory(self.start.cast_mut()), self.len) }
    }

    /// The part of the view inside `range`.
    ///
    /// # Panics
    /// If `range` is not inside `0..len`.
    #[inline(always)]
    #[track_caller]
    pub fn range(self, range: impl RangeBounds<usize>) -> Self {
        let Range { start, end } = resolve(range, self.len);
        Self {
            // SAFETY: `start` is inside the view or one past it.
            start: unsafe { self.start.add(start) },
            len: end - start,
            ..self
        }
    }
}

impl<T: Pod> Deref for Span<'_, T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        self.as_slice()
    }
}

/// A view of a buffer that the launch may write: a slice of cells.
///
/// It is not `Copy`, so that a program cannot hand one piece of memory to a kernel twice. Inside a kernel
/// [`slice`](Self::slice) gives further views of the same elements; who accesses which when is the kernel author's promise.
/// Accesses take the accelerator, so that every back end sees them.
///
/// On the host a view is cut without being copied:
///
/// ```
/// # use gridwise::prelude::*;
/// let device = Device::open("cpu:blocks=1")?;
/// let queue = device.queue();
/// let mut buffer = device.zeroed::<i32>(6)?;
/// let (left, right) = buffer.span_mut().split_at(2);
/// queue.fill(left, 1);
/// queue.fill(right.range(..3), 2);
/// assert_eq!(queue.download(&buffer)?, [1, 1, 2, 2, 2, 0]);
/// # Ok::<(), gridwise::Error>(())
/// ```
/// ```compile_fail,E0382
/// # use gridwise::prelude::*;
/// # let device = Device::open("cpu:blocks=1")?;
/// let mut buffer = device.zeroed::<i32>(4)?;
/// let span = buffer.span_mut();
/// let twice = (span, span);
/// # Ok::<(), gridwise::Error>(())
/// ```
#[repr(C)]
pub struct SpanMut<'a, T> {
    start: *mut T,
    len: usize,
    home: Home,
    _borrow: PhantomData<(&'a mut [T], *mut T)>,
}

impl<'a, T: Pod> SpanMut<'a, T> {
    /// A view of a slice in host memory.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) fn new(slice: &'a mut [T]) -> Self {
        Self {
            start: slice.as_mut_ptr(),
            len: slice.len(),
            home: Home::HOST,
            _borrow: PhantomData,
        }
    }

    /// A view of memory that may be a device's own.
    ///
    /// # Safety
    /// `start` is aligned, and `home` has `len` elements there, initialised and used by nobody else for `'a`.
    #[cfg(feature = "std")]
    pub(crate) unsafe fn of_home(start: *mut T, len: usize, home: Home) -> Self {
        Self {
            start,
            len,
            home,
            _borrow: PhantomData,
        }
    }

    /// Whose memory it is, and where there.
    #[cfg(feature = "cuda")]
    pub(crate) fn lies(&self) -> (Home, *mut T) {
        (self.home, self.start)
    }

    /// Elements in the view.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the view has no elements.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Loads element `index`.
    ///
    /// # Panics
    /// If `index` is not below the length; the launch then returns an error that names block and thread.
    #[inline(always)]
    #[track_caller]
    pub fn get<A: Acc>(&self, acc: A, index: usize) -> T {
        if index >= self.len {
            acc.out_of_bounds(Place::Global(self.start), index, self.len)
        }
        // SAFETY: `index` is below the length.
        unsafe { self.get_unchecked(acc, index) }
    }

    /// Stores into element `index`.
    ///
    /// # Panics
    /// As [`get`](Self::get).
    #[inline(always)]
    #[track_caller]
    pub fn set<A: Acc>(&self, acc: A, index: usize, value: T) {
        if index >= self.len {
            acc.out_of_bounds(Place::Global(self.start), index, self.len)
        }
        // SAFETY: `index` is below the length.
        unsafe { self.set_unchecked(acc, index, value) }
    }

    /// [`get`](Self::get) without the check.
    ///
    /// # Safety
    /// `index` is below the length.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn get_unchecked<A: Acc>(&self, acc: A, index: usize) -> T {
        self.home.reach();
        // SAFETY: inside the view, by the caller.
        let place = Place::Global(unsafe { self.start.add(index) });
        // SAFETY: the view is of memory lent to the launch; `T: Pod` keeps it aligned.
        unsafe { acc.load(place) }
    }

    /// [`set`](Self::set) without the check.
    ///
    /// # Safety
    /// `index` is below the length.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn set_unchecked<A: Acc>(&self, acc: A, index: usize, value: T) {
        self.home.reach();
        // SAFETY: inside the view, by the caller.
        let place = Place::Global(unsafe { self.start.add(index) });
        // SAFETY: the view is of memory lent to the launch.
        unsafe { acc.store(place, value) }
    }

    /// Element `index` as an atomic word at device scope; see [`Atomic::scoped`].
    ///
    /// # Panics
    /// As [`get`](Self::get).
    #[inline(always)]
    #[track_caller]
    pub fn atomic(&self, index: usize) -> Atomic<'_, T>
    where
        T: Word,
    {
        if index >= self.len {
            out_of_bounds(Place::Global(self.start), index, self.len)
        }
        self.home.reach();
        // SAFETY: `index` is below the length.
        let place = unsafe { self.start.add(index) };
        // SAFETY: inside the view, and aligned for `T`.
        unsafe { Atomic::new(place) }
    }

    /// In a kernel: another view, of the elements inside `range`. Slicing once and indexing the slice costs one check a slice
    /// instead of one an element.
    ///
    /// # Panics
    /// If `range` is not inside `0..len`.
    #[inline(always)]
    #[track_caller]
    pub fn slice<A: Acc>(&self, _acc: A, range: impl RangeBounds<usize>) -> SpanMut<'a, T> {
        let range = resolve(range, self.len);
        // SAFETY: `start` is inside the view or one past it.
        let start = unsafe { self.start.add(range.start) };
        SpanMut {
            start,
            len: range.end - range.start,
            home: self.home,
            _borrow: PhantomData,
        }
    }

    /// In a kernel: a view of the same bytes as elements of another type. Whoever mixes sizes should know: atomic accesses of
    /// different sizes to the same bytes order nothing, and the checking device reports them.
    ///
    /// # Panics
    /// If the view does not start where a `U` may, or its bytes are no whole number of them.
    #[inline(always)]
    #[track_caller]
    pub fn cast<A: Acc, U: Pod>(&self, _acc: A) -> SpanMut<'a, U> {
        let bytes = self.len * size_of::<T>();
        let fits = self.start.cast::<U>().is_aligned() && size_of::<U>() > 0 && bytes.is_multiple_of(size_of::<U>());
        assert!(
            fits,
            "a view of {bytes} bytes is no view of elements of {} bytes",
            size_of::<U>()
        );
        SpanMut {
            start: self.start.cast(),
            home: self.home,
            len: bytes / size_of::<U>(),
            _borrow: PhantomData,
        }
    }

    /// In a kernel: the elements as a plain slice, for code that works on slices and for inner loops over short rows. The
    /// compiler knows that it does not overlap what is written meanwhile, which it cannot know of a span.
    ///
    /// The checking device takes it as a load of every element, now.
    ///
    /// # Safety
    /// Nobody stores into the elements while the slice is used: this thread does not, and others are kept from it by barriers.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn as_slice<A: Acc>(&self, acc: A) -> &'a [T] {
        self.home.reach();
        acc.lend(Place::Global(self.start), self.len, false);
        // SAFETY: inside memory lent to the launch, initialised, and not written meanwhile, by the caller.
        unsafe { core::slice::from_raw_parts(in_its_memory(self.start), self.len) }
    }

    /// In a kernel: the elements as a plain mutable slice; see [`as_slice`](Self::as_slice).
    ///
    /// The checking device takes it as a store into every element, now.
    ///
    /// # Safety
    /// Nobody else accesses the elements while the slice is used: this thread does not by other ways, and others are kept from
    /// it by barriers.
    #[inline(always)]
    #[track_caller]
    pub unsafe fn as_mut_slice<A: Acc>(&self, acc: A) -> &'a mut [T] {
        self.home.reach();
        acc.lend(Place::Global(self.start), self.len, true);
        // SAFETY: inside memory lent to the launch, initialised, and not accessed otherwise meanwhile, by the caller.
        unsafe { core::slice::from_raw_parts_mut(in_its_memory(self.start), self.len) }
    }

    /// In a kernel: promises that the launch stores each element of the view exactly once. The checking device names the places of
    /// two stores, and the elements that were not stored; elsewhere it does nothing.
    ///
    /// It shows whether an index map of one's own, or what blocks claim of a queue, covers everything once. The stores of a
    /// thread count from its promise on. A kernel that does the same again, in the steps of a loop, promises again at the start
    /// of each: the stores then count to that step.
    #[inline(always)]
    #[track_caller]
    pub fn promise_stored_once<A: Acc>(&self, acc: A) {
        acc.promise_stored_once(Place::Global(self.start), self.len);
    }

    /// On the host: the part of the view inside `range`, instead of the whole.
    ///
    /// # Panics
    /// If `range` is not inside `0..len`.
    #[track_caller]
    pub fn range(self, range: impl RangeBounds<usize>) -> Self {
        let range = resolve(range, self.len);
        // SAFETY: `start` is inside the view or one past it.
        let start = unsafe { self.start.add(range.start) };
        SpanMut {
            start,
            len: range.end - range.start,
            home: self.home,
            _borrow: PhantomData,
        }
    }

    /// On the host: two views, of the elements before `middle` and of the rest.
    ///
    /// # Panics
    /// If `middle` is above the length.
    #[track_caller]
    pub fn split_at(self, middle: usize) -> (Self, Self) {
        assert!(middle <= self.len, "split at {middle} of a span of {}", self.len);
        // SAFETY: `middle` is inside the view or one past it.
        let start = unsafe { self.start.add(middle) };
        let rest = SpanMut {
            start,
            len: self.len - middle,
            home: self.home,
            _borrow: PhantomData,
        };
        (
            SpanMut {
                start: self.start,
                len: middle,
                home: self.home,
                _borrow: PhantomData,
            },
            rest,
        )
    }

    /// The same elements, to read from while this view is borrowed.
    #[cfg(feature = "std")]
    pub(crate) fn as_span(&self) -> Span<'_, T> {
        // SAFETY: this view is the only one of the elements, and borrowed.
        unsafe { Span::of_home(self.start, self.len, self.home) }
    }

    /// The elements, if the host reaches them; else the view again.
    #[cfg(feature = "std")]
    pub(crate) fn on_host(self) -> Result<&'a mut [T], Self> {
        if self.home == Home::HOST {
            Ok(self.into_slice())
        } else {
            Err(self)
        }
    }

    /// The memory, for copies by the host.
    ///
    /// # Panics
    /// If it is a view of a GPU's memory.
    #[cfg(feature = "std")]
    #[track_caller]
    pub(crate) fn into_slice(self) -> &'a mut [T] {
        self.home.reach();
        // SAFETY: made from a slice that is borrowed for `'a`, and the only view of it, because `self` is not `Copy` and the
        // views that kernels make of it do not outlive their launch.
        unsafe { core::slice::from_raw_parts_mut(self.start, self.len) }
    }
}

/// The start of a slice, as the compiler for a GPU wants it: known to be in device memory.
#[inline(always)]
fn in_its_memory<T>(start: *mut T) -> *mut T {
    #[cfg(target_arch = "nvptx64")]
    return crate::backend::cuda::device::memory::in_global(start);
    #[cfg(not(target_arch = "nvptx64"))]
    start
}

/// Turns any range into start and end, and checks it against the length.
#[inline(always)]
#[track_caller]
pub(crate) fn resolve(range: impl RangeBounds<usize>, len: usize) -> Range<usize> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.checked_add(1).unwrap_or_else(|| bad_range(before, len, len)),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.checked_add(1).unwrap_or_else(|| bad_range(start, last, len)),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => len,
    };
    if start > end || end > len {
        bad_range(start, end, len)
    }
    start..end
}

/// As [`Acc`] does, where there is no accelerator at hand.
#[cold]
#[inline(never)]
#[track_caller]
pub(crate) fn out_of_bounds<T>(first: Place<T>, index: usize, len: usize) -> ! {
    let message = format_args!("index {index} is out of bounds of a span of {len}");
    refuse(Some((first, index)), message);
    #[cfg(target_arch = "nvptx64")]
    crate::backend::cuda::device::fault::out_of_bounds(index, len, core::panic::Location::caller());
    #[cfg(not(target_arch = "nvptx64"))]
    panic!("{message}")
}

#[cold]
#[inline(never)]
#[track_caller]
fn bad_range(start: usize, end: usize, len: usize) -> ! {
    let message = format_args!("range {start}..{end} is out of bounds of a span of {len}");
    refuse::<u8>(None, message);
    panic!("{message}")
}

/// On the checking device: ends the thread with a finding, about that element of the view that starts there.
#[track_caller]
fn refuse<T>(_element: Option<(Place<T>, usize)>, _message: core::fmt::Arguments<'_>) {
    #[cfg(feature = "std")]
    crate::backend::check::out_of_bounds(_element, _message);
}
