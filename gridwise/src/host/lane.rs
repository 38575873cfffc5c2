//! Lanes: what keeps a queue's work in order.

use std::{
    marker::PhantomData,
    sync::{
        OnceLock,
        atomic::Ordering::{Acquire, Relaxed, Release},
    },
};

use super::circle::{Awaited, Circle, Failing, Waiting};
use crate::{
    backend::nesting::{self, Number},
    sync::{Arc, AtomicU64, AtomicUsize, Condvar, Mutex, lock},
};

/// The order of a queue's work: its blocking calls and the pieces of its scopes take turns.
///
/// Work may use its own queue. What it asks for there is part of its turn, and in order on a lane inside this one.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// [`TAKEN`], [`WAITING`] and [`PENDING`] together: a turn that nobody else wants is taken and given back with an operation each.
    state: AtomicU64,
    /// The mark of the thread that has the turn, or 0: only the thread itself can find its own here.
    holder: AtomicUsize,
    /// Held by whoever waits, until it sleeps; and by whoever wakes it.
    asleep: Mutex<()>,
    changed: Condvar,
    /// The lane for what work in a turn of this one asks of its own queue.
    inner: OnceLock<Arc<Lane>>,
    is_inner: bool,
    /// The queue's device, if its kernels run on threads of the host.
    device: Option<Number>,
}

/// Somebody has the turn.
const TAKEN: u64 = 1;
/// One thread that waits for a change.
const WAITING: u64 = 2;
/// One piece that is enqueued and not finished.
const PENDING: u64 = 1 << 32;

impl Lane {
    /// Of a queue of that device.
    pub(super) fn of(device: Option<Number>) -> Self {
        Self {
            device,
            ..Self::default()
        }
    }

    /// The lane for what work in a turn of this one asks of its own queue.
    pub(super) fn inner(&self) -> &Arc<Self> {
        self.inner.get_or_init(|| {
            Arc::new(Self {
                is_inner: true,
                ..Self::of(self.device)
            })
        })
    }

    /// Takes a turn after the pieces that are pending.
    #[inline]
    pub(super) fn turn(self: &Arc<Self>) -> Result<Turn<'_>, Circle> {
        self.turn_when(|state| state < PENDING, Failing::Can)
    }

    /// Takes the turn of a piece, which is one of those pending.
    pub(super) fn turn_of_piece(self: &Arc<Self>) -> Result<Turn<'_>, Circle> {
        self.turn_when(|_| true, Failing::Piece)
    }

    #[inline]
    fn turn_when(self: &Arc<Self>, ready: impl Fn(u64) -> bool, failing: Failing) -> Result<Turn<'_>, Circle> {
        let take = || {
            let take = |state| (state & TAKEN == 0 && ready(state)).then_some(state | TAKEN);
            self.state.fetch_update(Acquire, Relaxed, take).is_ok()
        };
        if !take() {
            self.wait_until(take, failing)?;
        }
        self.holder.store(mark_of_this_thread(), Relaxed);
        Ok(Turn {
            lane: self,
            _of_this_thread: PhantomData,
        })
    }

    #[cold]
    fn wait_until(self: &Arc<Self>, take: impl Fn() -> bool, failing: Failing) -> Result<(), Circle> {
        let waiting = Waiting::new(self, failing, OfTurn(self.clone()));
        let mut asleep = lock(&self.asleep);
        // Before the look: whoever changes what it sees, finds somebody waiting, and cannot wake anybody before the sleep.
        self.state.fetch_add(WAITING, Relaxed);
        let mut end = Ok(());
        while !take() {
            if waiting.gives_up() {
                end = Err(Circle);
                break;
            }
            asleep = self
                .changed
                .wait(asleep)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        self.state.fetch_sub(WAITING, Relaxed);
        end
    }

    /// Takes something out of the state.
    #[inline]
    fn subtract(&self, what: u64) {
        let before = self.state.fetch_sub(what, Release);
        if before % PENDING >= WAITING {
            self.wake();
        }
    }

    #[cold]
    fn wake(&self) {
        drop(lock(&self.asleep));
        self.changed.notify_all();
    }

    /// The mark of the thread that has the turn, or 0.
    pub(super) fn holder(&self) -> usize {
        self.holder.load(Relaxed)
    }

    /// Whether this thread is inside the lane's work: work behind it begins only when this thread is done.
    #[inline]
    pub(super) fn has_turn(&self) -> bool {
        let mark = mark_of_this_thread();
        std::iter::successors(Some(self), |lane| lane.inner.get().map(Arc::as_ref))
            .any(|lane| lane.holder.load(Relaxed) == mark)
    }

    /// Whether what is on the lane and not done may wait for this thread to go on: the thread is inside the lane's work, or in a
    /// kernel of the device, which may be a part of that work on any thread, and keeps other launches out.
    pub(super) fn waits_for_this_thread(&self) -> bool {
        self.has_turn() || self.device.is_some_and(nesting::is_inside)
    }

    /// Whether nothing runs or is enqueued. A lane inside another is used by work that runs.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.state.load(Acquire);
        !self.is_inner && state & TAKEN == 0 && state < PENDING
    }
}

