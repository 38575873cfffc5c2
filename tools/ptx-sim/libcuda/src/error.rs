//! The driver's error codes.

use ptx_sim::{FaultKind, LaunchError};

/// An error code, other than success.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Error(pub(crate) u32);

pub(crate) type Answer = Result<(), Error>;

macro_rules! codes {
    ($($code:literal $name:ident $text:literal,)*) => {
        #[allow(dead_code)]
        impl Error {
            $(pub(crate) const $name: Error = Error($code);)*

            /// Name and description of a code, each with a zero byte at its end.
            pub(crate) fn describe(code: u32) -> Option<(&'static str, &'static str)> {
                match code {
                    0 => Some(("CUDA_SUCCESS\0", "no error\0")),
                    $($code => Some((concat!("CUDA_ERROR_", stringify!($name), "\0"), concat!($text, "\0"))),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    1 INVALID_VALUE "invalid argument",
    2 OUT_OF_MEMORY "out of memory",
    3 NOT_INITIALIZED "initialization error",
    4 DEINITIALIZED "driver shutting down",
    100 NO_DEVICE "no CUDA-capable device is detected",
    101 INVALID_DEVICE "invalid device ordinal",
    200 INVALID_IMAGE "device kernel image is invalid",
    201 INVALID_CONTEXT "invalid device context",
    209 NO_BINARY_FOR_GPU "no kernel image is available for execution on the device",
    215 UNSUPPORTED_LIMIT "limit is not supported on this architecture",
    218 INVALID_PTX "a PTX JIT compilation failed",
    222 UNSUPPORTED_PTX_VERSION "the provided PTX was compiled with an unsupported toolchain",
    301 FILE_NOT_FOUND "file not found",
    400 INVALID_HANDLE "invalid resource handle",
    401 ILLEGAL_STATE "the operation cannot be performed in the present state",
    500 NOT_FOUND "named symbol not found",
    600 NOT_READY "device not ready",
    700 ILLEGAL_ADDRESS "an illegal memory access was encountered",
    701 LAUNCH_OUT_OF_RESOURCES "too many resources requested for launch",
    702 LAUNCH_TIMEOUT "the launch timed out and was terminated",
    708 PRIMARY_CONTEXT_ACTIVE "cannot set while device is active in this process",
    709 CONTEXT_IS_DESTROYED "context is destroyed",
    712 HOST_MEMORY_ALREADY_REGISTERED "part or all of the requested memory range is already mapped",
    713 HOST_MEMORY_NOT_REGISTERED "pointer does not correspond to a registered memory region",
    714 HARDWARE_STACK_ERROR "hardware stack error",
    715 ILLEGAL_INSTRUCTION "an illegal instruction was encountered",
    716 MISALIGNED_ADDRESS "misaligned address",
    718 INVALID_PC "invalid program counter",
    719 LAUNCH_FAILED "unspecified launch failure",
    720 COOPERATIVE_LAUNCH_TOO_LARGE "too many blocks in cooperative launch",
    800 NOT_PERMITTED "operation not permitted",
    801 NOT_SUPPORTED "operation not supported",
    900 STREAM_CAPTURE_UNSUPPORTED "operation not permitted when stream is capturing",
    901 STREAM_CAPTURE_INVALIDATED "operation failed due to a previous error during capture",
    903 STREAM_CAPTURE_UNMATCHED "capture was not initiated in this stream",
    904 STREAM_CAPTURE_UNJOINED "capturing stream has unjoined work",
    905 STREAM_CAPTURE_ISOLATION "dependency created on uncaptured work in another stream",
    906 STREAM_CAPTURE_IMPLICIT "operation would make the legacy stream depend on a capturing blocking stream",
    907 CAPTURED_EVENT "operation not permitted on an event last recorded in a capturing stream",
    999 UNKNOWN "unknown error",
}

impl From<&LaunchError> for Error {
    /// What the hardware reports for it.
    fn from(error: &LaunchError) -> Error {
        match error {
            LaunchError::NotResident(..) => Error::COOPERATIVE_LAUNCH_TOO_LARGE,
            LaunchError::NoSuchKernel(_) => Error::NOT_FOUND,
            LaunchError::InvalidSize(_) | LaunchError::ParameterSize(..) => Error::INVALID_VALUE,
            LaunchError::Fault(fault) => match fault.kind {
                FaultKind::IllegalAddress => Error::ILLEGAL_ADDRESS,
                FaultKind::Misaligned => Error::MISALIGNED_ADDRESS,
                FaultKind::Deadlock | FaultKind::StepLimit | FaultKind::Stopped => Error::LAUNCH_TIMEOUT,
                FaultKind::IllegalInstruction => Error::INVALID_PC,
                FaultKind::StackOverflow => Error::HARDWARE_STACK_ERROR,
                FaultKind::Trap
                | FaultKind::BarrierDivergence
                | FaultKind::WarpDivergence
                | FaultKind::InvalidBarrier => Error::LAUNCH_FAILED,
            },
            _ => Error::UNKNOWN,
        }
    }
}
