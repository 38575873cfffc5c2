//! Buffers: device memory that a program owns.

use std::{any::Any, marker::PhantomData};

use bytemuck::Pod;
use thiserror::Error;

use super::memory::Memory;
use crate::kernel::{Span, SpanMut, span::Home};

/// Device memory for `len` elements, all zero when new. Kernels see it through [`span`](Self::span) and
/// [`span_mut`](Self::span_mut), whose borrows keep it alive and unshared for as long as a launch runs.
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
    memory: Memory,
    len: usize,
    _type: PhantomData<T>,
}

/// A buffer could not be allocated.
#[derive(Debug, Error)]
#[error("no memory for a buffer of {len} elements of {element_bytes} bytes")]
pub struct AllocationError {
    /// Elements asked for.
    pub len: usize,
    /// Bytes of one.
    pub element_bytes: usize,
}

/// A copy does not fit.
#[derive(Debug, Error, PartialEq, Eq)]
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
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn zeroed(len: usize) -> Result<Self, AllocationError> {
        const { assert!(align_of::<T>() <= 128, "elements are aligned to at most 128 bytes") };
        let error = AllocationError {
            len,
            element_bytes: size_of::<T>(),
        };
        let memory = len.checked_mul(size_of::<T>()).and_then(Memory::zeroed).ok_or(error)?;
        Ok(Self {
            lease: None,
            memory,
            len,
            _type: PhantomData,
        })
    }

    /// Makes the buffer known to its device, by its start and bytes.
    pub(crate) fn lease_from(&mut self, adopt: impl FnOnce(*const u8, usize) -> Option<Box<dyn Any + Send + Sync>>) {
        self.lease = adopt(self.memory.start(), self.memory.bytes());
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
        // SAFETY: `len` elements, aligned and initialised, not written while `self` is borrowed.
        unsafe { Span::of_home(self.memory.start().cast(), self.len, Home::HOST) }
    }

    /// A view to write to, for a kernel or a copy.
    pub fn span_mut(&mut self) -> SpanMut<'_, T> {
        // SAFETY: `len` elements, aligned and initialised, not used by others while `self` is borrowed mutably.
        unsafe { SpanMut::of_home(self.memory.start().cast(), self.len, Home::HOST) }
    }
}
