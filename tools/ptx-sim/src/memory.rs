//! Device memory: what is allocated, and what an address points into.
//!
//! Addresses are those of the process. So mapped host memory has one address on both sides, and the host sees a store of a running kernel at once.
//! Between allocations lie guards that belong to nobody: an access one element too far is found.

use std::alloc::{Layout, alloc, dealloc};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

/// What an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Device memory.
    Device,
    /// Host memory that the device may use.
    Host,
    /// Constants of a module.
    ReadOnly,
}

/// A live allocation: `start..end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// First address.
    pub start: u64,
    /// Behind the last.
    pub end: u64,
    /// What it is.
    pub kind: Kind,
}

impl Range {
    /// Holds no address.
    pub(crate) const EMPTY: Range = Range {
        start: 1,
        end: 0,
        kind: Kind::Device,
    };

    /// Whether an access lies in it entirely.
    #[inline(always)]
    pub(crate) fn holds(&self, address: u64, bytes: u64) -> bool {
        address >= self.start && address < self.end && self.end - address >= bytes
    }
}

/// Bytes on either side of an allocation that belong to nobody; also what allocations are aligned to.
const GUARD: u64 = 256;
/// Fresh memory up to this size is filled with ones, so that nobody relies on what it holds.
const FILLED: u64 = 16 << 20;

struct Allocation {
    range: Range,
    layout: Layout,
}

/// All memory of a device.
pub struct Memory {
    table: RwLock<BTreeMap<u64, Allocation>>,
    /// Raised whenever an allocation ends: what was looked up before is void.
    generation: AtomicU64,
    used: AtomicU64,
    capacity: u64,
}

impl Memory {
    /// A memory that gives out at most this many bytes.
    pub fn new(capacity: u64) -> Memory {
        Memory {
            table: RwLock::default(),
            generation: AtomicU64::new(0),
            used: AtomicU64::new(0),
            capacity,
        }
    }

    /// Bytes in all, and bytes in use.
    pub fn usage(&self) -> (u64, u64) {
        (self.capacity, self.used.load(Ordering::Relaxed))
    }

    /// Allocates; the address is a multiple of 256. `None` when there is not enough left.
    pub fn allocate(&self, bytes: u64, kind: Kind) -> Option<u64> {
        let size = bytes.max(1);
        let layout =
            Layout::from_size_align(usize::try_from(size.checked_add(2 * GUARD)?).ok()?, GUARD as usize).ok()?;
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        if size > self.capacity.saturating_sub(self.used.load(Ordering::Relaxed)) {
            return None;
        }
        // SAFETY: the layout's size is not zero.
        let base = unsafe { alloc(layout) };
        if base.is_null() {
            return None;
        }
        let start = base as u64 + GUARD;
        if size <= FILLED {
            // SAFETY: the block was just allocated with this size, and nobody else knows it.
            unsafe { base.write_bytes(0xff, layout.size()) };
        }
        self.used.fetch_add(size, Ordering::Relaxed);
        table.insert(
            start,
            Allocation {
                range: Range {
                    start,
                    end: start + size,
                    kind,
                },
                layout,
            },
        );
        Some(start)
    }

    /// Ends an allocation; `false` if none starts at the address.
    pub fn free(&self, address: u64) -> bool {
        let mut table = self.table.write().unwrap_or_else(PoisonError::into_inner);
        let Some(allocation) = table.remove(&address) else {
            return false;
        };
        self.generation.fetch_add(1, Ordering::SeqCst);
        self.used
            .fetch_sub(allocation.range.end - allocation.range.start, Ordering::Relaxed);
        // SAFETY: the block came from `alloc` with this layout, and its entry is gone, so this happens once.
        unsafe { dealloc((address - GUARD) as *mut u8, allocation.layout) };
        true
    }

    /// The allocation that an address lies in.
    pub fn find(&self, address: u64) -> Option<Range> {
        let table = self.table.read().unwrap_or_else(PoisonError::into_inner);
        let (_, allocation) = table.range(..=address).next_back()?;
        allocation.range.holds(address, 1).then_some(allocation.range)
    }

    /// Whether the bytes lie in one live allocation.
    pub fn holds(&self, address: u64, bytes: u64) -> bool {
        bytes == 0 || self.find(address).is_some_and(|range| range.holds(address, bytes))
    }

    pub(crate) fn generation(&self) -> u64 {
        self.generation.load(Ordering::SeqCst)
    }

    /// Copies into device memory; `false` if the place is not allocated.
    pub fn write(&self, address: u64, bytes: &[u8]) -> bool {
        let there = self.holds(address, bytes.len() as u64);
        if there {
            // SAFETY: the range is allocated, and disjoint from a slice that the caller holds.
            unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), address as *mut u8, bytes.len()) };
        }
        there
    }

    /// Copies out of device memory; `false` if the place is not allocated.
    pub fn read(&self, address: u64, bytes: &mut [u8]) -> bool {
        let there = self.holds(address, bytes.len() as u64);
        if there {
            // SAFETY: the range is allocated, and disjoint from a slice that the caller holds alone.
            unsafe { std::ptr::copy_nonoverlapping(address as *const u8, bytes.as_mut_ptr(), bytes.len()) };
        }
        there
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let addresses: Vec<u64> = self
            .table
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .keys()
            .copied()
            .collect();
        for address in addresses {
            self.free(address);
        }
    }
}
