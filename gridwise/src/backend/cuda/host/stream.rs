//! Streams: what a queue has on the device. One piece of work at a time, and the host waits for each.

use std::{
    ffi::c_void,
    sync::atomic::{AtomicU32, Ordering},
    time::{Duration, Instant},
};

use super::{
    context::{Context, Current},
    driver::{DevicePointer, RawStream, Refusal},
    memory::Mapped,
    status,
};
use crate::{
    backend::cuda::parameters::Fault,
    host::driver::DriverError,
    sync::{Arc, hint, thread},
};

/// See the module.
pub(crate) struct Stream {
    context: Arc<Context>,
    raw: RawStream,
    /// Where the threads of a launch say why they failed.
    fault: Mapped<Fault>,
}

// SAFETY: the fault record is memory of its own; the host reads it when nothing runs on the stream, and by atomics else.
unsafe impl Send for Fault {}
// SAFETY: as above.
unsafe impl Sync for Fault {}

/// The values of [`Fault::state`].
mod fault_state {
    pub(super) const NONE: u32 = 0;
    pub(super) const COMPLETE: u32 = 2;
    pub(super) const GIVEN_UP: u32 = 3;
}

/// `CU_STREAM_NON_BLOCKING`: a stream that does not wait for the default stream of the context, which others in the program may use.
const NON_BLOCKING: u32 = 1;

impl Stream {
    pub(super) fn new(context: &Arc<Context>) -> Result<Self, DriverError> {
        let fault = Mapped::zeroed(context)?;
        let mut raw = RawStream::NONE;
        let current = context.enter()?;
        // SAFETY: it stores a handle.
        current.call(|driver| unsafe { driver.stream_create(&raw mut raw, NON_BLOCKING) })?;
        Ok(Self {
            context: context.clone(),
            raw,
            fault,
        })
    }

    pub(super) fn context(&self) -> &Arc<Context> {
        &self.context
    }

    pub(super) fn raw(&self) -> RawStream {
        self.raw
    }

    /// The record of the launch that is next. Nothing runs on the stream.
    pub(super) fn fresh_fault(&self) -> *mut Fault {
        self.fault_state().store(fault_state::NONE, Ordering::Release);
        self.fault.on_device()
    }

    /// What the failed launch has left.
    ///
    /// # Safety
    /// Nothing runs on the stream.
    pub(super) unsafe fn fault(&self) -> Option<&Fault> {
        let complete = self.fault_state().load(Ordering::Acquire) == fault_state::COMPLETE;
        // SAFETY: memory that lives as long as `self`; nobody writes it, by the caller.
        complete.then(|| unsafe { &*self.fault.start() })
    }

    fn fault_state(&self) -> &AtomicU32 {
        // SAFETY: a field of memory that lives as long as `self`.
        let state = unsafe { &raw mut (*self.fault.start()).state };
        // SAFETY: aligned, and accessed by atomics alone while anything runs.
        unsafe { AtomicU32::from_ptr(state) }
    }

    /// Waits for what is on the stream. With a limit: when time is up, tells the threads to leave, waits for that, and says that
    /// it was so.
    pub(super) fn finish(&self, current: &Current<'_>, limit: Option<Duration>) -> (Result<(), Refusal>, bool) {
        let Some(limit) = limit else {
            // SAFETY: a stream of this context.
            let end = current.raw(|driver| unsafe { driver.stream_synchronize(self.raw) });
            return (end, false);
        };
        let start = Instant::now();
        let mut late = false;
        loop {
            // SAFETY: a stream of this context.
            match current.raw(|driver| unsafe { driver.stream_query(self.raw) }) {
                Err(refusal) if refusal.status == status::NOT_READY => {}
                end => return (end, late),
            }
            let elapsed = start.elapsed();
            if elapsed >= limit && !late {
                late = true;
                // A thread that has failed meanwhile has the record for itself.
                let _ = self.fault_state().compare_exchange(
                    fault_state::NONE,
                    fault_state::GIVEN_UP,
                    Ordering::AcqRel,
                    Ordering::Relaxed,
                );
            }
            pause(elapsed);
        }
    }

    /// Calls the driver with the stream, and waits for what it put there.
    fn now(
        &self,
        call: impl FnOnce(&super::driver::Driver, RawStream) -> Result<(), Refusal>,
    ) -> Result<(), DriverError> {
        let current = self.context.enter()?;
        let called = current.raw(|driver| call(driver, self.raw));
        let end = called.and_then(|()| self.finish(&current, None).0);
        end.map_err(|refusal| {
            if status::loses_the_device(refusal.status) {
                self.context.lose(UNKNOWN_KERNEL);
            }
            self.context.error(refusal)
        })
    }

