//! One launch under way: its signals, long waits, failures, and the proof of a deadlock. The protocol is in `README.md`.

use std::{
    any::Any,
    panic::resume_unwind,
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use super::{
    patience::{Patience, Sleep},
    seat::Seat,
    trace::Tracks,
};
#[cfg(loom)]
use crate::sync::thread;
use crate::{
    backend::nesting::Outer,
    host::{
        error::{discard, panic_message},
        launch::LaunchError,
        report::{HangReport, ThreadReport},
    },
    kernel::hardware::WaitSite,
    sync::{AtomicU8, AtomicU64, AtomicUsize, Condvar, Mutex, Padded, fence, lock},
};

#[cfg(all(test, loom))]
mod test_loom;

/// Why a launch ended early; the first one counts.
#[derive(Debug)]
pub(super) enum Failure {
    Panicked {
        block: usize,
        thread: usize,
        message: String,
    },
    TimedOut {
        after: Duration,
        report: HangReport,
    },
    Deadlock {
        report: HangReport,
    },
}

impl Failure {
    pub(super) fn into_error(self, kernel: &'static str) -> LaunchError {
        match self {
            Self::Panicked { block, thread, message } => LaunchError::Panicked {
                kernel,
                block,
                thread,
                message,
            },
            Self::TimedOut { after, report } => LaunchError::TimedOut { kernel, after, report },
            Self::Deadlock { report } => LaunchError::Deadlock { kernel, report },
        }
    }
}

/// The payload with which a thread leaves a launch that failed elsewhere.
struct Aborted;

/// Longest sleep between two looks.
const LONGEST_SLEEP: Duration = Duration::from_millis(16);
/// First sleep; doubles up to [`LONGEST_SLEEP`].
const FIRST_SLEEP: Duration = Duration::from_millis(1);

/// See the module. What is written once, before the launch: every worker gets a copy with its job, because each line that it
/// has to fetch delays the launch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight<'a> {
    /// Looks with a pause between, before a waiting thread yields. None in a launch that is traced: it notes first that it waits.
    pub(super) looks: u16,
    /// Looks of a brief wait, which is not noted.
    pub(super) brief_looks: u16,
    /// When a waiting thread sleeps.
    sleep: Sleep,
    /// Whether the launch is traced.
    traced: bool,
    /// Whether who asked for it is inside other launches.
    nested: bool,
    /// Of the device's launches.
    pub(super) number: u64,
    seats: &'a [Padded<Seat>],
    pub(super) threads: usize,
    pub(super) blocks: usize,
    rest: &'a Rest,
}

/// What every thread reads again and again, and hardly anybody writes.
#[derive(Debug, Default)]
struct Signals {
    /// Whether there is something to do at a barrier beside meeting the others: [`ABORTED`], [`TRACED`].
    attention: AtomicU8,
    sleepers: AtomicUsize,
}

/// The launch has failed, and its threads are to leave.
const ABORTED: u8 = 1;
/// Somebody wants to know when threads arrive at barriers.
const TRACED: u8 = 2;

/// What the threads of a launch write to each other: kept from launch to launch, so that nobody has to fetch what has not
/// changed, which is all of it if nothing takes long.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// Down between launches: what a launch that failed leaves behind is not used again.
    signals: Padded<Signals>,
    /// The next block that nobody has begun, where there are more blocks than teams.
    next_block: Padded<AtomicUsize>,
    /// When the launch began and how long it may take, if there is a limit.
    limit: Option<(Instant, Duration)>,
    /// The launches that who asked for it is inside of.
    outer: Outer,
    /// Where it is traced, if it is.
    tracks: Option<Box<Tracks>>,
    /// Raised at each wake-up: a sleeper that sees it unchanged has missed nothing.
    ticket: Mutex<u64>,
    woken: Condvar,
    probe: AtomicU64,
    failure: Mutex<Option<Failure>>,
}

impl Rest {
    /// For a launch that begins with a block for each of that many teams.
    #[inline]
    pub(super) fn prepare(&mut self, teams: usize, timeout: Option<Duration>) {
        self.outer = Outer::of_this_thread();
        self.next_block.0.store(teams, Ordering::Relaxed);
        self.limit = timeout.map(|timeout| (Instant::now(), timeout));
    }

    /// Has the launch traced, which has been prepared and not begun.
    #[cold]
    pub(super) fn trace(&mut self, tracks: Tracks) {
        self.signals.0.attention.store(TRACED, Ordering::Relaxed);
        self.tracks = Some(Box::new(tracks));
    }

    /// What was traced of a launch that has ended.
    #[cold]
    pub(super) fn traced(&mut self) -> Option<Tracks> {
        self.tracks.take().map(|tracks| *tracks)
    }
}

impl<'a> Flight<'a> {
    /// `rest` has been prepared.
    #[inline]
    pub(super) fn new(
        seats: &'a [Padded<Seat>],
        rest: &'a Rest,
        number: u64,
        (blocks, threads): (usize, usize),
        looks: u32,
        sleep: Sleep,
    ) -> Self {
        let traced = rest.tracks.is_some();
        let looks = looks.min(u32::from(u16::MAX)) as u16;
        Self {
            looks: if traced { 0 } else { looks },
            brief_looks: looks,
            sleep,
            traced,
            nested: rest.outer.is_some(),
            number,
            seats,
            threads,
            blocks,
            rest,
        }
    }

