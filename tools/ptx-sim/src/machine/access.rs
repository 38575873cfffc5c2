//! Loads, stores and atomics of a group of lanes.

use super::block::Block;
use super::execute::window;
use super::warp::Warp;
use super::{Launch, RANGES, State, report};
use crate::decode::code::{Access, Atomic, AtomicOp, Where};
use crate::decode::lift::Lanes;
use crate::fault::{Fault, FaultKind};
use crate::memory::Kind;
use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering};

/// What is wrong with an access.
pub(super) struct Wrong {
    lane: usize,
    kind: FaultKind,
    address: u64,
    detail: &'static str,
}

impl Wrong {
    pub(super) fn fault(self, launch: &Launch<'_>, block: &Block, warp: usize, pc: u32) -> Fault {
        let mut fault = report::at(launch, block, warp, self.lane, pc, self.kind, self.detail);
        fault.address = Some(self.address);
        fault
    }
}

/// Where one lane's access goes.
#[derive(Clone, Copy)]
enum Place {
    Global(u64),
    Shared(usize),
    Local(usize),
    Param(usize),
}

/// What all lanes of an access have in common.
struct Shared<'a> {
    launch: &'a Launch<'a>,
    slot: usize,
    space: Where,
    bytes: u64,
    writes: bool,
    shared_bytes: usize,
}

impl Shared<'_> {
    /// Checks one lane's address.
    #[inline(always)]
    fn place(&self, state: &mut State, local_bytes: usize, lane: usize, given: u64) -> Result<Place, Wrong> {
        let (space, address) = match self.space {
            Where::Generic => window(given),
            // Addresses in the window of shared memory have 32 bits.
            Where::Shared => (Where::Shared, given & 0xffff_ffff),
            space => (space, given),
        };
        let wrong = |kind, detail| {
            Err(Wrong {
                lane,
                kind,
                address: given,
                detail,
            })
        };
        if address & (self.bytes - 1) != 0 {
            return wrong(FaultKind::Misaligned, "");
        }
        let inside = |size: usize| address.checked_add(self.bytes).is_some_and(|end| end <= size as u64);
        match space {
            Where::Global => {
                let mut range = state.ranges[self.slot];
                if !range.holds(address, self.bytes) {
                    let Some(found) = self
                        .launch
                        .device
                        .memory
                        .find(address)
                        .filter(|r| r.holds(address, self.bytes))
                    else {
                        return wrong(FaultKind::IllegalAddress, "no allocation is there");
                    };
                    state.ranges[self.slot] = found;
                    range = found;
                }
                if self.writes && range.kind == Kind::ReadOnly {
                    return wrong(FaultKind::IllegalAddress, "a store to constants");
                }
                Ok(Place::Global(address))
            }
            Where::Shared if inside(self.shared_bytes) => Ok(Place::Shared(address as usize)),
            Where::Shared => wrong(FaultKind::IllegalAddress, "outside of the block's shared memory"),
            Where::Local if inside(local_bytes) => Ok(Place::Local(address as usize)),
            Where::Local => wrong(FaultKind::IllegalAddress, "outside of the thread's stack"),
            Where::Param if inside(self.launch.parameters.len()) && !self.writes => Ok(Place::Param(address as usize)),
            Where::Param => wrong(FaultKind::IllegalAddress, "outside of the kernel's parameters"),
            Where::Generic => wrong(FaultKind::IllegalAddress, "in no space"),
        }
    }
}

/// Reads from device memory.
///
/// # Safety
/// The place is allocated, and the address a multiple of the size.
#[inline(always)]
unsafe fn read(address: u64, size: u8) -> u64 {
    match size {
        // SAFETY: as the caller promises; other threads access it atomically too.
        1 => unsafe { AtomicU8::from_ptr(address as *mut u8) }
            .load(Ordering::Acquire)
            .into(),
        // SAFETY: as above.
        2 => unsafe { AtomicU16::from_ptr(address as *mut u16) }
            .load(Ordering::Acquire)
            .into(),
        // SAFETY: as above.
        4 => unsafe { AtomicU32::from_ptr(address as *mut u32) }
            .load(Ordering::Acquire)
            .into(),
        // SAFETY: as above.
        _ => unsafe { AtomicU64::from_ptr(address as *mut u64) }.load(Ordering::Acquire),
    }
}

/// Writes to device memory.
///
/// # Safety
/// The place is allocated and not constant, and the address a multiple of the size.
#[inline(always)]
unsafe fn write(address: u64, size: u8, value: u64) {
    match size {
        // SAFETY: as the caller promises; other threads access it atomically too.
        1 => unsafe { AtomicU8::from_ptr(address as *mut u8) }.store(value as u8, Ordering::Release),
        // SAFETY: as above.
        2 => unsafe { AtomicU16::from_ptr(address as *mut u16) }.store(value as u16, Ordering::Release),
        // SAFETY: as above.
        4 => unsafe { AtomicU32::from_ptr(address as *mut u32) }.store(value as u32, Ordering::Release),
        // SAFETY: as above.
        _ => unsafe { AtomicU64::from_ptr(address as *mut u64) }.store(value, Ordering::Release),
    }
}