    /// Copies from the host.
    ///
    /// # Safety
    /// `from` points to `bytes` bytes of the host, `to` to as many of the device, which nobody else uses.
    pub(crate) unsafe fn copy_in(&self, from: *const u8, to: *mut u8, bytes: usize) -> Result<(), DriverError> {
        if bytes == 0 {
            return self.context.alive();
        }
        // SAFETY: by the caller; it is waited for.
        self.now(|driver, stream| unsafe { driver.copy_to_device(address(to), from.cast(), bytes, stream) })
    }

    /// Copies to the host.
    ///
    /// # Safety
    /// As [`copy_in`](Self::copy_in), the other way.
    pub(crate) unsafe fn copy_out(&self, from: *const u8, to: *mut u8, bytes: usize) -> Result<(), DriverError> {
        if bytes == 0 {
            return self.context.alive();
        }
        // SAFETY: by the caller; it is waited for.
        self.now(|driver, stream| unsafe { driver.copy_to_host(to.cast(), address(from), bytes, stream) })
    }

    /// Copies on the device.
    ///
    /// # Safety
    /// Both point to `bytes` bytes of the device, which do not overlap; nobody else uses those at `to`, or writes those at `from`.
    pub(crate) unsafe fn copy_within(&self, from: *const u8, to: *mut u8, bytes: usize) -> Result<(), DriverError> {
        if bytes == 0 {
            return self.context.alive();
        }
        // SAFETY: by the caller; it is waited for.
        self.now(|driver, stream| unsafe { driver.copy_on_device(address(to), address(from), bytes, stream) })
    }

    /// Sets `count` elements of the bytes of `value`.
    ///
    /// # Safety
    /// `to` points to `count` elements of the device, aligned for their size, which nobody else uses.
    pub(crate) unsafe fn fill(&self, to: *mut u8, value: &[u8], count: usize) -> Result<(), DriverError> {
        let at = address(to);
        match *value {
            _ if count == 0 || value.is_empty() => self.context.alive(),
            // SAFETY: by the caller; it is waited for.
            [a] => self.now(|driver, stream| unsafe { driver.fill_8(at, a, count, stream) }),
            [a, b] if at.is_multiple_of(2) => {
                let value = u16::from_ne_bytes([a, b]);
                // SAFETY: by the caller, and aligned; it is waited for.
                self.now(|driver, stream| unsafe { driver.fill_16(at, value, count, stream) })
            }
            [a, b, c, d] if at.is_multiple_of(4) => {
                let value = u32::from_ne_bytes([a, b, c, d]);
                // SAFETY: by the caller, and aligned; it is waited for.
                self.now(|driver, stream| unsafe { driver.fill_32(at, value, count, stream) })
            }
            // SAFETY: by the caller.
            _ => unsafe { self.fill_by_doubling(at, value, count) },
        }
    }

    /// Writes one element, then copies what there is behind it until all is full.
    ///
    /// # Safety
    /// As [`fill`](Self::fill).
    unsafe fn fill_by_doubling(&self, at: DevicePointer, value: &[u8], count: usize) -> Result<(), DriverError> {
        let (size, all) = (value.len(), value.len() * count);
        self.now(|driver, stream| {
            // SAFETY: by the caller; it is waited for.
            unsafe { driver.copy_to_device(at, value.as_ptr().cast(), size, stream) }?;
            let mut full = size;
            while full < all {
                let bytes = full.min(all - full);
                // SAFETY: both parts are inside, and what is copied ends where the copy begins.
                unsafe { driver.copy_on_device(at + full as u64, at, bytes, stream) }?;
                full += bytes;
            }
            Ok(())
        })
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        if let Ok(current) = self.context.enter() {
            // SAFETY: made by this; nothing runs on it, because every call waits.
            let _ = current.call(|driver| unsafe { driver.stream_destroy(self.raw) });
        }
    }
}

impl std::fmt::Debug for Stream {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Stream({})", self.context.name())
    }
}

/// Stands for the kernel to blame where a device fails outside launches.
const UNKNOWN_KERNEL: &str = "(not known)";

/// Waits a little, longer the longer it has taken so far.
fn pause(elapsed: Duration) {
    match elapsed.as_micros() {
        0..50 => hint::spin_loop(),
        50..2000 => thread::yield_now(),
        _ => std::thread::sleep(Duration::from_micros(100)),
    }
}

fn address<T>(pointer: *const T) -> DevicePointer {
    pointer.addr() as DevicePointer
}

/// Copies a few bytes of the device to the host, by the default stream.
pub(super) fn copy_out_now(
    current: &Current<'_>,
    from: DevicePointer,
    to: *mut c_void,
    bytes: usize,
) -> Result<(), DriverError> {
    // SAFETY: the caller's constant of a module, and its own memory.
    current.call(|driver| unsafe { driver.copy_to_host(to, from, bytes, RawStream::NONE) })?;
    // SAFETY: the default stream, which is always there.
    current.call(|driver| unsafe { driver.stream_synchronize(RawStream::NONE) })
}
