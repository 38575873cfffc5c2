//! How a thread that fails says so, where the host can read it after the device has trapped.

use core::{
    panic::{Location, PanicInfo},
    sync::atomic::Ordering,
};

use super::{atomics, intrinsics, memory::in_global};
use crate::{
    backend::cuda::parameters::{FAULT_TEXT, Fault, FaultKind},
    kernel::{atomic::Scope, hardware::Place},
};

/// Nobody has failed.
const NONE: u32 = 0;
/// A thread writes the fault.
const BEING_WRITTEN: u32 = 1;
/// The fault can be read.
const COMPLETE: u32 = 2;

/// A word of the fault: in memory of the host, which the device reaches as if it were its own.
#[inline(always)]
fn state(fault: *mut Fault) -> Place<u32> {
    // SAFETY: the launch has a fault.
    Place::Global(in_global(unsafe { &raw mut (*fault).state }))
}

/// Leaves a launch in which another thread has failed, or that the host has given up.
#[inline(always)]
pub(super) fn leave_if_failed(fault: *mut Fault) {
    // SAFETY: the launch has a fault.
    let state = unsafe { atomics::load(state(fault), Ordering::Relaxed, Scope::System) };
    // Not before all is written: a trap stops the thread that writes.
    if state >= COMPLETE {
        intrinsics::trap()
    }
}

/// Ends the launch because an index is not below the length of a view.
#[cold]
#[inline(never)]
pub(crate) fn out_of_bounds(index: usize, len: usize, location: &Location<'_>) -> ! {
    fail(FaultKind::OUT_OF_BOUNDS, (index, len), Some(location))
}

/// Ends the launch because the kernel panicked. It does not look at the message: then nothing that makes one is compiled.
#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    fail(FaultKind::PANIC, (0, 0), info.location())
}

#[cold]
#[inline(never)]
fn fail(kind: u32, (index, len): (usize, usize), location: Option<&Location<'_>>) -> ! {
    let fault = super::entry::fault();
    // SAFETY: the launch has a fault.
    let first = unsafe {
        let order = (Ordering::Relaxed, Ordering::Relaxed);
        atomics::cas(state(fault), NONE, BEING_WRITTEN, order, Scope::System)
    };
    if first.is_ok() {
        // SAFETY: this thread took it, and nobody looks before it is complete.
        let record = unsafe { &mut *in_global(fault) };
        record.kind = kind;
        record.block = u64::from(intrinsics::block());
        record.thread = u64::from(intrinsics::thread());
        (record.index, record.len) = (index as u64, len as u64);
        (record.line, record.column) = location.map_or((0, 0), |location| (location.line(), location.column()));
        record.file_bytes = copy_end(location.map_or("", |location| location.file()), &mut record.file);
        // SAFETY: the launch has a fault.
        unsafe { atomics::store(state(fault), COMPLETE, Ordering::Release, Scope::System) };
        // What is on its way arrives before the trap stops everything.
        atomics::fence(Ordering::SeqCst, Scope::System);
    }
    loop {
        leave_if_failed(fault);
    }
}

/// Copies the end of a text that fits; returns how many bytes.
fn copy_end(text: &str, to: &mut [u8; FAULT_TEXT]) -> u32 {
    let len = text.len().min(FAULT_TEXT);
    let from = text.len() - len;
    for (to, &byte) in to.iter_mut().zip(text.as_bytes().iter().skip(from)) {
        *to = byte;
    }
    len as u32
}