#[inline(always)]
fn read_bytes(bytes: &[u8], at: usize, size: u8) -> u64 {
    match size {
        1 => bytes[at].into(),
        2 => u16::from_le_bytes([bytes[at], bytes[at + 1]]).into(),
        4 => bytes[at..at + 4].try_into().map_or(0, u32::from_le_bytes).into(),
        _ => bytes[at..at + 8].try_into().map_or(0, u64::from_le_bytes),
    }
}

#[inline(always)]
fn write_bytes(bytes: &mut [u8], at: usize, size: u8, value: u64) {
    bytes[at..at + usize::from(size)].copy_from_slice(&value.to_le_bytes()[..usize::from(size)]);
}

#[inline(always)]
fn truncate(value: u64, size: u8) -> u64 {
    if size >= 8 {
        value
    } else {
        value & ((1 << (8 * size)) - 1)
    }
}

fn extend(value: u64, size: u8) -> u64 {
    let shift = 64 - 8 * u32::from(size);
    ((value << shift) as i64 >> shift) as u64
}

#[allow(clippy::too_many_arguments)]
pub(super) fn load(
    launch: &Launch<'_>,
    state: &mut State,
    warp: &mut Warp,
    shared: &[u8],
    access: &Access,
    pc: u32,
    rows_at: usize,
    lanes: u32,
) -> Result<(), Wrong> {
    let bytes = u64::from(access.size) * u64::from(access.count);
    let common = Shared {
        launch,
        slot: pc as usize % RANGES,
        space: access.space,
        bytes,
        writes: false,
        shared_bytes: shared.len(),
    };
    for lane in Lanes(lanes) {
        let address = warp.rows[rows_at + access.base as usize][lane].wrapping_add_signed(access.offset);
        let place = common.place(state, warp.local[lane].len(), lane, address)?;
        for (i, &row) in access.rows[..usize::from(access.count)].iter().enumerate() {
            let offset = i * usize::from(access.size);
            let value = match place {
                // SAFETY: `place` has found the whole access in one allocation, and its address a multiple of its size.
                Place::Global(address) => unsafe { read(address + offset as u64, access.size) },
                Place::Shared(at) => read_bytes(shared, at + offset, access.size),
                Place::Local(at) => read_bytes(&warp.local[lane], at + offset, access.size),
                Place::Param(at) => read_bytes(launch.parameters, at + offset, access.size),
            };
            warp.rows[rows_at + row as usize][lane] = if access.signed {
                extend(value, access.size)
            } else {
                value
            };
        }
    }
    if access.poll {
        polled(state, warp, pc, lanes);
    }
    Ok(())
}

/// Lanes have looked at memory that others may change.
fn polled(state: &mut State, warp: &mut Warp, pc: u32, lanes: u32) {
    state.polls += u64::from(lanes.count_ones());
    state.polled_host |= state.ranges[pc as usize % RANGES].kind == Kind::Host;
    for lane in Lanes(lanes) {
        if warp.polled_in[lane] != state.epoch {
            warp.polled_in[lane] = state.epoch;
            warp.polls[lane] = 0;
        }
        warp.polls[lane] += 1;
    }
}

