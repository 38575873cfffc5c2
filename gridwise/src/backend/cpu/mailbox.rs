//! How a job reaches a worker and how its end reaches the leader: one word a worker. The protocol is in `README.md`.

use std::{cell::UnsafeCell, mem::MaybeUninit, sync::atomic::Ordering, time::Duration};

use super::patience::{Patience, Sleep};
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Padded, fence, lock, thread};

/// No job.
const EMPTY: usize = 0;
/// No more jobs.
const QUIT: usize = 1;

/// What a worker is to run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    /// # Safety
    /// To be called with the job's own `data` and `rank`, once.
    pub(super) run: unsafe fn(data: *const (), rank: usize),
    /// Not null, and aligned to at least 2.
    pub(super) data: *const (),
    pub(super) rank: usize,
}

/// Bytes of a task that travel with the job: with the rest of the slip they fill four lines.
const INLINE_BYTES: usize = 256 - 3 * size_of::<usize>();

/// A job, and its task if that is small: a worker that sees the job has fetched the task with it, or has it on the next lines.
#[derive(Debug)]
#[repr(C)]
struct Slip {
    /// [`EMPTY`], [`QUIT`], or the job's data: written last.
    data: AtomicUsize,
    run: AtomicUsize,
    rank: AtomicUsize,
    task: UnsafeCell<[MaybeUninit<u8>; INLINE_BYTES]>,
}

// SAFETY: the leader writes the task while the worker has no job, and the worker reads it while it has one; `data` says whose turn
// it is.
unsafe impl Sync for Slip {}

/// One side's sleep: who sleeps raises the flag and looks again, who changes what is waited for looks at the flag after.
#[derive(Debug)]
struct Bed {
    /// The sleeper sleeps, or is about to.
    taken: AtomicBool,
    sleeper: Mutex<Option<thread::Thread>>,
}

impl Bed {
    fn new() -> Self {
        Self {
            taken: AtomicBool::new(false),
            sleeper: Mutex::new(None),
        }
    }

    /// Sleeps until `ready` gives something. `park` sleeps; it may return for no reason.
    fn sleep_until<T>(&self, ready: impl Fn() -> Option<T>, mut park: impl FnMut()) -> T {
        *lock(&self.sleeper) = Some(thread::current());
        self.taken.store(true, Ordering::Relaxed);
        // Either the look below sees the change, or `wake` sees the flag.
        fence(Ordering::SeqCst);
        let found = loop {
            match ready() {
                Some(found) => break found,
                None => park(),
            }
        };
        self.taken.store(false, Ordering::Relaxed);
        found
    }

    /// Wakes the sleeper, if there is one: to be called after the change that it waits for, which is a sequentially consistent
    /// store. So is the look at the flag: with the fence in `sleep_until` that is as good as a fence between the two, and quicker.
    #[inline]
    fn wake(&self) {
        // Loom takes such accesses for release and acquire.
        #[cfg(loom)]
        fence(Ordering::SeqCst);
        if self.taken.load(Ordering::SeqCst) {
            self.unpark();
        }
    }

    #[cold]
    fn unpark(&self) {
        if let Some(sleeper) = &*lock(&self.sleeper) {
            sleeper.unpark();
        }
    }
}

/// One worker's mailbox. The leader of a launch posts, the worker takes and finishes, the leader waits for the end.
#[derive(Debug)]
pub(super) struct Mailbox {
    slip: Padded<Slip>,
    worker: Bed,
    leader: Bed,
}

impl Mailbox {
    pub(super) fn new() -> Self {
        Self {
            slip: Padded(Slip {
                data: AtomicUsize::new(EMPTY),
                run: AtomicUsize::new(0),
                rank: AtomicUsize::new(0),
                task: UnsafeCell::new([MaybeUninit::uninit(); INLINE_BYTES]),
            }),
            worker: Bed::new(),
            leader: Bed::new(),
        }
    }

    /// Leader: hands over a task to the worker, which has none: `run` is called with the task, or a bitwise copy of it, and
    /// `rank`. What the leader wrote before is visible to the worker.
    ///
    /// # Safety
    /// `run` may be called so, on another thread. The task stays where it is until the worker has finished, and is such that
    /// a copy will do.
    pub(super) unsafe fn post<T>(&self, run: unsafe fn(task: *const (), rank: usize), task: &T, rank: usize) {
        let slip = &self.slip.0;
        let mut data = std::ptr::from_ref(task).cast::<()>();
        if size_of::<T>() <= INLINE_BYTES && align_of::<T>() <= align_of::<usize>() {
            let inline = slip.task.get().cast::<T>();
            // SAFETY: it fits, and the worker has no job, so it does not read.
            unsafe { inline.copy_from_nonoverlapping(task, 1) };
            data = inline.cast_const().cast();
        }
        slip.run
            .store((run as *const ()).expose_provenance(), Ordering::Relaxed);
        slip.rank.store(rank, Ordering::Relaxed);
        self.publish(data.expose_provenance());
    }

