//! The CUDA driver: loaded when it is first asked for, so that programs build and start where there is none.
//!
//! A table of the functions that are used, no more. Statuses are numbers, not an enumeration: a later driver may return one
//! that nobody has heard of here. A function that is missing is an error when the driver is loaded, not a panic when it is
//! called.

use std::{
    ffi::{CStr, c_char, c_void},
    sync::OnceLock,
};

use libloading::Library;

use super::status::{self, Status};
use crate::host::device::DeviceError;

/// A device, by number.
pub(super) type RawDevice = i32;
/// Where something lies in the memory of a device.
pub(super) type DevicePointer = u64;
/// Which property of a device.
pub(super) type DeviceAttribute = i32;
/// Which property of a function.
pub(super) type FunctionAttribute = i32;
/// Which option of the driver's compiler.
pub(super) type CompilerOption = i32;
/// Whose calls must not disturb a recording.
pub(super) type CaptureMode = u32;

macro_rules! handles {
    ($($name:ident)*) => { $(
        /// One of the driver's objects.
        #[repr(transparent)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) struct $name(pub(super) *mut c_void);

        impl $name {
            pub(super) const NONE: Self = Self(std::ptr::null_mut());
        }

        // SAFETY: the driver's objects may be used from any thread.
        unsafe impl Send for $name {}
        // SAFETY: as above; the driver has its own locks.
        unsafe impl Sync for $name {}
    )* };
}
handles! { RawContext RawModule RawFunction RawStream RawEvent RawGraph RawGraphExec }

macro_rules! functions {
    ($($name:ident = $symbol:literal($($argument:ident: $type:ty),*);)*) => {
        /// The functions of the driver.
        pub(super) struct Driver {
            // The functions are inside it.
            _library: Library,
            version: i32,
            $($name: unsafe extern "system" fn($($type),*) -> Status,)*
        }

        impl Driver {
            fn resolve(library: Library, version: i32) -> Result<Self, DeviceError> {
                $(
                    // SAFETY: the function has this type, by the driver's manual; that of every version after the oldest that
                    // is let in.
                    let $name = match unsafe { library.get::<unsafe extern "system" fn($($type),*) -> Status>($symbol) } {
                        Ok(function) => *function,
                        Err(source) => return Err(DeviceError::CudaDriver { reason: source.to_string() }),
                    };
                )*
                Ok(Self { _library: library, version, $($name),* })
            }

            $(
                /// # Safety
                /// What the manual of the driver asks for.
                #[allow(clippy::too_many_arguments)]
                pub(super) unsafe fn $name(&self, $($argument: $type),*) -> Result<(), Refusal> {
                    // SAFETY: by the caller.
                    let status = unsafe { (self.$name)($($argument),*) };
                    if status == status::SUCCESS {
                        return Ok(());
                    }
                    // The name without the byte that ends it.
                    const CALL: &str = match CStr::from_bytes_with_nul($symbol) {
                        Ok(symbol) => match symbol.to_str() {
                            Ok(call) => call,
                            Err(_) => panic!("names of functions are ASCII"),
                        },
                        Err(_) => panic!("names of functions end with a zero byte"),
                    };
                    Err(Refusal { call: CALL, status })
                }
            )*
        }
    };
}

