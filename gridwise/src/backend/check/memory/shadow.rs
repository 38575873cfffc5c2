//! The shadow of memory: for each location the accesses that later ones are judged against.

use std::panic::Location;

use super::thread::ThreadClock;
use crate::{
    check::finding::{Missing, Operation},
    kernel::Scope,
};

/// An access, as the shadow keeps it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) location: &'static Location<'static>,
    pub(crate) block: u32,
    pub(crate) thread: u32,
    pub(crate) epoch: u32,
    pub(crate) operation: Operation,
    pub(crate) scope: Scope,
    /// Bytes.
    pub(crate) size: u8,
}

/// How two accesses that are not ordered conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conflict {
    /// One writes, and not both are atomic.
    Race,
    /// Both are atomic, in different blocks, and one has the scope of its block.
    Scope,
    /// Both are atomic, of different sizes.
    Size,
}

impl Access {
    fn is_narrow(&self) -> bool {
        self.scope == Scope::Block
    }

    fn conflict(&self, other: &Self) -> Option<Conflict> {
        if !self.operation.is_write() && !other.operation.is_write() {
            return None;
        }
        if !(self.operation.is_atomic() && other.operation.is_atomic()) {
            return Some(Conflict::Race);
        }
        if self.size != other.size {
            return Some(Conflict::Size);
        }
        (self.block != other.block && (self.is_narrow() || other.is_narrow())).then_some(Conflict::Scope)
    }

    /// Whether whatever conflicts with `earlier`, which happened before, also conflicts with this.
    fn covers(&self, earlier: &Self) -> bool {
        match (self.operation.is_write(), self.operation.is_atomic()) {
            (true, false) => true,
            (false, false) => !earlier.operation.is_write(),
            (writes, true) => {
                earlier.operation.is_atomic()
                    && (writes || !earlier.operation.is_write())
                    && self.size == earlier.size
                    && ((!self.is_narrow() && !earlier.is_narrow())
                        || (self.scope == earlier.scope && self.block == earlier.block))
            }
        }
    }
}

/// Accesses that a cell keeps at most in the fast mode.
const KEPT: usize = 4;

/// One location.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cell {
    kept: [Option<Access>; KEPT],
    /// In the exact mode, what does not fit.
    more: Vec<Access>,
    /// Whether it has been written.
    pub(crate) written: bool,
}

impl Cell {
    /// Judges an access by everything kept, and keeps it.
    pub(crate) fn judge(
        &mut self,
        clock: &ThreadClock,
        access: &Access,
        exact: bool,
        mut conflicting: impl FnMut(Access, Conflict),
    ) {
        let mut judge = |earlier: &Access| {
            if clock.knows(earlier.block, earlier.thread, earlier.epoch) {
                return access.covers(earlier);
            }
            if let Some(conflict) = earlier.conflict(access) {
                conflicting(*earlier, conflict);
            }
            false
        };
        let mut free = None;
        for (at, slot) in self.kept.iter_mut().enumerate() {
            if slot.as_ref().is_none_or(&mut judge) {
                *slot = None;
                free = Some(at);
            }
        }
        if !self.more.is_empty() {
            self.more.retain(|earlier| !judge(earlier));
        }
        match free {
            Some(at) => self.kept[at] = Some(*access),
            None if exact => self.more.push(*access),
            None => {
                // A write is worth more than a read: everything conflicts with it.
                let victim = self
                    .kept
                    .iter()
                    .position(|kept| kept.is_some_and(|kept| !kept.operation.is_write()));
                self.kept[victim.unwrap_or(access.epoch as usize % KEPT)] = Some(*access);
            }
        }
    }
}

/// Why `earlier` is not known to `clock` to have happened before. `threads` are those that may stand between the two.
pub(crate) fn missing<'a>(
    clock: &'a ThreadClock,
    threads: impl Iterator<Item = &'a ThreadClock> + Clone,
    earlier: &Access,
) -> Missing {
    let Access {
        block, thread, epoch, ..
    } = *earlier;
    let told = || {
        let between = std::iter::once(clock).chain(threads.clone());
        between.flat_map(|between| between.explain(clock, block, thread, epoch))
    };
    if clock.known.by_scope.get(block, thread) >= epoch {
        let scope = told().find(|missing| matches!(missing, Missing::WiderScope { .. }));
        scope.unwrap_or(Missing::WiderScope {
            release: None,
            acquire: None,
        })
    } else if let Some(missing) = told().next() {
        missing
    } else if clock.known.by_order.get(block, thread) >= epoch {
        Missing::Acquire
    } else if clock.block == block {
        Missing::BlockBarrier
    } else {
        Missing::GridBarrier
    }
}

/// Cells of a page: allocated together, on first use.
const PAGE: usize = 64;

/// The shadow of one region.
#[derive(Debug)]
pub(crate) struct Shadow {
    pages: Vec<Option<Box<[Cell]>>>,
    bytes: usize,
    /// A cell is 2 to the power of this bytes: as large as the accesses so far allow.
    granule: Option<u32>,
}

impl Shadow {
    pub(crate) fn new(bytes: usize) -> Self {
        Self {
            pages: Vec::new(),
            bytes,
            granule: None,
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.pages.clear();
        self.granule = None;
    }

    /// Calls `visit` with the cell number and the cell of each part of these bytes.
    pub(crate) fn cells(&mut self, offset: usize, size: usize, mut visit: impl FnMut(&mut Cell)) {
        let fits = (offset | size | 8).trailing_zeros();
        let granule = match self.granule {
            Some(granule) if granule <= fits => granule,
            _ => self.refine(fits),
        };
        let mut number = offset >> granule;
        let end = (offset + size) >> granule;
        while number < end {
            let page = self.pages[number / PAGE].get_or_insert_with(|| vec![Cell::default(); PAGE].into());
            visit(&mut page[number % PAGE]);
            number += 1;
        }
    }

    /// Makes cells smaller: each becomes several with the same contents.
    #[cold]
    fn refine(&mut self, granule: u32) -> u32 {
        let cells = (self.bytes >> granule) + 1;
        let mut pages: Vec<Option<Box<[Cell]>>> = Vec::new();
        pages.resize_with(cells.div_ceil(PAGE), || None);
        if let Some(before) = self.granule {
            let ratio = 1 << (before - granule);
            for (number, cell) in self
                .pages
                .iter()
                .enumerate()
                .filter_map(|(page, cells)| cells.as_ref().map(|cells| (page, cells)))
                .flat_map(|(page, cells)| cells.iter().enumerate().map(move |(at, cell)| (page * PAGE + at, cell)))
            {
                for part in number * ratio..(number + 1) * ratio {
                    if let Some(page) = pages.get_mut(part / PAGE) {
                        page.get_or_insert_with(|| vec![Cell::default(); PAGE].into())[part % PAGE] = cell.clone();
                    }
                }
            }
        }
        self.pages = pages;
        self.granule = Some(granule);
        granule
    }
}
