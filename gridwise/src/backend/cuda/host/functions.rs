//! Modules of compiled kernels, and the functions in them.

use std::ffi::{CString, c_char, c_void};

use super::{
    context::Context,
    driver::{RawFunction, RawModule},
    status,
};
use crate::{
    backend::cuda::exports::{Entry, Exports, Layout, Module},
    host::{driver::DriverError, load::LoadError, residency::LimitedBy},
    sync::Arc,
};

/// What the driver calls the properties of a function.
mod attribute {
    use super::super::driver::FunctionAttribute;

    /// `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK`
    pub(super) const THREADS_PER_BLOCK: FunctionAttribute = 0;
    /// `CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES`
    pub(super) const STATIC_SHARED_BYTES: FunctionAttribute = 1;
    /// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`
    pub(super) const DYNAMIC_SHARED_BYTES: FunctionAttribute = 8;
}

/// What the driver calls the options of its compiler.
mod option {
    use super::super::driver::CompilerOption;

    /// `CU_JIT_ERROR_LOG_BUFFER`
    pub(super) const ERROR_LOG: CompilerOption = 5;
    /// `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`
    pub(super) const ERROR_LOG_BYTES: CompilerOption = 6;
}

/// Bytes of what the compiler may write about a module.
const LOG_BYTES: usize = 8192;

/// A module that the device has loaded.
pub(super) struct Loaded {
    context: Arc<Context>,
    raw: RawModule,
    exports: &'static Exports,
    /// In the order of the exports.
    functions: Vec<(&'static Entry, Function)>,
}

/// A function, ready to be launched.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    pub(super) raw: RawFunction,
    /// Threads that a block of it can have, as its registers allow.
    pub(super) threads_per_block: usize,
    /// Bytes of shared memory that a launch can give a block of it.
    pub(super) shared_bytes: usize,
}

impl Loaded {
    /// Compiles a module for the device, and checks that this program and it mean the same kernels.
    pub(super) fn load(context: &Arc<Context>, module: Module) -> Result<Self, LoadError> {
        let current = context.enter()?;
        let text = CString::new(module.ptx).map_err(|_| LoadError::Refused {
            log: "a text without zero bytes is wanted".to_owned(),
            source: context.error(super::driver::Refusal {
                call: "cuModuleLoadDataEx",
                status: status::INVALID_IMAGE,
            }),
        })?;
        let mut raw = RawModule::NONE;
        let mut log = vec![0_u8; LOG_BYTES];
        let mut options = [option::ERROR_LOG, option::ERROR_LOG_BYTES];
        let mut values: [*mut c_void; 2] = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(LOG_BYTES)];
        let (options, values) = (options.as_mut_ptr(), values.as_mut_ptr());
        let image = text.as_ptr().cast();
        current
            // SAFETY: text that ends with a zero byte; two options, the second of which is how many bytes the first has.
            .call(|driver| unsafe { driver.module_load_data(&raw mut raw, image, 2, options, values) })
            .map_err(|source| {
                let end = log.iter().position(|&byte| byte == 0).unwrap_or(log.len());
                LoadError::Refused {
                    log: String::from_utf8_lossy(&log[..end]).trim_end().to_owned(),
                    source,
                }
            })?;
        // From here on it is unloaded whatever happens.
        let mut loaded = Self {
            context: context.clone(),
            raw,
            exports: module.exports,
            functions: Vec::new(),
        };
        for entry in module.exports.entries() {
            loaded.check(entry)?;
            let function = loaded.function(entry.symbol())?;
            loaded.functions.push((entry, function));
        }
        Ok(loaded)
    }

    /// The function of a kernel, if it is in the module.
    pub(super) fn of(&self, entry: fn(&Exports) -> Option<&'static Entry>) -> Option<Function> {
        let entry = entry(self.exports)?;
        let mut functions = self.functions.iter();
        functions.find_map(|(of, function)| std::ptr::eq(*of, entry).then_some(*function))
    }

    /// Compares how program and module lay out the parameter of an entry.
    fn check(&self, entry: &'static Entry) -> Result<(), LoadError> {
        let symbol = entry.layout_symbol();
        let name = CString::new(symbol).map_err(|_| LoadError::Missing { symbol })?;
        let current = self.context.enter()?;
        let (mut at, mut bytes) = (0, 0);
        current
            // SAFETY: a module of this context, and a name that ends with a zero byte; it stores two numbers.
            .raw(|driver| unsafe { driver.module_get_global(&raw mut at, &raw mut bytes, self.raw, name.as_ptr()) })
            .map_err(|refusal| self.missing(refusal, symbol))?;
        let expected = entry.layout();
        let mut found = [0_u64; Layout::BYTES / 8];
        let wrong = |module_bytes| LoadError::Layout {
            symbol: entry.symbol(),
            program_bytes: expected.size as usize,
            module_bytes,
        };
        if bytes != Layout::BYTES {
            return Err(wrong(0));
        }
        super::stream::copy_out_now(&current, at, found.as_mut_ptr().cast(), bytes)?;
        let [size, align, kernel_offset, kernel_size] = found;
        let found = Layout {
            size,
            align,
            kernel_offset,
            kernel_size,
        };
        if found == expected {
            Ok(())
        } else {
            Err(wrong(size as usize))
        }
    }

    fn function(&self, symbol: &'static str) -> Result<Function, LoadError> {
        let name = CString::new(symbol).map_err(|_| LoadError::Missing { symbol })?;
        let current = self.context.enter()?;
        let mut raw = RawFunction::NONE;
        let at: *const c_char = name.as_ptr();
        current
            // SAFETY: a module of this context, and a name that ends with a zero byte; it stores a handle.
            .raw(|driver| unsafe { driver.module_get_function(&raw mut raw, self.raw, at) })
            .map_err(|refusal| self.missing(refusal, symbol))?;
        let number = |attribute| {
            let mut value = 0;
            // SAFETY: a function of this context; it stores a number.
            current.call(|driver| unsafe { driver.function_get_attribute(&raw mut value, attribute, raw) })?;
            Ok::<_, DriverError>(value.max(0) as usize)
        };
        let threads_per_block = number(attribute::THREADS_PER_BLOCK)?;
        // All of what a block can have: without being asked, the driver gives it 48 KiB.
        let most = self.context.hardware.shared_bytes_per_block;
        let dynamic = most.saturating_sub(number(attribute::STATIC_SHARED_BYTES)?);
        let (what, most) = (attribute::DYNAMIC_SHARED_BYTES, dynamic as i32);
        // SAFETY: a function of this context.
        current.call(|driver| unsafe { driver.function_set_attribute(raw, what, most) })?;
        Ok(Function {
            raw,
            threads_per_block,
            shared_bytes: dynamic.saturating_sub(ALIGNMENT),
        })
    }

    fn missing(&self, refusal: super::driver::Refusal, symbol: &'static str) -> LoadError {
        match refusal.status {
            status::NOT_FOUND => LoadError::Missing { symbol },
            _ => LoadError::Driver(self.context.error(refusal)),
        }
    }
}

