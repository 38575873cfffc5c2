//! What may come of a call of the driver. Not an enumeration: a later driver may return what nobody has heard of here.

/// What every function of the driver returns.
pub(super) type Status = i32;

macro_rules! statuses {
    ($($(#[$doc:meta])* $name:ident = $value:literal;)*) => { $(
        $(#[$doc])*
        #[allow(dead_code)] // Most are looked at together.
        pub(super) const $name: Status = $value;
    )* };
}
statuses! {
    /// `CUDA_SUCCESS`
    SUCCESS = 0;
    /// `CUDA_ERROR_OUT_OF_MEMORY`
    OUT_OF_MEMORY = 2;
    /// `CUDA_ERROR_NOT_INITIALIZED`
    NOT_INITIALISED = 3;
    /// `CUDA_ERROR_NO_DEVICE`
    NO_DEVICE = 100;
    /// `CUDA_ERROR_INVALID_IMAGE`
    INVALID_IMAGE = 200;
    /// `CUDA_ERROR_NOT_FOUND`
    NOT_FOUND = 500;
    /// `CUDA_ERROR_NOT_READY`
    NOT_READY = 600;
    /// `CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE`
    COOPERATIVE_LAUNCH_TOO_LARGE = 720;

    // What ends a context: every later call in it fails. The manual says so of most, experience of the others.
    /// `CUDA_ERROR_DEINITIALIZED`
    DEINITIALISED = 4;
    /// `CUDA_ERROR_ECC_UNCORRECTABLE`
    ECC_UNCORRECTABLE = 214;
    /// `CUDA_ERROR_NVLINK_UNCORRECTABLE`
    NVLINK_UNCORRECTABLE = 220;
    /// `CUDA_ERROR_CONTAINED`
    CONTAINED = 226;
    /// `CUDA_ERROR_ILLEGAL_ADDRESS`
    ILLEGAL_ADDRESS = 700;
    /// `CUDA_ERROR_LAUNCH_TIMEOUT`
    LAUNCH_TIMEOUT = 702;
    /// `CUDA_ERROR_CONTEXT_IS_DESTROYED`
    CONTEXT_IS_DESTROYED = 709;
    /// `CUDA_ERROR_ASSERT`
    ASSERT = 710;
    /// `CUDA_ERROR_HARDWARE_STACK_ERROR`
    HARDWARE_STACK_ERROR = 714;
    /// `CUDA_ERROR_ILLEGAL_INSTRUCTION`
    ILLEGAL_INSTRUCTION = 715;
    /// `CUDA_ERROR_MISALIGNED_ADDRESS`
    MISALIGNED_ADDRESS = 716;
    /// `CUDA_ERROR_INVALID_ADDRESS_SPACE`
    INVALID_ADDRESS_SPACE = 717;
    /// `CUDA_ERROR_INVALID_PC`
    INVALID_PC = 718;
    /// `CUDA_ERROR_LAUNCH_FAILED`
    LAUNCH_FAILED = 719;
    /// `CUDA_ERROR_TENSOR_MEMORY_LEAK`
    TENSOR_MEMORY_LEAK = 721;
    /// `CUDA_ERROR_MPS_CLIENT_TERMINATED`
    MPS_CLIENT_TERMINATED = 810;
    /// `CUDA_ERROR_EXTERNAL_DEVICE`
    EXTERNAL_DEVICE = 911;
    /// `CUDA_ERROR_UNKNOWN`
    UNKNOWN = 999;
}

/// Whether the context is of no more use: an exception on the device, after which every call in it fails.
pub(super) fn loses_the_device(status: Status) -> bool {
    matches!(
        status,
        DEINITIALISED
            | ECC_UNCORRECTABLE
            | NVLINK_UNCORRECTABLE
            | CONTAINED
            | ILLEGAL_ADDRESS
            | LAUNCH_TIMEOUT
            | CONTEXT_IS_DESTROYED
            | ASSERT
            | HARDWARE_STACK_ERROR
            ..=LAUNCH_FAILED | TENSOR_MEMORY_LEAK | MPS_CLIENT_TERMINATED | EXTERNAL_DEVICE | UNKNOWN
    )
}