    /// Leader: the worker, which has no job, is to end.
    pub(super) fn post_quit(&self) {
        self.publish(QUIT);
    }

    fn publish(&self, data: usize) {
        self.slip.0.data.store(data, Ordering::SeqCst);
        self.worker.wake();
    }

    fn data(&self) -> Option<usize> {
        Some(self.slip.0.data.load(Ordering::Acquire)).filter(|&data| data != EMPTY)
    }

    fn done(&self) -> Option<()> {
        self.data().is_none().then_some(())
    }

    /// Worker: waits for a job. `None` to quit.
    pub(super) fn take(&self, patience: Patience) -> Option<Job> {
        let look = || {
            // The second line of the slip comes along with the first, instead of after it.
            prefetch(self.slip.0.task.get().cast::<u8>().wrapping_add(64));
            self.data()
        };
        let data = patience
            .look(look)
            .unwrap_or_else(|| self.worker.sleep_until(|| self.data(), thread::park));
        if data == QUIT {
            return None;
        }
        let run = std::ptr::with_exposed_provenance::<()>(self.slip.0.run.load(Ordering::Relaxed));
        // SAFETY: `post` stored it from a function pointer of this type, before it published the data.
        let run = unsafe { std::mem::transmute::<*const (), unsafe fn(*const (), usize)>(run) };
        let data = std::ptr::with_exposed_provenance(data);
        Some(Job {
            run,
            data,
            rank: self.slip.0.rank.load(Ordering::Relaxed),
        })
    }

    /// Worker: the job is done. What the worker wrote before is visible to the leader. The job is not touched after this.
    pub(super) fn finish(&self) {
        self.slip.0.data.store(EMPTY, Ordering::SeqCst);
        self.leader.wake();
    }

    /// Leader: waits until the worker has finished: looks, yields, and sleeps when `sleep` says. From then on it calls `idle` now and
    /// then, which returns how long to sleep at most.
    pub(super) fn wait(&self, looks: u32, sleep: Sleep, mut idle: impl FnMut() -> Duration) {
        let patience = Patience {
            looks,
            yielding: sleep.yielding(),
            ends: true,
        };
        while patience.look(|| self.done()).is_none() {
            if sleep.comes() {
                return self.leader.sleep_until(|| self.done(), || park_timeout(idle()));
            }
            idle();
        }
    }
}

/// Asks for the line at `address`; nothing is read. A hint, where there is one.
#[inline(always)]
fn prefetch(address: *const u8) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch touches nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

#[cfg(not(loom))]
fn park_timeout(timeout: Duration) {
    thread::park_timeout(timeout);
}

/// Without the timeout: the model has to show that no wake-up is lost.
#[cfg(loom)]
fn park_timeout(_: Duration) {
    thread::park();
}

#[cfg(all(test, loom))]
mod test_loom {
    use super::*;
    use crate::sync::{Arc, explore};

    const HASTY: Patience = Patience {
        looks: 0,
        yielding: Duration::ZERO,
        ends: true,
    };

    /// Two jobs in a row, both sides going to sleep at once: every job arrives, every end is noticed, memory follows.
    #[test]
    fn loom_no_wake_up_is_lost_between_leader_and_worker() {
        unsafe fn nothing(_: *const (), _: usize) {}

        explore(3, || {
            let mailbox = Arc::new(Mailbox::new());
            let data = Arc::new(loom::cell::UnsafeCell::new(0_u32));
            // Not joined: loom takes a late wake-up of a thread that joins for the end of what it joins. It waits for all
            // threads at the end of the model anyway.
            loom::thread::spawn({
                let (mailbox, data) = (mailbox.clone(), data.clone());
                move || {
                    for expected in [1, 2] {
                        assert_eq!(mailbox.take(HASTY).map(|job| job.rank), Some(expected));
                        // SAFETY: the mailbox hands the data back and forth.
                        data.with_mut(|value| unsafe { *value += 1 });
                        mailbox.finish();
                    }
                }
            });
            for job in [1, 2] {
                // SAFETY: what is run does nothing, and a number may be copied.
                unsafe { mailbox.post(nothing, &job, job) };
                mailbox.wait(0, Sleep::Soon, || Duration::MAX);
                // SAFETY: the mailbox hands the data back and forth.
                data.with(|value| assert_eq!(unsafe { *value }, job as u32));
            }
        });
    }
}