impl std::fmt::Debug for Loaded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Loaded({} entries)", self.functions.len())
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        if let Ok(current) = self.context.enter() {
            // SAFETY: loaded by this; nothing of it runs any more, because launches borrow the device.
            let _ = current.call(|driver| unsafe { driver.module_unload(self.raw) });
        }
    }
}

impl Function {
    /// How many blocks of this shape are resident on one multiprocessor, asked of the driver, and what keeps more from it.
    pub(super) fn occupancy(
        self,
        context: &Context,
        threads: usize,
        shared_bytes: usize,
    ) -> Result<(usize, LimitedBy), DriverError> {
        let hardware = &context.hardware;
        // The driver is not asked for what it would call an error.
        if shared_bytes > self.shared_bytes {
            return Ok((0, LimitedBy::SharedMemory));
        }
        if threads > self.threads_per_block {
            return Ok((0, LimitedBy::ThreadsPerBlock));
        }
        let shared_bytes = with_gap(shared_bytes);
        let mut blocks = 0;
        let threads_raw = threads as i32;
        // SAFETY: a function of this context; it stores a number.
        let ask = |driver: &super::driver::Driver| unsafe {
            driver.occupancy(&raw mut blocks, self.raw, threads_raw, shared_bytes)
        };
        context.enter()?.call(ask)?;
        let blocks = blocks.max(0) as usize;
        let limited_by = if hardware.blocks_per_multiprocessor == blocks {
            LimitedBy::BlocksPerMultiprocessor
        } else if hardware.threads_per_multiprocessor / threads.max(1) == blocks {
            LimitedBy::ThreadsPerMultiprocessor
        } else if hardware.shared_bytes_per_multiprocessor < (blocks + 1) * (shared_bytes + SYSTEM_SHARED_BYTES) {
            LimitedBy::SharedMemory
        } else {
            LimitedBy::Registers
        };
        Ok((blocks, limited_by))
    }
}

/// The dynamic shared memory begins behind the static, at a multiple of this.
const ALIGNMENT: usize = 16;

/// Dynamic shared memory to ask for where a kernel needs so many bytes: whether the driver counts the gap in front of it is not
/// documented.
pub(super) fn with_gap(shared_bytes: usize) -> usize {
    match shared_bytes {
        0 => 0,
        bytes => bytes + ALIGNMENT,
    }
}

/// Shared memory that the system keeps in each block, on the devices that have most of it.
const SYSTEM_SHARED_BYTES: usize = 1024;
