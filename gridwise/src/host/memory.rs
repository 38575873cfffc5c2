//! Zeroed, aligned host memory.

use std::{
    alloc::{Layout, alloc_zeroed, dealloc},
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

impl Memory {
    /// `None` if the system has no such amount to give.
    pub(crate) fn zeroed(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, ALIGN).ok()?;
        if bytes == 0 {
            return Some(Self {
                start: std::ptr::without_provenance_mut(ALIGN),
                bytes,
            });
        }
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        (!start.is_null()).then_some(Self { start, bytes })
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
        if let (true, Ok(layout)) = (self.bytes > 0, Layout::from_size_align(self.bytes, ALIGN)) {
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
