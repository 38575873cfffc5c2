//! What an entry does: it puts the accelerator together, places the shared memory as the host did, and runs the kernel.

use core::arch::asm;

use super::acc::{Cuda, Own};
use crate::{
    backend::cuda::parameters::{Context, Fault, Parameters},
    kernel::{GridKernel, Kernel, SharedLayout, hardware::reserved_shared, shared::SharedCursor},
};

/// Threads of a warp, on every device so far.
pub(super) const WARP: usize = 32;

/// Runs one thread of a plain launch.
///
/// # Safety
/// The parameters are those of this launch, which the host has put together.
#[inline(always)]
pub unsafe fn run_kernel<K: Kernel>(parameters: Parameters<K>) {
    let own = Own::default();
    let Parameters { context, kernel } = parameters;
    start(&context);
    kernel.run(Cuda::new(context.fault, &own, ()), place(&context));
}

/// Runs one thread of a cooperative launch.
///
/// # Safety
/// As [`run_kernel`].
#[inline(always)]
pub unsafe fn run_grid_kernel<K: GridKernel>(parameters: Parameters<K>) {
    let own = Own::default();
    let Parameters { context, kernel } = parameters;
    start(&context);
    kernel.run(Cuda::new(context.fault, &own, context.grid), place(&context));
}

/// The kernel's shared memory behind the scratch of the collectives, as the host has counted it.
#[inline(always)]
fn place<S: SharedLayout>(context: &Context) -> S {
    let reserved = reserved_shared(super::intrinsics::threads() as usize, WARP);
    S::place(&mut SharedCursor::new(reserved, context.dynamic_len))
}

/// Puts the fault where a panic, which is told nothing, finds it. All threads store the same, so each finds at least its own.
#[inline(always)]
fn start(context: &Context) {
    // SAFETY: a word of shared memory that nothing else uses.
    unsafe { asm!("st.shared.b64 [gridwise_fault], {0};", in(reg64) context.fault, options(nostack, preserves_flags)) };
}

/// What [`start`] stored.
pub(super) fn fault() -> *mut Fault {
    let fault: *mut Fault;
    // SAFETY: as in `start`.
    unsafe {
        asm!("ld.shared.b64 {0}, [gridwise_fault];", out(reg64) fault, options(readonly, nostack, preserves_flags))
    };
    fault
}
