//! Block collectives: what all threads of a block compute together.
//!
//! Each warp combines its lanes by shuffles, then one slot of scratch a warp carries the rest. Two block barriers frame each
//! use of the scratch: after the slots are written, and after they are read, so that the next collective may write them.

use core::panic::Location;

use bytemuck::Pod;

use super::{
    acc::Acc,
    hardware::{Hardware, Place, SLOT_BYTES},
};

#[cfg(all(test, feature = "std", not(loom)))]
mod test;
#[cfg(all(test, feature = "std", not(loom)))]
mod test_check;

/// The slot of a warp.
///
/// Checks at compile time that `T` fits.
#[inline(always)]
fn slot<T: Pod, H: Hardware>(hardware: H, warp: usize) -> Place<T> {
    const {
        assert!(
            size_of::<T>() <= SLOT_BYTES && align_of::<T>() <= SLOT_BYTES,
            "block collectives take values of at most 64 bytes"
        )
    };
    Place::Shared(hardware.scratch() + warp * SLOT_BYTES)
}

#[inline(always)]
pub(crate) fn broadcast<T: Pod, H: Hardware>(
    hardware: H,
    value: impl FnOnce() -> T,
    location: &'static Location<'static>,
) -> T {
    if hardware.threads() == 1 {
        return value();
    }
    if hardware.thread() == 0 {
        // SAFETY: slot 0 is in the scratch, and only this thread writes it between two barriers.
        unsafe { hardware.store(slot(hardware, 0), value()) };
    }
    hardware.block_barrier(location);
    // SAFETY: written before the barrier.
    let value = unsafe { hardware.load(slot(hardware, 0)) };
    hardware.block_barrier(location);
    value
}

#[inline(always)]
pub(crate) fn reduce_block<T: Pod, H: Hardware>(
    hardware: H,
    value: T,
    op: impl Fn(T, T) -> T,
    location: &'static Location<'static>,
) -> T {
    if hardware.threads() == 1 {
        hardware.collect_alone();
        return value;
    }
    let (lane, lanes) = (hardware.lane(), hardware.lane_count());
    let mut sum = value;
    let mut distance = 1;
    while distance < hardware.warp_size() {
        let above = hardware.warp_shuffle_down(sum, distance);
        if lane + distance < lanes {
            sum = op(sum, above);
        }
        distance *= 2;
    }
    if lane == 0 {
        // SAFETY: the slot of this warp is in the scratch, and only its first lane writes it between two barriers.
        unsafe { hardware.store(slot(hardware, hardware.warp_index()), sum) };
    }
    hardware.block_barrier(location);
    let total = fold_slots(hardware, hardware.warp_count(), &op);
    hardware.block_barrier(location);
    // There is at least one warp.
    total.unwrap_or(sum)
}

/// Exclusive prefix (none for the first thread), inclusive prefix, total.
#[inline(always)]
pub(crate) fn scan_block<T: Pod, H: Hardware>(
    hardware: H,
    value: T,
    op: impl Fn(T, T) -> T,
    location: &'static Location<'static>,
) -> (Option<T>, T, T) {
    if hardware.threads() == 1 {
        hardware.collect_alone();
        return (None, value, value);
    }
    let (lane, lanes, warp) = (hardware.lane(), hardware.lane_count(), hardware.warp_index());
    let mut inclusive = value;
    let mut distance = 1;
    while distance < hardware.warp_size() {
        let below = hardware.warp_shuffle_up(inclusive, distance);
        if lane >= distance {
            inclusive = op(below, inclusive);
        }
        distance *= 2;
    }
    let before_in_warp = hardware.warp_shuffle_up(inclusive, 1);
    if lane + 1 == lanes {
        // SAFETY: the slot of this warp is in the scratch, and only its last lane writes it between two barriers.
        unsafe { hardware.store(slot(hardware, warp), inclusive) };
    }
    hardware.block_barrier(location);
    let before_warp = fold_slots(hardware, warp, &op);
    let total = fold_slots(hardware, hardware.warp_count(), &op);
    hardware.block_barrier(location);

    let exclusive = match (before_warp, lane > 0) {
        (Some(prefix), true) => Some(op(prefix, before_in_warp)),
        (Some(prefix), false) => Some(prefix),
        (None, true) => Some(before_in_warp),
        (None, false) => None,
    };
    let inclusive = before_warp.map_or(inclusive, |prefix| op(prefix, inclusive));
    (exclusive, inclusive, total.unwrap_or(inclusive))
}

/// Combines the first `warps` slots in order.
#[inline(always)]
fn fold_slots<T: Pod, H: Hardware>(hardware: H, warps: usize, op: &impl Fn(T, T) -> T) -> Option<T> {
    (0..warps)
        // SAFETY: inside the scratch; all slots were written before the barrier that precedes this.
        .map(|warp| unsafe { hardware.load(slot(hardware, warp)) })
        .reduce(op)
}
