//! Why a module of kernels could not be loaded.

use thiserror::Error;

use super::driver::DriverError;

/// A module of kernels could not be loaded.
#[derive(Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The driver's compiler does not take the module.
    #[error("the driver refused a module of kernels: {source}{}{log}", if log.is_empty() { "" } else { "; it says:\n" })]
    Refused {
        /// What the compiler wrote.
        log: String,
        /// What the driver returned.
        source: DriverError,
    },
    /// The module lacks an entry that its table of exports names.
    #[error(
        "the module has no `{symbol}`, which its table of exports names: it was compiled from another version of the kernels' source; \
         compile it anew"
    )]
    Missing {
        /// The function or constant.
        symbol: &'static str,
    },
    /// Program and module disagree on how a kernel is laid out in memory.
    #[error(
        "entry `{symbol}`: this program passes a parameter of {program_bytes} bytes, the module takes {module_bytes}, or their fields lie \
         apart: it was compiled from another version of the kernels' source; compile it anew"
    )]
    Layout {
        /// The entry.
        symbol: &'static str,
        /// Bytes of the parameter for this program.
        program_bytes: usize,
        /// Bytes of it for the module.
        module_bytes: usize,
    },
    /// The driver failed otherwise.
    #[error(transparent)]
    Driver(#[from] DriverError),
}

crate::host::error::debug_as_display!(LoadError);