    #[inline]
    pub(super) fn seat(&self, rank: usize) -> &'a Seat {
        &self.seats[rank].0
    }

    /// The launches that who asked for this one is inside of, and waits in.
    #[inline]
    pub(super) fn outer(&self) -> Option<Outer> {
        self.nested.then_some(self.rest.outer)
    }

    /// The thread has run all its blocks. Whoever waits for it should know soon that it will not come.
    #[inline]
    pub(super) fn done(&self, rank: usize) {
        self.seat(rank).done();
        // Loom takes a sequentially consistent store for a release.
        #[cfg(loom)]
        fence(Ordering::SeqCst);
        self.stored();
    }

    /// The next block for a team that has finished one. Between blocks is where a launch without barriers can be given up.
    pub(super) fn claim_block(&self) -> usize {
        self.fail_if_late();
        self.rest.next_block.0.fetch_add(1, Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn is_aborted(&self) -> bool {
        self.rest.signals.0.attention.load(Ordering::Relaxed) & ABORTED != 0
    }

    /// Leaves the kernel if the launch has failed elsewhere. `site`: the barrier that the thread of that seat has arrived at, if any.
    #[inline(always)]
    pub(super) fn check(&self, seat: &Seat, site: Option<WaitSite>) {
        if self.rest.signals.0.attention.load(Ordering::Relaxed) != 0 {
            self.attend(seat, site);
        }
    }

    #[cold]
    #[inline(never)]
    fn attend(&self, seat: &Seat, site: Option<WaitSite>) {
        if let (Some(tracks), Some(site)) = (&self.rest.tracks, site) {
            tracks.arrive(self.rank(seat), site);
        }
        if self.is_aborted() {
            self.leave()
        }
    }

    /// Where the launch is traced, if it is.
    #[inline(always)]
    pub(super) fn tracks(&self) -> Option<&Tracks> {
        if self.traced { self.rest.tracks.as_deref() } else { None }
    }

    /// Whose seat it is.
    pub(super) fn rank(&self, seat: &Seat) -> usize {
        let offset = std::ptr::from_ref(seat).addr() - self.seats.as_ptr().addr();
        offset / size_of::<Padded<Seat>>()
    }

    #[cold]
    #[inline(never)]
    fn leave(&self) -> ! {
        resume_unwind(Box::new(Aborted))
    }

    /// Ends the launch: the first failure is the one reported, and everybody who waits leaves.
    pub(super) fn abort(&self, failure: Failure) {
        lock(&self.rest.failure).get_or_insert(failure);
        self.rest.signals.0.attention.fetch_or(ABORTED, Ordering::SeqCst);
        self.wake();
    }

    /// What a thread's unwinding means: its own panic, or that it left.
    pub(super) fn caught(&self, payload: Box<dyn Any + Send>, block: usize, thread: usize) {
        // What a thread has left another launch with may be kept, and thrown anew.
        if !(payload.is::<Aborted>() && self.is_aborted()) {
            self.abort(Failure::Panicked {
                block,
                thread,
                message: panic_message(&*payload),
            });
        }
        // A worker must live on.
        discard(payload);
    }

    /// How the launch failed, if it did.
    #[inline]
    pub(super) fn failure(&self) -> Option<Failure> {
        if self.is_aborted() {
            lock(&self.rest.failure).take()
        } else {
            None
        }
    }

    /// To be called after every atomic store to memory that somebody may wait on. A sequentially consistent store wakes for
    /// certain whoever sleeps until it; a relaxed one may be overlooked until the next look, [`LONGEST_SLEEP`] later at most.
    #[inline(always)]
    pub(super) fn stored(&self) {
        if self.rest.signals.0.sleepers.load(Ordering::SeqCst) != 0 {
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        *lock(&self.rest.ticket) += 1;
        self.rest.woken.notify_all();
    }

    /// The end of a long wait: yields, then sleeps if that is how the device waits, until `ready` gives something, or the launch
    /// fails.
    #[cold]
    #[inline(never)]
    pub(super) fn wait<T>(&self, seat: &Seat, site: WaitSite, mut ready: impl FnMut() -> Option<T>) -> T {
        let _waiting = self.tracks().map(|tracks| Waiting {
            tracks,
            rank: self.rank(seat),
            site,
            since: tracks.now(),
        });
        if let Some(found) = self.yielding(&mut ready, || false) {
            return found;
        }
        let _asleep = Asleep::new(seat, site, self.sleep.comes(), &self.rest.signals.0.sleepers);
        let mut detector = Detector::default();
        let mut pause = FIRST_SLEEP;
        loop {
            let ticket = *lock(&self.rest.ticket);
            let probe = self.rest.probe.load(Ordering::Acquire);
            if let Some(found) = ready() {
                return found;
            }
            seat.confirm(probe);
            // So that of two threads that confirm at once, one sees both.
            fence(Ordering::SeqCst);
            if self.is_aborted() {
                self.leave();
            }
            self.fail_if_late();
            if detector.proves_deadlock(self) {
                self.abort(Failure::Deadlock { report: self.report() });
                self.leave();
            }
            if !self.sleep.comes() {
                // Awake, it needs nobody to wake it, only to look at once when there is another probe.
                if let Some(found) = self.yielding(&mut ready, || self.rest.probe.load(Ordering::Relaxed) != probe) {
                    return found;
                }
                continue;
            }
            let unchanged = lock(&self.rest.ticket);
            if *unchanged == ticket {
                let woken = self.rest.woken.wait_timeout(unchanged, pause);
                drop(woken.unwrap_or_else(|poisoned| poisoned.into_inner()));
                pause = (2 * pause).min(LONGEST_SLEEP);
            }
        }
    }

    /// Yields until `ready` gives something: then that. `None` after a while, or when it is `enough`. Leaves a launch that fails.
    fn yielding<T>(&self, ready: &mut impl FnMut() -> Option<T>, enough: impl Fn() -> bool) -> Option<T> {
        // Without time to wait, as in a model, others need the core all the same.
        #[cfg(loom)]
        thread::yield_now();
        let patience = Patience {
            looks: self.tracks().map_or(0, |tracks| tracks.looks),
            yielding: self.sleep.yielding(),
            ends: true,
        };
        let look = || {
            if self.is_aborted() {
                self.leave();
            }
            ready().map(Some).or_else(|| enough().then_some(None))
        };
        patience.look(look).flatten()
    }

    /// Ends the launch if it has run longer than it may. Returns how long until it should be asked again.
    pub(super) fn fail_if_late(&self) -> Duration {
        let Some((start, timeout)) = self.rest.limit else {
            return Duration::from_secs(60);
        };
        let left = timeout.saturating_sub(start.elapsed());
        if left.is_zero() && !self.is_aborted() {
            self.abort(Failure::TimedOut {
                after: timeout,
                report: self.report(),
            });
        }
        left.max(FIRST_SLEEP)
    }

    fn report(&self) -> HangReport {
        let threads: Vec<ThreadReport> = self
            .seats
            .iter()
            .enumerate()
            .filter_map(|(rank, seat)| seat.0.report(self.number, rank % self.threads))
            .collect();
        let begun = self.rest.next_block.0.load(Ordering::Relaxed).min(self.blocks);
        HangReport::new(threads, self.blocks, self.threads, self.blocks - begun)
    }
}

/// A thread of a launch that is traced, from when it does not find what it waits for until it does, or leaves.
struct Waiting<'a> {
    tracks: &'a Tracks,
    rank: usize,
    site: WaitSite,
    since: Duration,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.tracks.waited(self.rank, self.site, self.since);
    }
}

