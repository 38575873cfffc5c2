//! The quickest launch by hand: workers that spin for ever, and a caller that takes part.

use super::barrier::{Pause, Relax};
use crate::affinity;
use crossbeam_utils::CachePadded;
use std::cell::UnsafeCell;
use std::process::abort;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};

type Job = &'static (dyn Fn(usize) + Sync);

/// The epoch that ends the workers.
const STOP: u64 = u64::MAX;

/// Epoch and job on one line: a worker that sees the epoch has the job.
struct Call {
    epoch: AtomicU64,
    job: UnsafeCell<Option<Job>>,
}

struct Shared {
    call: CachePadded<Call>,
    /// For each worker the last epoch it finished.
    finished: Box<[CachePadded<AtomicU64>]>,
}

// SAFETY: `job` is the only part that is not Sync. The caller writes it while every worker waits for the next epoch, and its release store of the epoch
// publishes it; workers read it after their acquire load of that epoch and before their release store to `finished`, which the caller awaits.
unsafe impl Sync for Shared {}

/// Pinned workers that spin between launches. Costs whole cores: drop it when nothing is to be launched.
pub struct SpinningPool {
    shared: Arc<Shared>,
    epoch: u64,
    workers: Vec<JoinHandle<()>>,
}

/// A panic inside a launch would free what others still use.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        if thread::panicking() {
            abort();
        }
    }
}

impl SpinningPool {
    /// `threads` threads, one of them the caller, which is pinned as well.
    ///
    /// # Panics
    ///
    /// If `threads` is 0.
    pub fn new(threads: usize) -> Self {
        assert!(threads > 0, "a pool has at least one thread");
        let finished = (1..threads).map(|_| CachePadded::default()).collect();
        let call = CachePadded::new(Call {
            epoch: AtomicU64::new(0),
            job: UnsafeCell::new(None),
        });
        let shared = Arc::new(Shared { call, finished });
        let spawn = |rank| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || work(&shared, rank))
        };
        let workers = (1..threads).map(spawn).collect();
        affinity::pin(0);
        Self {
            shared,
            epoch: 0,
            workers,
        }
    }

    /// Runs `job(rank)` on every thread and returns when all have finished. Aborts the process if `job` panics.
    ///
    /// Memory ordering: what the caller did before happens before every `job`, and every `job` before the return.
    pub fn launch(&mut self, job: &(dyn Fn(usize) + Sync)) {
        let guard = AbortOnUnwind;
        // SAFETY: only the lifetime changes; the reference is dropped by every worker before this function returns, and it does not unwind.
        let erased = unsafe { std::mem::transmute::<&(dyn Fn(usize) + Sync), Job>(job) };
        let call = &self.shared.call;
        // SAFETY: every worker has finished the last epoch and touches `job` again only after the store below.
        unsafe { *call.job.get() = Some(erased) };
        self.epoch += 1;
        call.epoch.store(self.epoch, Ordering::Release);
        job(0);
        for finished in &self.shared.finished {
            while finished.load(Ordering::Acquire) != self.epoch {
                Pause::relax();
            }
        }
        drop(guard);
    }
}

fn work(shared: &Shared, rank: usize) {
    let _guard = AbortOnUnwind;
    affinity::pin(rank);
    let mut seen = 0;
    loop {
        let epoch = shared.call.epoch.load(Ordering::Acquire);
        if epoch == seen {
            Pause::relax();
            continue;
        }
        if epoch == STOP {
            return;
        }
        // SAFETY: the caller wrote it before the epoch that was just seen, and waits for `finished` before it writes again.
        let job = unsafe { *shared.call.job.get() };
        if let Some(job) = job {
            job(rank);
        }
        seen = epoch;
        shared.finished[rank - 1].store(epoch, Ordering::Release);
    }
}

impl Drop for SpinningPool {
    fn drop(&mut self) {
        self.shared.call.epoch.store(STOP, Ordering::Release);
        for worker in self.workers.drain(..) {
            let _ = worker.join();
        }
    }
}
