//! The memory of a launch, and the judgement of every access to it. How orders are told, and what loads may return: see
//! `README.md`.

use std::{collections::HashMap, ops::Range, panic::Location, sync::atomic::Ordering};

use crate::{
    check::finding::{Memory as MemoryPlace, Operation},
    kernel::Scope,
};

pub(crate) mod clock;
mod history;
mod shadow;
#[cfg(test)]
mod test;
pub(crate) mod thread;

pub(crate) use history::{Word, Writer};
use shadow::Shadow;
pub(crate) use shadow::{Access, Conflict, missing};
pub(crate) use thread::{Fences, ThreadClock};

/// What a region of memory is to the program.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RegionKind {
    /// A buffer: its number on the device, where it was made, and bytes of an element.
    Buffer {
        number: usize,
        made_at: &'static Location<'static>,
        element_bytes: usize,
    },
    /// The shared memory of the block that holds a slot, of which the library keeps the first bytes.
    Shared { reserved: usize },
    /// State of the grid barrier.
    GridBarrier,
    /// Slots of grid reductions.
    GridReduction,
}

/// A stretch of memory that a launch may use.
#[derive(Debug)]
struct Region {
    start: usize,
    bytes: usize,
    kind: RegionKind,
    shadow: Shadow,
    words: HashMap<usize, Word>,
}

/// Bytes inside a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) region: usize,
    pub(crate) offset: usize,
    pub(crate) size: usize,
}

impl Extent {
    pub(crate) fn overlaps(&self, other: &Self) -> bool {
        self.region == other.region && self.offset < other.offset + other.size && other.offset < self.offset + self.size
    }
}

/// How an atomic word is accessed, and where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct How {
    pub(crate) order: Ordering,
    pub(crate) scope: Scope,
    pub(crate) location: &'static Location<'static>,
}

/// A fault that an access showed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault {
    /// Not ordered with an earlier access.
    Unordered { earlier: Access, conflict: Conflict },
    /// Read, and never written.
    Uninitialised,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Memory {
    regions: Vec<Region>,
    /// Start, end and number of the regions in device memory, by start.
    by_address: Vec<(usize, usize, usize)>,
    /// Bytes of the kernel's shared arrays, and of an element of each.
    shared_arrays: Vec<(Range<usize>, usize)>,
    last: usize,
    exact: bool,
    weak: bool,
    pub(crate) fences: Fences,
    /// What the last access showed: taken by the engine.
    pub(crate) faults: Vec<Fault>,
}

impl Memory {
    pub(crate) fn new(exact: bool, weak: bool) -> Self {
        Self {
            regions: Vec::new(),
            by_address: Vec::new(),
            shared_arrays: Vec::new(),
            last: 0,
            exact,
            weak,
            fences: Fences::default(),
            faults: Vec::new(),
        }
    }

    /// Adds an array of the kernel's shared memory, to name elements by.
    pub(crate) fn add_shared_array(&mut self, bytes: Range<usize>, element_bytes: usize) {
        self.shared_arrays.push((bytes, element_bytes));
    }

    /// Adds a region, and returns its number.
    pub(crate) fn add(&mut self, start: usize, bytes: usize, kind: RegionKind) -> usize {
        let number = self.regions.len();
        self.regions.push(Region {
            start,
            bytes,
            kind,
            shadow: Shadow::new(bytes),
            words: HashMap::new(),
        });
        if !matches!(kind, RegionKind::Shared { .. }) {
            let at = self.by_address.partition_point(|(other, ..)| *other < start);
            self.by_address.insert(at, (start, start + bytes, number));
        }
        number
    }

    /// Forgets what happened in a region: it belongs to a new block.
    pub(crate) fn clear(&mut self, region: usize) {
        self.regions[region].shadow.clear();
        self.regions[region].words.clear();
    }

    /// Finds these bytes of device memory; `None` if they are not inside one region.
    #[inline]
    pub(crate) fn find(&mut self, start: usize, size: usize) -> Option<Extent> {
        let holds = |(from, to, _): &(usize, usize, usize)| *from <= start && start + size <= *to;
        if !self.by_address.get(self.last).is_some_and(holds) {
            self.last = self
                .by_address
                .partition_point(|(from, ..)| *from <= start)
                .checked_sub(1)?;
            self.by_address.get(self.last).filter(|region| holds(region))?;
        }
        let (from, _, region) = self.by_address[self.last];
        Some(Extent {
            region,
            offset: start - from,
            size,
        })
    }

