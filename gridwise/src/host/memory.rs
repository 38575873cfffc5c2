//! Zeroed, aligned host memory.

use std::{
    alloc::{Layout, alloc, alloc_zeroed, dealloc},
    fmt,
};

/// Alignment of every allocation: a pair of cache lines, and the widest vector.
const ALIGN: usize = 128;

/// An allocation, zero when new, so that every read is of initialised memory.
pub(crate) struct Memory {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: it owns its memory, like a boxed slice of bytes.
unsafe impl Send for Memory {}
// SAFETY: as above; shared access is read-only.
unsafe impl Sync for Memory {}

/// Size and alignment of a huge page, on the machines that have them.
const HUGE_PAGE: usize = 2 << 20;
/// Allocations from here on ask for huge pages: two of them are sure to be whole.
const HUGE_FROM: usize = 2 * HUGE_PAGE;

impl Memory {
    /// `None` if the system has no such amount to give.
    pub(crate) fn zeroed(bytes: usize) -> Option<Self> {
        if bytes == 0 {
            let start = std::ptr::without_provenance_mut(ALIGN);
            return Some(Self { start, bytes });
        }
        let layout = Self::layout(bytes)?;
        if bytes < HUGE_FROM {
            // SAFETY: the size is not zero.
            let start = unsafe { alloc_zeroed(layout) };
            return (!start.is_null()).then_some(Self { start, bytes });
        }
        // SAFETY: the size is not zero.
        let start = unsafe { alloc(layout) };
        if start.is_null() {
            return None;
        }
        ask_for_huge_pages(start, bytes);
        // SAFETY: just allocated. Only now are the pages touched, so that the request counts.
        unsafe { start.write_bytes(0, bytes) };
        Some(Self { start, bytes })
    }

    fn layout(bytes: usize) -> Option<Layout> {
        let align = if bytes < HUGE_FROM { ALIGN } else { HUGE_PAGE };
        Layout::from_size_align(bytes, align).ok()
    }

    pub(crate) fn start(&self) -> *mut u8 {
        self.start
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let (true, Some(layout)) = (self.bytes > 0, Self::layout(self.bytes)) {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.start, layout) }
        }
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Memory({} bytes)", self.bytes)
    }
}

/// Large arrays on small pages spend their time on looking up pages: twice the time of a memory-bound kernel, measured. A
/// refusal is ignored. (Miri does not know it.)
#[cfg(all(target_os = "linux", not(miri)))]
fn ask_for_huge_pages(start: *mut u8, bytes: usize) {
    use rustix::mm::{Advice, madvise};
    // SAFETY: advice on memory that this process has just allocated, and that nobody else uses.
    let _ = unsafe { madvise(start.cast(), bytes, Advice::LinuxHugepage) };
}

#[cfg(any(not(target_os = "linux"), miri))]
fn ask_for_huge_pages(_: *mut u8, _: usize) {}
