//! The primary context of a device: what everything else there belongs to.
//!
//! A program has one a device, however often it opens it, so that all its buffers and queues there reach each other. A kernel
//! that traps takes it along: every later call in it fails. It is then *lost*, and is reset when the last of what belongs to
//! it is gone, so that no view can be left of memory that the next context gives out again.

use std::{
    ffi::CStr,
    sync::{OnceLock, PoisonError},
};

use super::{
    driver::{DeviceAttribute, Driver, RawContext, RawDevice, Refusal},
    status,
};
use crate::{
    host::{device::DeviceError, driver::DriverError},
    kernel::span::Home,
    sync::{Arc, Mutex},
};

/// What the driver calls the properties of a device.
mod attribute {
    use super::super::driver::DeviceAttribute;

    /// `CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK`
    pub(super) const THREADS_PER_BLOCK: DeviceAttribute = 1;
    /// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK`
    pub(super) const SHARED_BYTES_PER_BLOCK: DeviceAttribute = 8;
    /// `CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT`
    pub(super) const MULTIPROCESSORS: DeviceAttribute = 16;
    /// `CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR`
    pub(super) const THREADS_PER_MULTIPROCESSOR: DeviceAttribute = 39;
    /// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR`
    pub(super) const COMPUTE_CAPABILITY_MAJOR: DeviceAttribute = 75;
    /// `CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR`
    pub(super) const COMPUTE_CAPABILITY_MINOR: DeviceAttribute = 76;
    /// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR`
    pub(super) const SHARED_BYTES_PER_MULTIPROCESSOR: DeviceAttribute = 81;
    /// `CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH`
    pub(super) const COOPERATIVE_LAUNCH: DeviceAttribute = 95;
    /// `CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN`
    pub(super) const SHARED_BYTES_PER_BLOCK_OPT_IN: DeviceAttribute = 97;
    /// `CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR`
    pub(super) const BLOCKS_PER_MULTIPROCESSOR: DeviceAttribute = 106;
}

/// What a device is and has.
#[derive(Clone, Debug)]
pub(super) struct Hardware {
    pub(super) name: String,
    pub(super) driver: String,
    pub(super) compute_capability: (usize, usize),
    pub(super) memory_bytes: usize,
    pub(super) multiprocessors: usize,
    pub(super) threads_per_multiprocessor: usize,
    pub(super) blocks_per_multiprocessor: usize,
    pub(super) shared_bytes_per_multiprocessor: usize,
    pub(super) threads_per_block: usize,
    /// Bytes of shared memory that a block can have if its function asks for them.
    pub(super) shared_bytes_per_block: usize,
    pub(super) cooperative_launch: bool,
}

/// The oldest generation that the kernels are compiled for.
const OLDEST_CAPABILITY: (usize, usize) = (7, 0);

/// See the module.
pub(super) struct Context {
    driver: &'static Driver,
    ordinal: usize,
    device: RawDevice,
    raw: RawContext,
    pub(super) hardware: Hardware,
    /// Once it is lost, the kernel that failed.
    lost: OnceLock<&'static str>,
}

/// The contexts of this program. An entry stays until its context has been given back.
static CONTEXTS: Mutex<Vec<(usize, Weak)>> = Mutex::new(Vec::new());
type Weak = std::sync::Weak<Context>;

impl Context {
    /// How many devices there are.
    pub(super) fn count() -> Result<usize, DeviceError> {
        let driver = Driver::get()?;
        let mut count = 0;
        // SAFETY: it stores a number.
        match unsafe { driver.device_get_count(&raw mut count) } {
            Ok(()) => Ok(count.max(0) as usize),
            // What an initialisation without a device leaves behind.
            Err(Refusal {
                status: status::NO_DEVICE | status::NOT_INITIALISED,
                ..
            }) => Ok(0),
            Err(refusal) => Err(error_of(driver, "cuda", refusal).into()),
        }
    }

    /// The context of a device, shared with whoever has it already.
    pub(super) fn open(ordinal: usize) -> Result<Arc<Self>, DeviceError> {
        let driver = Driver::get()?;
        let count = Self::count()?;
        if ordinal >= count {
            return Err(DeviceError::NoSuchCudaDevice { ordinal, count });
        }
        loop {
            let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
            match contexts.iter().find(|(of, _)| *of == ordinal) {
                None => {
                    let context = Arc::new(Self::retain(driver, ordinal)?);
                    contexts.push((ordinal, Arc::downgrade(&context)));
                    return Ok(context);
                }
                Some((_, context)) => {
                    let context = context.upgrade();
                    // What is upgraded may be the last, whose drop takes this lock.
                    drop(contexts);
                    match context {
                        Some(context) => return context.alive().map(|()| context.clone()).map_err(DeviceError::from),
                        // About to be given back.
                        None => std::thread::yield_now(),
                    }
                }
            }
        }
    }

    fn retain(driver: &'static Driver, ordinal: usize) -> Result<Self, DeviceError> {
        let name = format!("cuda:{ordinal}");
        let error = |refusal| error_of(driver, &name, refusal);
        let mut device = 0;
        // SAFETY: the ordinal is below the number of devices; it stores a number.
        unsafe { driver.device_get(&raw mut device, ordinal as i32) }.map_err(error)?;
        let hardware = Hardware::of(driver, device).map_err(error)?;
        if hardware.compute_capability < OLDEST_CAPABILITY {
            return Err(DeviceError::CudaDeviceTooOld {
                ordinal,
                name: hardware.name,
                found: hardware.compute_capability,
                needed: OLDEST_CAPABILITY,
            });
        }
        let mut raw = RawContext::NONE;
        // SAFETY: it stores a handle, which is given back when the context is dropped.
        unsafe { driver.primary_context_retain(&raw mut raw, device) }.map_err(error)?;
        Ok(Self {
            driver,
            ordinal,
            device,
            raw,
            hardware,
            lost: OnceLock::new(),
        })
    }