/// A thread in the last stage of waiting, asleep or not. `ready` is the kernel's own code: it may panic, and a thread that unwinds runs.
struct Asleep<'a> {
    seat: &'a Seat,
    sleepers: &'a AtomicUsize,
    /// What it counts for among them: nothing if it stays awake.
    count: usize,
}

impl<'a> Asleep<'a> {
    fn new(seat: &'a Seat, site: WaitSite, rests: bool, sleepers: &'a AtomicUsize) -> Self {
        seat.wait(site);
        let count = usize::from(rests);
        // Also shows this thread's state to those who come here later: the last one sees all others waiting.
        sleepers.fetch_add(count, Ordering::SeqCst);
        // With the order of stores before `Flight::stored`: either the look after this sees the store, or `stored` sees the
        // sleeper.
        fence(Ordering::SeqCst);
        Self { seat, sleepers, count }
    }
}

impl Drop for Asleep<'_> {
    fn drop(&mut self) {
        self.seat.resume();
        self.sleepers.fetch_sub(self.count, Ordering::SeqCst);
    }
}

/// Proves that nobody will ever move again: everybody was seen waiting, then looked once more and found the condition false,
/// and nobody moved in between. The argument is in `README.md`.
#[derive(Debug, Default)]
struct Detector {
    /// The probe that was sent, and how often each thread had moved before.
    sent: Option<(u64, Vec<u64>)>,
}

impl Detector {
    fn proves_deadlock(&mut self, flight: &Flight<'_>) -> bool {
        // Confirmations before the second snapshot: a thread that moved after it may confirm, too.
        let confirmed = |probe| flight.seats.iter().all(|seat| seat.0.has_confirmed(probe));
        let confirmed = self.sent.as_ref().is_some_and(|(probe, _)| confirmed(*probe));
        let Some(moves) = flight
            .seats
            .iter()
            .map(|seat| seat.0.stuck(flight.number))
            .collect::<Option<Vec<_>>>()
        else {
            self.sent = None;
            return false;
        };
        match &self.sent {
            Some((_, before)) if *before == moves => confirmed,
            _ => {
                let probe = flight.rest.probe.fetch_add(1, Ordering::AcqRel) + 1;
                self.sent = Some((probe, moves));
                // So that the others look at once.
                flight.wake();
                false
            }
        }
    }
}