functions! {
    init = b"cuInit\0"(flags: u32);
    get_error_name = b"cuGetErrorName\0"(of: Status, name: *mut *const c_char);
    get_error_string = b"cuGetErrorString\0"(of: Status, text: *mut *const c_char);

    device_get = b"cuDeviceGet\0"(device: *mut RawDevice, ordinal: i32);
    device_get_count = b"cuDeviceGetCount\0"(count: *mut i32);
    device_get_name = b"cuDeviceGetName\0"(name: *mut c_char, len: i32, device: RawDevice);
    device_get_attribute = b"cuDeviceGetAttribute\0"(value: *mut i32, attribute: DeviceAttribute, device: RawDevice);
    device_total_memory = b"cuDeviceTotalMem_v2\0"(bytes: *mut usize, device: RawDevice);

    primary_context_retain = b"cuDevicePrimaryCtxRetain\0"(context: *mut RawContext, device: RawDevice);
    primary_context_release = b"cuDevicePrimaryCtxRelease_v2\0"(device: RawDevice);
    primary_context_reset = b"cuDevicePrimaryCtxReset_v2\0"(device: RawDevice);
    primary_context_state = b"cuDevicePrimaryCtxGetState\0"(device: RawDevice, flags: *mut u32, active: *mut i32);
    context_push = b"cuCtxPushCurrent_v2\0"(context: RawContext);
    context_pop = b"cuCtxPopCurrent_v2\0"(context: *mut RawContext);

    module_load_data = b"cuModuleLoadDataEx\0"(
        module: *mut RawModule, image: *const c_void, count: u32, options: *mut CompilerOption, values: *mut *mut c_void
    );
    module_unload = b"cuModuleUnload\0"(module: RawModule);
    module_get_function = b"cuModuleGetFunction\0"(function: *mut RawFunction, module: RawModule, name: *const c_char);
    module_get_global = b"cuModuleGetGlobal_v2\0"(
        at: *mut DevicePointer, bytes: *mut usize, module: RawModule, name: *const c_char
    );
    function_get_attribute = b"cuFuncGetAttribute\0"(value: *mut i32, attribute: FunctionAttribute, function: RawFunction);
    function_set_attribute = b"cuFuncSetAttribute\0"(function: RawFunction, attribute: FunctionAttribute, value: i32);
    occupancy = b"cuOccupancyMaxActiveBlocksPerMultiprocessor\0"(
        blocks: *mut i32, function: RawFunction, threads: i32, shared_bytes: usize
    );

    memory_allocate = b"cuMemAlloc_v2\0"(at: *mut DevicePointer, bytes: usize);
    memory_free = b"cuMemFree_v2\0"(at: DevicePointer);
    host_allocate = b"cuMemHostAlloc\0"(at: *mut *mut c_void, bytes: usize, flags: u32);
    host_free = b"cuMemFreeHost\0"(at: *mut c_void);
    host_device_pointer = b"cuMemHostGetDevicePointer_v2\0"(device: *mut DevicePointer, at: *mut c_void, flags: u32);
    fill_8 = b"cuMemsetD8Async\0"(at: DevicePointer, value: u8, count: usize, stream: RawStream);
    fill_16 = b"cuMemsetD16Async\0"(at: DevicePointer, value: u16, count: usize, stream: RawStream);
    fill_32 = b"cuMemsetD32Async\0"(at: DevicePointer, value: u32, count: usize, stream: RawStream);
    copy_to_device = b"cuMemcpyHtoDAsync_v2\0"(to: DevicePointer, from: *const c_void, bytes: usize, stream: RawStream);
    copy_to_host = b"cuMemcpyDtoHAsync_v2\0"(to: *mut c_void, from: DevicePointer, bytes: usize, stream: RawStream);
    copy_on_device = b"cuMemcpyDtoDAsync_v2\0"(to: DevicePointer, from: DevicePointer, bytes: usize, stream: RawStream);

    stream_create = b"cuStreamCreate\0"(stream: *mut RawStream, flags: u32);
    stream_destroy = b"cuStreamDestroy_v2\0"(stream: RawStream);
    stream_query = b"cuStreamQuery\0"(stream: RawStream);
    stream_synchronize = b"cuStreamSynchronize\0"(stream: RawStream);
    launch_kernel = b"cuLaunchKernel\0"(
        function: RawFunction,
        grid_x: u32, grid_y: u32, grid_z: u32,
        block_x: u32, block_y: u32, block_z: u32,
        shared_bytes: u32, stream: RawStream, parameters: *mut *mut c_void, extra: *mut *mut c_void
    );
    launch_cooperative = b"cuLaunchCooperativeKernel\0"(
        function: RawFunction,
        grid_x: u32, grid_y: u32, grid_z: u32,
        block_x: u32, block_y: u32, block_z: u32,
        shared_bytes: u32, stream: RawStream, parameters: *mut *mut c_void
    );

    capture_begin = b"cuStreamBeginCapture_v2\0"(stream: RawStream, mode: CaptureMode);
    capture_end = b"cuStreamEndCapture\0"(stream: RawStream, graph: *mut RawGraph);
    graph_instantiate = b"cuGraphInstantiateWithFlags\0"(executable: *mut RawGraphExec, graph: RawGraph, flags: u64);
    graph_launch = b"cuGraphLaunch\0"(executable: RawGraphExec, stream: RawStream);
    graph_executable_destroy = b"cuGraphExecDestroy\0"(executable: RawGraphExec);
    graph_destroy = b"cuGraphDestroy\0"(graph: RawGraph);

    event_create = b"cuEventCreate\0"(event: *mut RawEvent, flags: u32);
    event_record = b"cuEventRecord\0"(event: RawEvent, stream: RawStream);
    event_synchronize = b"cuEventSynchronize\0"(event: RawEvent);
    event_elapsed = b"cuEventElapsedTime\0"(milliseconds: *mut f32, start: RawEvent, end: RawEvent);
    event_destroy = b"cuEventDestroy_v2\0"(event: RawEvent);
}