/// Not 0, and no other thread's as long as this one lives.
#[inline]
pub(super) fn mark_of_this_thread() -> usize {
    thread_local! {
        static MARK: u8 = const { 0 };
    }
    MARK.with(|mark| std::ptr::from_ref(mark).addr())
}

/// A turn that somebody waits for.
struct OfTurn(Arc<Lane>);

impl Awaited for OfTurn {
    fn wake(&self) {
        self.0.wake();
    }
}

/// A turn on a lane, until it is dropped; also while unwinding.
pub(super) struct Turn<'a> {
    lane: &'a Lane,
    _of_this_thread: PhantomData<*const Lane>,
}

impl Drop for Turn<'_> {
    #[inline]
    fn drop(&mut self) {
        self.lane.holder.store(0, Relaxed);
        self.lane.subtract(TAKEN);
    }
}

/// A piece that is enqueued, until it is dropped, whether it ran or not.
#[derive(Debug)]
pub(super) struct Pending(Arc<Lane>);

impl Pending {
    pub(super) fn new(lane: Arc<Lane>) -> Self {
        lane.state.fetch_add(PENDING, Relaxed);
        Self(lane)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.subtract(PENDING);
    }
}

#[cfg(all(test, loom))]
mod test_loom {
    use super::*;
    use crate::sync::{explore, thread};

    struct Work(loom::cell::UnsafeCell<u32>);
    // SAFETY: loom checks the accesses.
    unsafe impl Sync for Work {}
    // SAFETY: as above.
    unsafe impl Send for Work {}

    impl Work {
        /// Loom reports two turns at once as conflicting accesses.
        fn in_turn(&self, _turn: Turn<'_>) -> u32 {
            self.0.with_mut(|value| {
                // SAFETY: it is this thread's turn.
                let value = unsafe { &mut *value };
                *value += 1;
                *value
            })
        }
    }

    /// Loom reports a wake-up that is lost as a deadlock, as no sleep has a limit.
    #[test]
    fn loom_turns_exclude_each_other_and_nobody_waits_for_ever() {
        explore(3, || {
            let shared = Arc::new((Arc::new(Lane::default()), Work(loom::cell::UnsafeCell::new(0))));
            let others: Vec<_> = (0..2)
                .map(|_| {
                    let shared = shared.clone();
                    thread::spawn(move || {
                        shared.1.in_turn(shared.0.turn().unwrap());
                    })
                })
                .collect();
            shared.1.in_turn(shared.0.turn().unwrap());
            for other in others {
                other.join().unwrap();
            }
            assert_eq!(shared.1.in_turn(shared.0.turn().unwrap()), 4);
        });
    }

    #[test]
    fn loom_a_turn_comes_after_the_pieces_that_are_pending() {
        explore(3, || {
            let lane = Arc::new(Lane::default());
            let work = Arc::new(Work(loom::cell::UnsafeCell::new(0)));
            let pending = Pending::new(lane.clone());
            let piece = thread::spawn({
                let (lane, work) = (lane.clone(), work.clone());
                move || {
                    // Dropped after the turn, as a piece's is.
                    let _pending = pending;
                    assert_eq!(work.in_turn(lane.turn_of_piece().unwrap()), 1);
                }
            });
            assert_eq!(work.in_turn(lane.turn().unwrap()), 2);
            piece.join().unwrap();
        });
    }
}