    /// Whether these bytes are inside the region.
    pub(crate) fn is_inside(&self, extent: Extent) -> bool {
        extent.offset + extent.size <= self.regions[extent.region].bytes
    }

    /// How a report names these bytes.
    pub(crate) fn name(&self, extent: Extent, block: usize) -> MemoryPlace {
        match self.regions[extent.region].kind {
            RegionKind::Buffer {
                number,
                made_at,
                element_bytes,
            } => MemoryPlace::Buffer {
                number,
                made_at,
                index: extent.offset / element_bytes.max(1),
            },
            RegionKind::Shared { reserved } if extent.offset < reserved => MemoryPlace::Collective { block },
            RegionKind::Shared { .. } => self.name_shared(extent.offset, extent.offset, block),
            RegionKind::GridBarrier => MemoryPlace::GridBarrier {
                word: extent.offset / 4,
            },
            RegionKind::GridReduction => MemoryPlace::GridReduction,
        }
    }

    /// How a report names bytes of shared memory: by the array that `start` is in. They may lie beyond its end.
    pub(crate) fn name_shared(&self, start: usize, offset: usize, block: usize) -> MemoryPlace {
        let holds = |bytes: &Range<usize>| bytes.contains(&start) || (bytes.is_empty() && bytes.start == start);
        let array = self.shared_arrays.iter().position(|(bytes, _)| holds(bytes));
        let Some(array) = array else {
            return MemoryPlace::Foreign;
        };
        let (bytes, element_bytes) = &self.shared_arrays[array];
        MemoryPlace::Shared {
            block,
            array,
            index: (offset - bytes.start) / (*element_bytes).max(1),
        }
    }

    /// Judges an access and keeps it.
    pub(crate) fn judge(
        &mut self,
        clock: &ThreadClock,
        extent: Extent,
        operation: Operation,
        scope: Scope,
        location: &'static Location<'static>,
    ) {
        let region = &mut self.regions[extent.region];
        let access = Access {
            location,
            block: clock.block,
            thread: clock.thread,
            epoch: clock.epoch,
            operation,
            scope,
            size: extent.size.min(255) as u8,
        };
        let is_shared = matches!(region.kind, RegionKind::Shared { .. });
        let (exact, faults) = (self.exact, &mut self.faults);
        region.shadow.cells(extent.offset, extent.size, |cell| {
            if is_shared && !cell.written && operation.is_read() {
                cell.written = true; // reported once
                faults.push(Fault::Uninitialised);
            }
            cell.judge(clock, &access, exact, |earlier, conflict| {
                faults.push(Fault::Unordered { earlier, conflict });
            });
            if operation.is_write() {
                cell.written = true;
            }
        });
    }

    /// Memory was stored to by a plain store: the words among it have new values. Whether there are any.
    #[inline]
    pub(crate) fn stored_plainly(
        &mut self,
        clock: &ThreadClock,
        extent: Extent,
        location: &'static Location<'static>,
    ) -> bool {
        let region = &mut self.regions[extent.region];
        if region.words.is_empty() {
            return false;
        }
        let start = region.start;
        let mut hit = false;
        for (offset, word) in &mut region.words {
            let of_word = Extent {
                offset: *offset,
                size: word.size,
                ..extent
            };
            if extent.overlaps(&of_word) {
                // SAFETY: inside the region, aligned as the word was.
                let bits = unsafe { read_bits(start + offset, word.size) };
                word.overwrite(clock, bits, location);
                hit = true;
            }
        }
        hit
    }

    /// How many regions there are.
    pub(crate) fn regions(&self) -> usize {
        self.regions.len()
    }

    /// The offsets of the words of a region, and what they held when they were first used.
    pub(crate) fn initial_of_words(&self, region: usize) -> impl Iterator<Item = (usize, u64)> {
        let words = self.regions[region].words.iter();
        words.map(|(offset, word)| (*offset, word.initial))
    }

    pub(crate) fn kind(&self, region: usize) -> RegionKind {
        self.regions[region].kind
    }

