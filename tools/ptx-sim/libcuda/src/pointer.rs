//! Pointers that come from the other side of the interface.
//!
//! All that is unsafe about them is here: the caller of a driver's function vouches for its arguments as the driver's documentation says, and only
//! null can be found out.

use crate::error::{Answer, Error};
use std::ffi::{CStr, c_char, c_void};

/// Where a result goes.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Out<T>(*mut T);

impl<T> Out<T> {
    /// Nothing is wanted.
    pub(crate) const NULL: Out<T> = Out(std::ptr::null_mut());

    /// The place at an address.
    pub(crate) fn from_address(address: u64) -> Out<T> {
        Out(address as *mut T)
    }

    /// Stores a result; null is an invalid value.
    pub(crate) fn set(self, value: T) -> Answer {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: not null, and the caller of the driver vouches that a `T` may be stored there.
        unsafe { self.0.write(value) };
        Ok(())
    }

    /// Stores a result, if it is wanted.
    pub(crate) fn offer(self, value: T) {
        if !self.0.is_null() {
            // SAFETY: as in `set`.
            unsafe { self.0.write(value) };
        }
    }

    /// What is stored there now.
    pub(crate) fn get(self) -> Result<T, Error>
    where
        T: Copy,
    {
        // SAFETY: the caller of the driver vouches that a `T` is stored there, or it is null.
        let value = unsafe { self.0.as_ref() };
        value.copied().ok_or(Error::INVALID_VALUE)
    }

    /// The place `index` elements on.
    pub(crate) fn at(self, index: usize) -> Out<T> {
        Out(self.0.wrapping_add(index))
    }

    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// The same place for another type.
    pub(crate) fn cast<U>(self) -> Out<U> {
        Out(self.0.cast())
    }
}

/// A text with a zero byte at its end.
#[repr(transparent)]
#[derive(Clone, Copy)]
pub(crate) struct Text(*const c_char);

impl Text {
    /// A buffer that ends with a zero byte.
    pub(crate) fn from_buffer(buffer: *const u8) -> Text {
        Text(buffer.cast())
    }

    /// Its bytes.
    pub(crate) fn bytes(self) -> Result<Vec<u8>, Error> {
        if self.0.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        // SAFETY: not null, and the caller of the driver vouches for a text with a zero byte at its end.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes().to_vec())
    }

    /// As a string.
    pub(crate) fn string(self) -> Result<String, Error> {
        String::from_utf8(self.bytes()?).map_err(|_| Error::INVALID_VALUE)
    }
}

/// Puts a text into a buffer of so many bytes, cut where it does not fit, with a zero byte at its end.
pub(crate) fn put_text(place: Out<u8>, capacity: usize, text: &str) -> Answer {
    if place.is_null() || capacity == 0 {
        return Err(Error::INVALID_VALUE);
    }
    let bytes = text.as_bytes();
    let length = bytes.len().min(capacity - 1);
    for (index, byte) in bytes[..length].iter().enumerate() {
        place.at(index).set(*byte)?;
    }
    place.at(length).set(0)
}

/// Memory of the host or of a device: addresses are the same for both.
pub(crate) fn copy(to: u64, from: u64, bytes: usize) {
    if bytes != 0 {
        // SAFETY: the caller of the driver vouches for host memory; device memory was checked against what is allocated. They may overlap.
        unsafe { std::ptr::copy(from as *const u8, to as *mut u8, bytes) };
    }
}

/// Bytes from host memory.
pub(crate) fn fetch(from: u64, bytes: usize) -> Vec<u8> {
    let mut out = vec![0; bytes];
    copy(out.as_mut_ptr() as u64, from, bytes);
    out
}

/// Elements of 1, 2 or 4 bytes, all of one value.
pub(crate) fn fill(to: u64, value: u32, width: usize, count: usize) {
    let chunk = value.to_le_bytes()[..width].repeat(count.min(1 << 14));
    let (mut at, mut left) = (to, count * width);
    while left != 0 {
        let bytes = left.min(chunk.len());
        copy(at, chunk.as_ptr() as u64, bytes);
        at += bytes as u64;
        left -= bytes;
    }
}

/// A function of the program that is called in stream order.
pub(crate) type HostFunction = Option<unsafe extern "C" fn(*mut c_void)>;

/// Calls it.
pub(crate) fn call(function: unsafe extern "C" fn(*mut c_void), data: u64) {
    // SAFETY: the caller of the driver vouches that the function may be called with the data, on another thread.
    unsafe { function(data as *mut c_void) };
}

/// A function of the program that computes shared memory from the size of a block.
pub(crate) type SharedOfBlock = Option<unsafe extern "C" fn(i32) -> usize>;

/// Calls it.
pub(crate) fn shared_of_block(function: unsafe extern "C" fn(i32) -> usize, threads: i32) -> usize {
    // SAFETY: the caller of the driver vouches that the function may be called.
    unsafe { function(threads) }
}
