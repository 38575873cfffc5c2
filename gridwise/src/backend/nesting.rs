//! Which launches a thread is inside of: kernels of the host may use the host side, where a device must know its own.

use std::{
    cell::Cell,
    ptr,
    sync::atomic::{AtomicU64, Ordering},
};

/// A device whose kernels run on threads of the host, told apart from all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Number {
    number: u64,
    checks: bool,
}

impl Number {
    /// One that no device has yet. `checks`: for a checking device.
    pub(crate) fn new(checks: bool) -> Self {
        // It orders nothing, so there is nothing for loom to explore.
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self { number, checks }
    }
}

/// A launch on the stack of the thread that runs it. A kernel may launch on another device, so there may be several.
struct Frame {
    device: Number,
    outer: *const Frame,
}

thread_local! {
    static INNERMOST: Cell<*const Frame> = const { Cell::new(ptr::null()) };
}

/// Goes back to a frame, also while unwinding: nobody may find one that is gone.
struct Leave(*const Frame);

impl Drop for Leave {
    fn drop(&mut self) {
        INNERMOST.set(self.0);
    }
}

/// Runs `work` as a part of a launch of `device`.
#[inline]
pub(crate) fn inside<R>(device: Number, work: impl FnOnce() -> R) -> R {
    let frame = Frame {
        device,
        outer: INNERMOST.get(),
    };
    let _leave = Leave(frame.outer);
    INNERMOST.set(&frame);
    work()
}

/// The launches that a thread is inside of, as another thread is told that does a part of its work.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outer(*const Frame);

// SAFETY: frames are not changed once they are made, so any thread may read them.
unsafe impl Send for Outer {}
// SAFETY: as above.
unsafe impl Sync for Outer {}

impl Default for Outer {
    /// None.
    fn default() -> Self {
        Self(ptr::null())
    }
}

impl Outer {
    /// Those of the calling thread.
    #[inline]
    pub(crate) fn of_this_thread() -> Self {
        Self(INNERMOST.get())
    }

    /// Whether there are any.
    #[inline]
    pub(crate) fn is_some(self) -> bool {
        !self.0.is_null()
    }

    /// Runs `work`, which is a part of the launch that the calling thread is inside of, as a part of these, too.
    ///
    /// # Safety
    /// They do not end before `work` does.
    #[cold]
    pub(crate) unsafe fn inside<R>(self, work: impl FnOnce() -> R) -> R {
        let Some(device) = frames().next() else {
            unreachable!("the calling thread is inside of a launch")
        };
        let _back = Leave(INNERMOST.replace(self.0));
        inside(device, work)
    }
}

/// Whether the calling thread is inside a launch of `device`, perhaps by way of others.
#[inline]
pub(crate) fn is_inside(device: Number) -> bool {
    frames().any(|of| of == device)
}

/// Whether the calling thread runs a kernel on a checking device.
pub(crate) fn is_checked() -> bool {
    frames().next().is_some_and(|innermost| innermost.checks)
}

/// The devices of the launches that the calling thread is inside of, from the innermost on.
fn frames() -> impl Iterator<Item = Number> {
    let mut at = INNERMOST.get();
    std::iter::from_fn(move || {
        // SAFETY: null, or a frame on this thread's stack, whose call has not ended; or on the stack of one that waits for this.
        let frame = unsafe { at.as_ref() }?;
        at = frame.outer;
        Some(frame.device)
    })
}
