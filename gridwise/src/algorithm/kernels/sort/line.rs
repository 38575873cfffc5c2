//! Writes lines of the cache as wholes.
//!
//! A line that is stored into is first fetched from memory, and the thread that moves keys to many places would mostly wait for
//! that. Where a line is written as a whole nobody needs what was there: x86 has stores that go past the cache, and fetch nothing.
//! They pay for buffers that do not stay in a cache anyhow.

use bytemuck::Pod;

use crate::kernel::{Acc, SpanMut};

/// Bytes of a buffer from which on lines go past the cache.
#[cfg(all(target_arch = "x86_64", not(miri)))]
const STREAM_BYTES: usize = 8 << 20;

/// Writes a line that ends at element `last`, from slot `first` on.
#[inline(always)]
pub(super) fn write<const LINE: usize, T: Pod, A: Acc>(
    acc: A,
    to: &SpanMut<'_, T>,
    last: usize,
    first: usize,
    line: &[T; LINE],
) {
    let start = last + 1 - LINE;
    if first > 0 {
        return write_slots(acc, to, start + first, &line[first..]);
    }
    let large = size_of::<T>() * to.len();
    // SAFETY: the places of this thread's elements are its own.
    let to = unsafe { to.slice(acc, start..start + LINE).as_mut_slice(acc) };
    if !stream(to, line, large) {
        // Of a length that is known, so without a call.
        *to.as_mut_array().expect("a whole line") = *line;
    }
}

/// Writes a part of a line, to element `start` and those behind it.
#[inline(always)]
pub(super) fn write_slots<T: Pod, A: Acc>(acc: A, to: &SpanMut<'_, T>, start: usize, elements: &[T]) {
    // SAFETY: the places of this thread's elements are its own.
    unsafe { to.slice(acc, start..start + elements.len()).as_mut_slice(acc) }.copy_from_slice(elements);
}

/// Orders what was written past the cache before what the thread does next, and so before the barrier.
#[inline(always)]
pub(super) fn end() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86 of 64 bits has SSE.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

/// Writes the line past the cache, if that pays and can be done.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
fn stream<const LINE: usize, T: Pod>(to: &mut [T], line: &[T; LINE], bytes: usize) -> bool {
    use core::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    const VECTOR: usize = size_of::<__m128i>();
    const WHOLE: usize = 64;
    let (from, to) = (line.as_ptr().cast::<__m128i>(), to.as_mut_ptr().cast::<__m128i>());
    if bytes < STREAM_BYTES || !size_of_val(line).is_multiple_of(WHOLE) || !to.is_aligned() {
        return false;
    }
    for vector in 0..size_of_val(line) / VECTOR {
        // SAFETY: inside the line.
        let from = unsafe { from.add(vector) };
        // SAFETY: inside the place, which has the line's length.
        let to = unsafe { to.add(vector) };
        // SAFETY: inside the line; any bits are integers.
        let bits = unsafe { _mm_loadu_si128(from) };
        // SAFETY: inside the place, and aligned; `end` orders it before what others do. The elements are plain data.
        unsafe { _mm_stream_si128(to, bits) };
    }
    true
}

#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
fn stream<const LINE: usize, T: Pod>(_: &mut [T], _: &[T; LINE], _: usize) -> bool {
    false
}