    /// The name that opens the device.
    pub(super) fn name(&self) -> String {
        format!("cuda:{}", self.ordinal)
    }

    pub(super) fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Whose memory the device's memory is.
    pub(super) fn home(&self) -> Home {
        Home::cuda(self.ordinal)
    }

    /// An error if the context is lost.
    pub(super) fn alive(&self) -> Result<(), DriverError> {
        match self.lost.get() {
            None => Ok(()),
            Some(kernel) => Err(DriverError::Lost {
                device: self.name().into(),
                kernel,
            }),
        }
    }

    /// From now on every call fails. The first kernel that is named is to blame.
    pub(super) fn lose(&self, kernel: &'static str) {
        let _ = self.lost.set(kernel);
    }

    /// Calls of this thread go to the context until the result is dropped.
    pub(super) fn enter(&self) -> Result<Current<'_>, DriverError> {
        self.alive()?;
        // SAFETY: a context that is alive.
        unsafe { self.driver.context_push(self.raw) }.map_err(|refusal| self.error(refusal))?;
        Ok(Current { context: self })
    }

    /// Whether the device has a primary context, whoever holds it.
    fn is_active(&self) -> bool {
        let (mut flags, mut active) = (0, 0);
        // SAFETY: a device; it stores two numbers.
        let asked = unsafe {
            self.driver
                .primary_context_state(self.device, &raw mut flags, &raw mut active)
        };
        asked.is_ok() && active != 0
    }

    /// What a call that failed means.
    pub(super) fn error(&self, refusal: Refusal) -> DriverError {
        error_of(self.driver, &self.name(), refusal)
    }
}

fn error_of(driver: &Driver, device: &str, refusal: Refusal) -> DriverError {
    let (name, what) = driver.text_of(refusal.status);
    DriverError::Call {
        device: device.into(),
        call: refusal.call,
        code: refusal.status,
        text: format!("{what} ({name})").into(),
    }
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Context({})", self.name())
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let mut contexts = CONTEXTS.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: retained once, by this. The last to release it destroys it, with all that was not given back.
        let _ = unsafe { self.driver.primary_context_release(self.device) };
        if self.lost.get().is_some() && self.is_active() {
            // Others in the program hold it, to whom it is of no use either; or the driver would not release what is broken.
            // SAFETY: nothing of this library uses the context any more.
            let _ = unsafe { self.driver.primary_context_reset(self.device) };
        }
        contexts.retain(|(ordinal, _)| *ordinal != self.ordinal);
    }
}

/// A thread whose calls go to a context; those before it come back when it is dropped.
pub(super) struct Current<'a> {
    context: &'a Context,
}

impl Current<'_> {
    /// Calls the driver, in the context.
    pub(super) fn call(&self, call: impl FnOnce(&Driver) -> Result<(), Refusal>) -> Result<(), DriverError> {
        call(self.context.driver).map_err(|refusal| self.context.error(refusal))
    }

    /// As [`call`](Self::call), for who wants to know the status.
    pub(super) fn raw(&self, call: impl FnOnce(&Driver) -> Result<(), Refusal>) -> Result<(), Refusal> {
        call(self.context.driver)
    }
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        let mut popped = RawContext::NONE;
        // SAFETY: pushed by this thread when this was made, and whatever was pushed since has been popped.
        let _ = unsafe { self.context.driver.context_pop(&raw mut popped) };
    }
}

impl Hardware {
    fn of(driver: &Driver, device: RawDevice) -> Result<Self, Refusal> {
        let number = |attribute: DeviceAttribute| {
            let mut value = 0;
            // SAFETY: a device, and it stores a number.
            unsafe { driver.device_get_attribute(&raw mut value, attribute, device) }?;
            Ok::<_, Refusal>(value.max(0) as usize)
        };
        let mut name = [0_u8; 256];
        // SAFETY: it stores at most that many bytes, the last of them zero.
        unsafe { driver.device_get_name(name.as_mut_ptr().cast(), name.len() as i32, device) }?;
        let mut memory_bytes = 0;
        // SAFETY: a device, and it stores a number.
        unsafe { driver.device_total_memory(&raw mut memory_bytes, device) }?;
        let shared_bytes = number(attribute::SHARED_BYTES_PER_BLOCK)?;
        Ok(Self {
            name: CStr::from_bytes_until_nul(&name).map_or(String::new(), |name| name.to_string_lossy().into_owned()),
            driver: driver.version(),
            compute_capability: (
                number(attribute::COMPUTE_CAPABILITY_MAJOR)?,
                number(attribute::COMPUTE_CAPABILITY_MINOR)?,
            ),
            memory_bytes,
            multiprocessors: number(attribute::MULTIPROCESSORS)?,
            threads_per_multiprocessor: number(attribute::THREADS_PER_MULTIPROCESSOR)?,
            blocks_per_multiprocessor: number(attribute::BLOCKS_PER_MULTIPROCESSOR)?,
            shared_bytes_per_multiprocessor: number(attribute::SHARED_BYTES_PER_MULTIPROCESSOR)?,
            threads_per_block: number(attribute::THREADS_PER_BLOCK)?,
            shared_bytes_per_block: number(attribute::SHARED_BYTES_PER_BLOCK_OPT_IN)?.max(shared_bytes),
            cooperative_launch: number(attribute::COOPERATIVE_LAUNCH)? != 0,
        })
    }
}