#[allow(clippy::too_many_arguments)]
pub(super) fn store(
    launch: &Launch<'_>,
    state: &mut State,
    warp: &mut Warp,
    shared: &mut [u8],
    access: &Access,
    pc: u32,
    rows_at: usize,
    lanes: u32,
) -> Result<(), Wrong> {
    let bytes = u64::from(access.size) * u64::from(access.count);
    let common = Shared {
        launch,
        slot: pc as usize % RANGES,
        space: access.space,
        bytes,
        writes: true,
        shared_bytes: shared.len(),
    };
    let mut changed = false;
    for lane in Lanes(lanes) {
        let address = warp.rows[rows_at + access.base as usize][lane].wrapping_add_signed(access.offset);
        let place = common.place(state, warp.local[lane].len(), lane, address)?;
        for (i, &row) in access.rows[..usize::from(access.count)].iter().enumerate() {
            let offset = i * usize::from(access.size);
            let value = truncate(warp.rows[rows_at + row as usize][lane], access.size);
            match place {
                Place::Global(address) => {
                    let address = address + offset as u64;
                    // SAFETY: `place` has found the whole access in one allocation, and its address a multiple of its size.
                    changed |= unsafe { read(address, access.size) } != value;
                    // SAFETY: as above, and the allocation is not constant.
                    unsafe { write(address, access.size, value) };
                }
                Place::Shared(at) => {
                    changed |= read_bytes(shared, at + offset, access.size) != value;
                    write_bytes(shared, at + offset, access.size, value);
                }
                // What only the thread itself sees wakes nobody.
                Place::Local(at) => write_bytes(&mut warp.local[lane], at + offset, access.size, value),
                Place::Param(_) => {}
            }
        }
    }
    if changed {
        state.progress();
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
pub(super) fn atomic(
    launch: &Launch<'_>,
    state: &mut State,
    warp: &mut Warp,
    shared: &mut [u8],
    atomic: &Atomic,
    pc: u32,
    rows_at: usize,
    lanes: u32,
) -> Result<(), Wrong> {
    let common = Shared {
        launch,
        slot: pc as usize % RANGES,
        space: atomic.space,
        bytes: atomic.size.into(),
        writes: true,
        shared_bytes: shared.len(),
    };
    let mut changed = false;
    for lane in Lanes(lanes) {
        let get = |row: u32| warp.rows[rows_at + row as usize][lane];
        let address = get(atomic.base).wrapping_add_signed(atomic.offset);
        let (b, c) = (
            truncate(get(atomic.b), atomic.size),
            truncate(get(atomic.c), atomic.size),
        );
        let place = common.place(state, warp.local[lane].len(), lane, address)?;
        let old = match place {
            Place::Global(address) => {
                // SAFETY: `place` has found the whole access in one allocation that is not constant, and its address a multiple of its size.
                unsafe { update(address, atomic.size, |old| combine(atomic, old, b, c, true)) }
            }
            Place::Shared(at) => {
                let old = read_bytes(shared, at, atomic.size);
                write_bytes(shared, at, atomic.size, combine(atomic, old, b, c, false));
                old
            }
            Place::Local(_) | Place::Param(_) => {
                return Err(Wrong {
                    lane,
                    kind: FaultKind::IllegalAddress,
                    address,
                    detail: "an atomic on memory of one thread",
                });
            }
        };
        changed |= combine(atomic, old, b, c, matches!(place, Place::Global(_))) != old;
        if let Some(d) = atomic.d {
            warp.rows[rows_at + d as usize][lane] = old;
        }
    }
    if changed {
        state.progress();
    } else {
        polled(state, warp, pc, lanes);
    }
    Ok(())
}

/// Replaces a value in device memory in one go; gives the old one back.
///
/// # Safety
/// The place is allocated and not constant, and the address a multiple of the size.
unsafe fn update(address: u64, size: u8, f: impl Fn(u64) -> u64) -> u64 {
    let order = Ordering::SeqCst;
    match size {
        2 => {
            // SAFETY: as the caller promises; other threads access it atomically too.
            let place = unsafe { AtomicU16::from_ptr(address as *mut u16) };
            place
                .fetch_update(order, order, |old| Some(f(old.into()) as u16))
                .unwrap_or_else(|old| old)
                .into()
        }
        4 => {
            // SAFETY: as above.
            let place = unsafe { AtomicU32::from_ptr(address as *mut u32) };
            place
                .fetch_update(order, order, |old| Some(f(old.into()) as u32))
                .unwrap_or_else(|old| old)
                .into()
        }
        _ => {
            // SAFETY: as above.
            let place = unsafe { AtomicU64::from_ptr(address as *mut u64) };
            place
                .fetch_update(order, order, |old| Some(f(old)))
                .unwrap_or_else(|old| old)
        }
    }
}

/// What an atomic leaves behind.
fn combine(atomic: &Atomic, old: u64, b: u64, c: u64, global: bool) -> u64 {
    let narrow = atomic.size == 4;
    let signed = |x: u64| if narrow { i64::from(x as u32 as i32) } else { x as i64 };
    // In device memory, and only there, singles below the normal range count as zero.
    let single = |x: u64| {
        let value = f32::from_bits(x as u32);
        if global && value.is_subnormal() {
            0.0_f32.copysign(value)
        } else {
            value
        }
    };
    let new = match atomic.op {
        AtomicOp::And => old & b,
        AtomicOp::Or => old | b,
        AtomicOp::Xor => old ^ b,
        AtomicOp::Exchange => b,
        AtomicOp::CompareExchange => {
            if old == b {
                c
            } else {
                old
            }
        }
        AtomicOp::Add => old.wrapping_add(b),
        AtomicOp::Increment => {
            if old >= b {
                0
            } else {
                old + 1
            }
        }
        AtomicOp::Decrement => {
            if old == 0 || old > b {
                b
            } else {
                old - 1
            }
        }
        AtomicOp::MinUnsigned => old.min(b),
        AtomicOp::MaxUnsigned => old.max(b),
        AtomicOp::MinSigned => signed(old).min(signed(b)) as u64,
        AtomicOp::MaxSigned => signed(old).max(signed(b)) as u64,
        AtomicOp::AddSingle => {
            let sum = single((single(old) + single(b)).to_bits().into());
            if sum.is_nan() {
                0x7fff_ffff
            } else {
                sum.to_bits().into()
            }
        }
        AtomicOp::AddDouble => (f64::from_bits(old) + f64::from_bits(b)).to_bits(),
    };
    truncate(new, atomic.size)
}