    /// The atomic word at these bytes, made on first use from what memory holds.
    fn word(&mut self, extent: Extent) -> &mut Word {
        let region = &mut self.regions[extent.region];
        let start = region.start + extent.offset;
        if region
            .words
            .get(&extent.offset)
            .is_none_or(|word| word.size != extent.size)
        {
            // Words of another size that these bytes were part of end here; what they hold is in memory.
            let overlaps =
                |offset: usize, size: usize| offset < extent.offset + extent.size && extent.offset < offset + size;
            region.words.retain(|offset, word| !overlaps(*offset, word.size));
            // SAFETY: inside the region; atomics are aligned.
            let bits = unsafe { read_bits(start, extent.size) };
            region.words.insert(extent.offset, Word::new(extent.size, bits));
        }
        region
            .words
            .entry(extent.offset)
            .or_insert_with(|| unreachable!("it was inserted"))
    }

    /// Values that a load may return, newest first.
    pub(crate) fn candidates(&mut self, clock: &ThreadClock, extent: Extent, order: Ordering) -> usize {
        // Sequentially consistent loads return the newest: stricter than the language, so nothing is reported falsely.
        let weak = self.weak && order != Ordering::SeqCst;
        self.word(extent).candidates(clock, weak)
    }

    /// The value `age` stores before the newest, without loading it.
    pub(crate) fn peek(&mut self, extent: Extent, age: usize) -> u64 {
        self.word(extent).peek(age)
    }

    /// Number of the newest store.
    pub(crate) fn newest(&mut self, extent: Extent) -> u64 {
        self.word(extent).newest()
    }

    /// What the word held when it was first used.
    pub(crate) fn initial(&mut self, extent: Extent) -> u64 {
        self.word(extent).initial
    }

    /// Who made the newest store, if a thread of this launch did.
    pub(crate) fn last_writer(&mut self, extent: Extent) -> Option<&Writer> {
        self.word(extent).last_writer()
    }

    pub(crate) fn load(&mut self, clock: &mut ThreadClock, extent: Extent, age: usize, how: How) -> u64 {
        self.word(extent).load(clock, age, how)
    }

    /// After which stores a store may come; see [`Word::places`].
    pub(crate) fn places(&mut self, clock: &ThreadClock, extent: Extent, order: Ordering) -> u8 {
        // Sequentially consistent stores come last, as such loads return the newest.
        let weak = self.weak && order != Ordering::SeqCst;
        self.word(extent).places(clock, weak)
    }

    pub(crate) fn store(&mut self, clock: &mut ThreadClock, extent: Extent, age: usize, bits: u64, how: How) {
        self.word(extent).store(clock, age, bits, how);
        self.write(extent, age, bits);
    }

    pub(crate) fn replace(&mut self, clock: &mut ThreadClock, extent: Extent, age: usize, bits: u64, how: How) {
        self.word(extent).replace(clock, age, bits, how);
        self.write(extent, age, bits);
    }

    /// Memory holds the newest value of every word.
    fn write(&mut self, extent: Extent, age: usize, bits: u64) {
        if age > 0 {
            return;
        }
        let at = self.regions[extent.region].start + extent.offset;
        // SAFETY: inside the region, which the launch may write; atomics are aligned.
        unsafe { write_bits(at, extent.size, bits) }
    }
}

/// # Safety
/// `at` is the exposed address of `size` (4 or 8) initialised, aligned bytes.
unsafe fn read_bits(at: usize, size: usize) -> u64 {
    let at = std::ptr::with_exposed_provenance::<u8>(at);
    if size == 4 {
        // SAFETY: by the caller.
        u64::from(unsafe { at.cast::<u32>().read() })
    } else {
        // SAFETY: by the caller.
        unsafe { at.cast::<u64>().read() }
    }
}

/// # Safety
/// `at` is the exposed address of `size` (4 or 8) aligned bytes that may be written.
unsafe fn write_bits(at: usize, size: usize, bits: u64) {
    let at = std::ptr::with_exposed_provenance_mut::<u8>(at);
    if size == 4 {
        // SAFETY: by the caller.
        unsafe { at.cast::<u32>().write(bits as u32) }
    } else {
        // SAFETY: by the caller.
        unsafe { at.cast::<u64>().write(bits) }
    }
}
