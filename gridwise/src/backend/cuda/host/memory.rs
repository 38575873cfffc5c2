//! Memory of a device, and memory of the host that the device reaches.

use std::{ffi::c_void, fmt};

use super::{context::Context, driver::DevicePointer, status};
use crate::{host::driver::DriverError, sync::Arc};

/// Memory of a device.
pub(crate) struct DeviceMemory {
    context: Arc<Context>,
    at: DevicePointer,
    bytes: usize,
}

/// Where memory without a byte lies: aligned for everything.
const NOWHERE: DevicePointer = 256;

impl DeviceMemory {
    /// Not initialised. `None` if there is not so much.
    pub(super) fn allocate(context: &Arc<Context>, bytes: usize) -> Result<Option<Self>, DriverError> {
        let current = context.enter()?;
        let mut at = NOWHERE;
        if bytes > 0 {
            // SAFETY: it stores an address.
            match current.raw(|driver| unsafe { driver.memory_allocate(&raw mut at, bytes) }) {
                Ok(()) => {}
                Err(refusal) if refusal.status == status::OUT_OF_MEMORY => return Ok(None),
                Err(refusal) => return Err(context.error(refusal)),
            }
        }
        Ok(Some(Self {
            context: context.clone(),
            at,
            bytes,
        }))
    }

    pub(super) fn at(&self) -> DevicePointer {
        self.at
    }

    /// The address, which is of no use on the host.
    pub(crate) fn start(&self) -> *mut u8 {
        std::ptr::without_provenance_mut(self.at as usize)
    }

    pub(crate) fn home(&self) -> crate::kernel::span::Home {
        self.context.home()
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        // Memory of a lost context goes with it.
        if let Ok(current) = self.context.enter() {
            // SAFETY: allocated by this, and used by nobody any more.
            let _ = current.call(|driver| unsafe { driver.memory_free(self.at) });
        }
    }
}

impl fmt::Debug for DeviceMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DeviceMemory({} bytes of {})", self.bytes, self.context.name())
    }
}

/// A `T` in memory of the host that the device reaches, also after it has failed. All bytes zero when new.
pub(super) struct Mapped<T> {
    context: Arc<Context>,
    start: *mut T,
    device: DevicePointer,
}

// SAFETY: it owns its memory, like a box.
unsafe impl<T: Send> Send for Mapped<T> {}
// SAFETY: it gives out the address, and nothing else.
unsafe impl<T: Sync> Sync for Mapped<T> {}

/// `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`: reached from every context, and mapped into the device's memory.
const PORTABLE_AND_MAPPED: u32 = 1 | 2;

impl<T> Mapped<T> {
    pub(super) fn zeroed(context: &Arc<Context>) -> Result<Self, DriverError> {
        let current = context.enter()?;
        let mut start: *mut c_void = std::ptr::null_mut();
        // SAFETY: it stores an address.
        current.call(|driver| unsafe { driver.host_allocate(&raw mut start, size_of::<T>(), PORTABLE_AND_MAPPED) })?;
        let mut mapped = Self {
            context: context.clone(),
            start: start.cast(),
            device: 0,
        };
        // SAFETY: just allocated, with room for a `T`.
        unsafe { mapped.start.write_bytes(0, 1) };
        let device = &raw mut mapped.device;
        // SAFETY: memory that was mapped; it stores an address.
        current.call(|driver| unsafe { driver.host_device_pointer(device, start, 0) })?;
        Ok(mapped)
    }

    /// Where it lies for the host.
    pub(super) fn start(&self) -> *mut T {
        self.start
    }

    /// Where it lies for the device.
    pub(super) fn on_device(&self) -> *mut T {
        std::ptr::without_provenance_mut(self.device as usize)
    }
}

impl<T> Drop for Mapped<T> {
    fn drop(&mut self) {
        // In a lost context it goes with it.
        if let Ok(current) = self.context.enter() {
            // SAFETY: allocated by this, and used by nobody any more.
            let _ = current.call(|driver| unsafe { driver.host_free(self.start.cast()) });
        }
    }
}
