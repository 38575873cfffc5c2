//! The grid barrier: a whole-grid synchronisation in global memory.
//!
//! One arrival per block, by its first thread, between two block barriers. Three shapes behind one trait, all written on top of
//! [`Hardware`], so that every back end runs this very code. States, words and orders are in the `README.md` beside this file.

use core::{panic::Location, sync::atomic::Ordering};

use bytemuck::Pod;

use super::{
    atomic::Scope,
    collective,
    hardware::{GridHardware, Hardware, Place, Rmw, SLOT_BYTES, WaitFor, WaitSite},
};

mod counter;
mod flip;
#[cfg(all(test, not(loom), feature = "std"))]
mod test_check;
#[cfg(all(test, loom))]
mod test_loom;
mod tree;

pub use counter::CounterBarrier;
pub use flip::FlipBarrier;
pub use tree::TreeBarrier;

/// Words from one group that is polled together to the next: 128 bytes, so that prefetching pairs of lines does not couple them.
pub const LINE_WORDS: usize = 32;

/// Which barrier a cooperative launch uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u32)]
pub enum BarrierShape {
    /// [`FlipBarrier`].
    Flip,
    /// [`CounterBarrier`].
    Counter,
    /// [`TreeBarrier`].
    Tree,
}

/// Blocks from which on the tree is the default.
const TREE_FROM: usize = 32;

impl BarrierShape {
    /// The default for that many blocks.
    pub const fn for_blocks(blocks: usize) -> Self {
        if blocks >= TREE_FROM { Self::Tree } else { Self::Flip }
    }

    /// Words of state for that many blocks, all zero at the start of a launch.
    pub const fn words(self, blocks: usize) -> usize {
        match self {
            Self::Flip => LINE_WORDS,
            Self::Counter => LINE_WORDS,
            Self::Tree => tree::words(blocks),
        }
    }
}

/// A barrier shape: `members` meet, each with its own index.
pub trait GridBarrier {
    /// Arrives, and waits for the others.
    ///
    /// # Safety
    /// `words` points to as many words as the shape needs for `members`, used by this barrier alone, all zero before the first
    /// round; `member` is below `members`, and each member is one thread.
    unsafe fn meet<H: Hardware>(hardware: H, words: *mut u32, member: usize, members: usize, site: WaitSite);
}

/// A word of barrier state. All accesses have device scope.
#[derive(Clone, Copy)]
struct BarrierWord(*mut u32);

impl BarrierWord {
    /// # Safety
    /// `index` lies inside the state that `words` points to.
    #[inline(always)]
    unsafe fn new(words: *mut u32, index: usize) -> Self {
        // SAFETY: by the caller.
        Self(unsafe { words.add(index) })
    }

    #[inline(always)]
    #[track_caller]
    fn load<H: Hardware>(self, hardware: H, order: Ordering) -> u32 {
        // SAFETY: a word of the launch's barrier state, by the constructor.
        unsafe { hardware.atomic_load(Place::Global(self.0), order, Scope::Device) }
    }

    #[inline(always)]
    #[track_caller]
    fn store<H: Hardware>(self, hardware: H, value: u32, order: Ordering) {
        // SAFETY: as in `load`.
        unsafe { hardware.atomic_store(Place::Global(self.0), value, order, Scope::Device) }
    }

    #[inline(always)]
    #[track_caller]
    fn fetch_add<H: Hardware>(self, hardware: H, value: u32, order: Ordering) -> u32 {
        // SAFETY: as in `load`.
        unsafe { hardware.atomic_rmw(Place::Global(self.0), Rmw::Add, value, order, Scope::Device) }
    }

    #[inline(always)]
    #[track_caller]
    fn wait<H: Hardware>(self, hardware: H, order: Ordering, site: WaitSite, ready: impl FnMut(u32) -> bool) {
        // SAFETY: as in `load`.
        unsafe { hardware.wait_until(Place::Global(self.0), order, Scope::Device, site, ready) };
    }
}

/// Where a launch keeps its barrier: plain data, the same for all threads.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct GridState {
    words: *mut u32,
    slots: *mut [u8; SLOT_BYTES],
    shape: BarrierShape,
}

impl GridState {
    /// Slots for `reduce_grid` of that many blocks: two a block, used in turn.
    pub const fn slots(blocks: usize) -> usize {
        2 * blocks
    }

    /// Of a launch that has no grid barrier.
    #[cfg(feature = "cuda")]
    pub(crate) const fn none() -> Self {
        Self {
            words: core::ptr::null_mut(),
            slots: core::ptr::null_mut(),
            shape: BarrierShape::Flip,
        }
    }

    /// # Safety
    /// `words` points to [`BarrierShape::words`] zeroed words, `slots` to [`slots`](Self::slots) slots aligned to 16 bytes,
    /// for the blocks of the launch, and nothing but that launch uses them.
    pub unsafe fn new(words: *mut u32, slots: *mut [u8; SLOT_BYTES], shape: BarrierShape) -> Self {
        Self { words, slots, shape }
    }

    /// The barrier, for one thread of that block.
    #[inline(always)]
    pub(crate) fn meet<H: Hardware>(self, hardware: H, block: usize, blocks: usize, site: WaitSite) {
        // A call in each arm: a choice of functions would be called through a table, with all of the accelerator in memory.
        match self.shape {
            // SAFETY: `new` vouches for the words; block indices are below the number of blocks, one thread each.
            BarrierShape::Flip => unsafe {
                FlipBarrier::meet(hardware, self.words, block, blocks, site);
            },
            // SAFETY: as above.
            BarrierShape::Counter => unsafe {
                CounterBarrier::meet(hardware, self.words, block, blocks, site);
            },
            // SAFETY: as above.
            BarrierShape::Tree => unsafe {
                TreeBarrier::meet(hardware, self.words, block, blocks, site);
            },
        }
    }
}

#[inline(always)]
pub(crate) fn sync_grid<H: GridHardware>(hardware: H, location: &'static Location<'static>) {
    hardware.enter_grid_barrier(location);
    hardware.block_barrier(location);
    if hardware.thread() == 0 {
        hardware.meet_blocks(WaitSite {
            what: WaitFor::GridBarrier,
            location,
        });
    }
    hardware.block_barrier(location);
}

/// One slot a block and parity. A slot of one parity is written again two reductions later; between lies the barrier of the
/// other parity, which no block passes before all have read.
#[inline(always)]
pub(crate) fn reduce_grid<T: Pod, H: GridHardware>(
    hardware: H,
    value: T,
    op: impl Fn(T, T) -> T,
    location: &'static Location<'static>,
) -> T {
    const {
        assert!(
            size_of::<T>() <= SLOT_BYTES,
            "grid reductions take values of at most 64 bytes"
        )
    };
    const {
        assert!(
            align_of::<T>() <= 16,
            "grid reductions take values aligned to at most 16 bytes"
        )
    };
    let of_block = collective::reduce_block(hardware, value, &op, location);
    let slots = hardware.grid_state().slots;
    let parity = usize::from(hardware.reduction_parity());
    let slot = |block: usize| {
        // SAFETY: two slots a block, by `GridState::new`.
        Place::Global(unsafe { slots.add(2 * block + parity) }.cast::<T>())
    };
    if hardware.thread() == 0 {
        // SAFETY: this block's own slot.
        unsafe { hardware.store(slot(hardware.block()), of_block) };
    }
    sync_grid(hardware, location);
    (0..hardware.blocks())
        // SAFETY: written by its block before the barrier.
        .map(|block| unsafe { hardware.load(slot(block)) })
        .reduce(op)
        // There is at least one block.
        .unwrap_or(of_block)
}
