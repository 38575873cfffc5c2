//! A slice that a team shares, each thread writing its own part between two barriers: what hand-written code does with raw pointers.

use std::marker::PhantomData;
use std::ops::Range;

/// A mutable slice that several threads hold at once.
#[derive(Debug)]
pub struct SharedSlice<'a, T> {
    first: *mut T,
    len: usize,
    slice: PhantomData<&'a mut [T]>,
}

impl<T> Clone for SharedSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedSlice<'_, T> {}

// SAFETY: it gives out references to T under `get` and `get_mut`, whose callers answer for exclusivity; across threads that takes T to be Send and Sync.
unsafe impl<T: Send + Sync> Send for SharedSlice<'_, T> {}
// SAFETY: as for Send; the type itself is never changed.
unsafe impl<T: Send + Sync> Sync for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    /// Shares `slice` for as long as it is borrowed.
    pub fn new(slice: &'a mut [T]) -> Self {
        Self {
            first: slice.as_mut_ptr(),
            len: slice.len(),
            slice: PhantomData,
        }
    }

    /// Reads a part.
    ///
    /// # Safety
    ///
    /// While the result lives nobody holds a mutable reference to any of it, and writes before are ordered before this call.
    ///
    /// # Panics
    ///
    /// If the range does not lie within the slice.
    #[inline(always)]
    pub unsafe fn get(self, range: Range<usize>) -> &'a [T] {
        self.check(&range);
        // SAFETY: `check` found the range within the slice, so the offset stays within its allocation.
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: the elements lie within the borrowed slice, and the caller keeps writers away.
        unsafe { std::slice::from_raw_parts(first, range.len()) }
    }

    /// Takes a part for writing.
    ///
    /// # Safety
    ///
    /// While the result lives nobody else holds a reference to any of it, and accesses before are ordered before this call.
    ///
    /// # Panics
    ///
    /// If the range does not lie within the slice.
    #[inline(always)]
    pub unsafe fn get_mut(self, range: Range<usize>) -> &'a mut [T] {
        self.check(&range);
        // SAFETY: `check` found the range within the slice, so the offset stays within its allocation.
        let first = unsafe { self.first.add(range.start) };
        // SAFETY: the elements lie within the mutably borrowed slice, and the caller keeps everybody else away.
        unsafe { std::slice::from_raw_parts_mut(first, range.len()) }
    }

    #[inline(always)]
    fn check(&self, range: &Range<usize>) {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "{range:?} is outside 0..{}",
            self.len
        );
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    #[should_panic(expected = "3..5 is outside 0..4")]
    fn a_part_beyond_the_end_is_refused() {
        let mut numbers = [0; 4];
        let shared = SharedSlice::new(&mut numbers);
        // SAFETY: no other reference exists.
        let _ = unsafe { shared.get(3..5) };
    }
}
