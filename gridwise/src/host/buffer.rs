//! Buffers: device memory that a program owns.

use std::{any::Any, marker::PhantomData};

use bytemuck::Pod;
use thiserror::Error;

use super::{driver::DriverError, memory::Memory};
#[cfg(feature = "cuda")]
use crate::backend::cuda::host::DeviceMemory;
use crate::kernel::{Span, SpanMut, span::Home};

/// Device memory for `len` elements, all zero when new. Kernels see it through [`span`](Self::span) and
/// [`span_mut`](Self::span_mut), whose borrows keep it alive and unshared for as long as a launch runs.
///
/// Elements are plain data, [`Pod`]: numbers, arrays of them, and structs without padding, for which the crate bytemuck with its
/// feature `derive` derives it: `#[repr(C)] #[derive(Clone, Copy, Pod, Zeroable)]`.
///
/// ```compile_fail,E0505
/// # use gridwise::prelude::*;
/// # let device = Device::open("cpu:blocks=1")?;
/// let buffer = device.zeroed::<i32>(4)?;
/// let span = buffer.span();
/// drop(buffer); // still borrowed
/// assert_eq!(span[0], 0);
/// # Ok::<(), gridwise::Error>(())
/// ```
///
/// ```compile_fail,E0502
/// # use gridwise::prelude::*;
/// # let device = Device::open("cpu:blocks=1")?;
/// let mut buffer = device.zeroed::<i32>(4)?;
/// let (input, out) = (buffer.span(), buffer.span_mut()); // read and written at once
/// assert_eq!(input.len(), out.len());
/// # Ok::<(), gridwise::Error>(())
/// ```
#[derive(Debug)]
pub struct Buffer<T> {
    /// What the device keeps for as long as the buffer lives. Dropped before the memory.
    lease: Option<Box<dyn Any + Send + Sync>>,
    memory: Storage,
    len: usize,
    _type: PhantomData<T>,
}

/// Where the elements are.
#[derive(Debug)]
enum Storage {
    Host(Memory),
    #[cfg(feature = "cuda")]
    Cuda(DeviceMemory),
}

/// A buffer could not be allocated, or what was to be in it could not be copied.
#[derive(Error)]
#[non_exhaustive]
#[error("{}", self.text())]
pub struct AllocationError {
    /// Elements asked for.
    pub len: usize,
    /// Bytes of one.
    pub element_bytes: usize,
    /// What the driver of a GPU says, if it is not for want of memory.
    pub driver: Option<DriverError>,
}

crate::host::error::debug_as_display!(AllocationError);

impl AllocationError {
    /// No memory for `len` elements.
    pub(crate) fn of<T>(len: usize) -> Self {
        Self {
            len,
            element_bytes: size_of::<T>(),
            driver: None,
        }
    }

    fn text(&self) -> String {
        let what = format!("a buffer of {} elements of {} bytes", self.len, self.element_bytes);
        match &self.driver {
            None => format!("no memory for {what}"),
            Some(driver) => format!("no use of {what}: {driver}"),
        }
    }
}

/// A copy does not fit.
#[derive(Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum CopyError {
    /// Source and destination differ in length.
    #[error("copy of {source_len} elements to a destination of {destination_len}; take a range of the longer one")]
    Lengths {
        /// Elements of the source.
        source_len: usize,
        /// Elements of the destination.
        destination_len: usize,
    },
    /// The driver of a GPU could not.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

crate::host::error::debug_as_display!(CopyError);

impl<T: Pod> Buffer<T> {
    pub(crate) fn zeroed(len: usize) -> Result<Self, AllocationError> {
        let memory = len.checked_mul(size_of::<T>()).and_then(Memory::zeroed);
        let memory = memory.ok_or_else(|| AllocationError::of::<T>(len))?;
        Ok(Self::of_storage(Storage::Host(memory), len))
    }

    /// In memory of a GPU, which `allocate` gets for that many bytes and initialises, `None` if there is not so much.
    #[cfg(feature = "cuda")]
    pub(crate) fn on_gpu(
        len: usize,
        allocate: impl FnOnce(usize) -> Result<Option<DeviceMemory>, DriverError>,
    ) -> Result<Self, AllocationError> {
        let no_memory = || AllocationError::of::<T>(len);
        let bytes = len.checked_mul(size_of::<T>()).ok_or_else(no_memory)?;
        let memory = allocate(bytes).map_err(|driver| AllocationError {
            driver: Some(driver),
            ..no_memory()
        })?;
        Ok(Self::of_storage(Storage::Cuda(memory.ok_or_else(no_memory)?), len))
    }

    fn of_storage(memory: Storage, len: usize) -> Self {
        const { assert!(align_of::<T>() <= 128, "elements are aligned to at most 128 bytes") };
        Self {
            lease: None,
            memory,
            len,
            _type: PhantomData,
        }
    }

    /// Makes the buffer known to its device, by its start and bytes.
    pub(crate) fn lease_from(&mut self, adopt: impl FnOnce(*const u8, usize) -> Option<Box<dyn Any + Send + Sync>>) {
        self.lease = adopt(self.place().0, self.len * size_of::<T>());
    }

    fn place(&self) -> (*mut u8, Home) {
        match &self.memory {
            Storage::Host(memory) => (memory.start(), Home::HOST),
            #[cfg(feature = "cuda")]
            Storage::Cuda(memory) => (memory.start(), memory.home()),
        }
    }

    /// Elements in the buffer.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the buffer has no elements.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A view to read from, for a kernel or a copy.
    pub fn span(&self) -> Span<'_, T> {
        let (start, home) = self.place();
        // SAFETY: `len` elements, aligned and initialised, not written while `self` is borrowed.
        unsafe { Span::of_home(start.cast(), self.len, home) }
    }

    /// A view to write to, for a kernel or a copy.
    pub fn span_mut(&mut self) -> SpanMut<'_, T> {
        let (start, home) = self.place();
        // SAFETY: `len` elements, aligned and initialised, not used by others while `self` is borrowed mutably.
        unsafe { SpanMut::of_home(start.cast(), self.len, home) }
    }
}