/// A call that failed, before it is known on which device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal {
    pub(super) call: &'static str,
    pub(super) status: Status,
}

/// The oldest driver whose compiler takes the kernels, which are in version 7.8 of PTX.
const OLDEST: i32 = 11_080;

#[cfg(windows)]
const LIBRARIES: [&str; 1] = ["nvcuda.dll"];
#[cfg(not(windows))]
const LIBRARIES: [&str; 2] = ["libcuda.so.1", "libcuda.so"];

impl Driver {
    /// The driver of this machine.
    pub(super) fn get() -> Result<&'static Self, DeviceError> {
        static DRIVER: OnceLock<Driver> = OnceLock::new();
        if let Some(driver) = DRIVER.get() {
            return Ok(driver);
        }
        // A failure is not kept: the next call may find what was not there.
        let driver = Self::load()?;
        Ok(DRIVER.get_or_init(|| driver))
    }

    fn load() -> Result<Self, DeviceError> {
        let mut reason = String::new();
        for name in LIBRARIES {
            // SAFETY: NVIDIA's driver, by the name that it has everywhere. It runs nothing when it is loaded that could do harm.
            match unsafe { Library::new(name) } {
                Ok(library) => return Self::of(library),
                Err(error) if reason.is_empty() => reason = said_by(&error),
                Err(_) => {}
            }
        }
        Err(DeviceError::NoCudaDriver { reason })
    }

    fn of(library: Library) -> Result<Self, DeviceError> {
        type GetVersion = unsafe extern "system" fn(*mut i32) -> Status;
        let broken = |reason: String| DeviceError::CudaDriver { reason };
        // SAFETY: the function has this type in every version.
        let get_version = unsafe { library.get::<GetVersion>(b"cuDriverGetVersion\0") };
        let get_version = get_version.map_err(|error| broken(error.to_string()))?;
        let mut version = 0;
        // SAFETY: it may be called before anything else, and stores a number.
        let status = unsafe { get_version(&raw mut version) };
        if status != status::SUCCESS {
            return Err(broken(format!("cuDriverGetVersion returned {status}")));
        }
        if version < OLDEST {
            return Err(DeviceError::CudaDriverTooOld {
                found: version_text(version),
                needed: version_text(OLDEST),
            });
        }
        let driver = Self::resolve(library, version)?;
        // SAFETY: the first call to the driver; 0 is what there is to pass.
        match unsafe { driver.init(0) } {
            Ok(()) => Ok(driver),
            // It says so when it is loaded on a machine without a GPU.
            Err(refusal) if refusal.status == status::NO_DEVICE => Ok(driver),
            Err(refusal) => {
                let what = driver.text_of(refusal.status);
                Err(broken(format!("cuInit returned {}: {}", refusal.status, what.1)))
            }
        }
    }

    /// The version of CUDA that the driver is for.
    pub(super) fn version(&self) -> String {
        version_text(self.version)
    }

    /// The driver's name for a status, and its words.
    pub(super) fn text_of(&self, of: Status) -> (String, String) {
        let read = |text: *const c_char| {
            if text.is_null() {
                return "not known to this driver".to_owned();
            }
            // SAFETY: the driver's texts end with a zero byte and live as long as the driver.
            let text = unsafe { CStr::from_ptr(text) };
            text.to_string_lossy().into_owned()
        };
        let (mut name, mut words) = (std::ptr::null(), std::ptr::null());
        // SAFETY: it stores a pointer; for a status that it does not know, null.
        let _ = unsafe { self.get_error_name(of, &raw mut name) };
        // SAFETY: as above.
        let _ = unsafe { self.get_error_string(of, &raw mut words) };
        (read(name), read(words))
    }
}

/// What the system said of a library that it did not load: libloading keeps it behind its own words.
fn said_by(error: &libloading::Error) -> String {
    match std::error::Error::source(error) {
        Some(system) => system.to_string(),
        None => error.to_string(),
    }
}

/// The driver counts 1000 for a major version and 10 for a minor one.
fn version_text(version: i32) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}
