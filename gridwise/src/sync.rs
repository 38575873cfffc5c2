//! The one place that atomics, locks and threads come from: std, or loom when a protocol is explored.
//!
//! `Arc` is std's in both: counting references is no part of our protocols, and loom's cannot hold a trait object.

pub(crate) use std::sync::Arc;

#[cfg(loom)]
use loom::cell::UnsafeCell;
#[cfg(not(loom))]
use std::cell::UnsafeCell;

#[cfg(loom)]
pub(crate) use loom::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, fence},
    },
    thread,
};

#[cfg(not(loom))]
pub(crate) use std::{
    hint,
    sync::{
        Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, fence},
    },
};

#[cfg(not(any(loom, test)))]
pub(crate) use std::thread;

/// As std's, and counts how often the calling thread has offered its core to others.
#[cfg(all(test, not(loom)))]
pub(crate) mod thread {
    use std::cell::Cell;
    pub(crate) use std::thread::*;

    thread_local! {
        static YIELDS: Cell<u64> = const { Cell::new(0) };
    }

    pub(crate) fn yield_now() {
        YIELDS.set(yields() + 1);
        std::thread::yield_now();
    }

    pub(crate) fn yields() -> u64 {
        YIELDS.get()
    }
}

/// Locks; a poisoned lock is taken all the same, because what these locks guard is valid between any two statements.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A value alone on its pair of cache lines, so that writers of different values do not disturb each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Padded<T>(pub(crate) T);

/// A value that a protocol hands on from thread to thread, so that one at a time may use it. Loom reports uses that conflict.
#[derive(Debug)]
pub(crate) struct HandedOn<T>(UnsafeCell<T>);

// SAFETY: one thread at a time uses it, by the contract of `with`, which is as if the value were sent to each.
unsafe impl<T: Send> Sync for HandedOn<T> {}

impl<T> HandedOn<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(UnsafeCell::new(value))
    }

    /// # Safety
    /// Nobody else uses it meanwhile, and what they did before happens before.
    #[inline(always)]
    pub(crate) unsafe fn with<R>(&self, use_it: impl FnOnce(&mut T) -> R) -> R {
        let use_it = |value: *mut T| {
            // SAFETY: by the caller.
            use_it(unsafe { &mut *value })
        };
        #[cfg(loom)]
        return self.0.with_mut(use_it);
        #[cfg(not(loom))]
        use_it(self.0.get())
    }
}

/// Explores a model with loom: all interleavings with at most `preemptions` forced switches, or as many as
/// `LOOM_MAX_PREEMPTIONS` says. Bugs in protocols of this size need one or two; without a bound the models take hours.
#[cfg(all(test, loom))]
pub(crate) fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.max_branches = 20_000;
    builder.check(model);
}
