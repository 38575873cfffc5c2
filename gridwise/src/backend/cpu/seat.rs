//! What each thread of a launch tells the others about itself: on its own cache lines, written only when it starts, leaves or
//! has waited long.

use std::sync::atomic::Ordering::{self, Acquire, Relaxed, Release, SeqCst};

use crate::{
    host::report::{ThreadReport, ThreadState},
    kernel::hardware::{WaitFor, WaitSite},
    sync::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Mutex, lock},
};

const RUNNING: u8 = 0;
const WAITING: u8 = 1;
const LEFT_BLOCK: u8 = 2;
const DONE: u8 = 3;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Seat {
    /// The launch that the rest is about: a seat keeps what an earlier launch left until its thread starts.
    launch: AtomicU64,
    state: AtomicU8,
    /// Changes of state, over all launches: tells a thread that moved and came back from one that stayed.
    moves: AtomicU64,
    /// The newest probe after which this thread found its condition false.
    confirmed: AtomicU64,
    /// The block it runs, or ran last.
    block: AtomicUsize,
    /// Grid barriers it has entered.
    rounds: AtomicU64,
    /// Block barriers it has entered, in all launches.
    block_rounds: AtomicU64,
    /// Pieces of work between which it has looked up, in all launches.
    pieces: AtomicU64,
    odd_reductions: AtomicBool,
    site: Mutex<Option<WaitSite>>,
}

impl Seat {
    /// The thread of this seat begins its part in launch `number`.
    #[inline]
    pub(super) fn start(&self, number: u64) {
        self.rounds.store(0, Relaxed);
        self.odd_reductions.store(false, Relaxed);
        self.confirmed.store(0, Relaxed);
        self.state.store(RUNNING, Relaxed);
        // Released last: whoever sees the number sees the rest.
        self.launch.store(number, Release);
    }

    #[inline]
    pub(super) fn start_block(&self, block: usize) {
        self.block.store(block, Relaxed);
    }

    /// Counts a block barrier, and returns how many there were.
    #[inline(always)]
    pub(super) fn enter_block_barrier(&self) -> u64 {
        let rounds = self.block_rounds.load(Relaxed) + 1;
        self.block_rounds.store(rounds, Relaxed);
        rounds
    }

    /// Counts a piece of work, and returns how many there were.
    #[inline(always)]
    pub(super) fn check_in(&self) -> u64 {
        let pieces = self.pieces.load(Relaxed) + 1;
        self.pieces.store(pieces, Relaxed);
        pieces
    }

    /// Counts a grid barrier, and returns how many there were.
    #[inline(always)]
    pub(super) fn enter_grid_barrier(&self) -> u64 {
        let rounds = self.rounds.load(Relaxed) + 1;
        self.rounds.store(rounds, Relaxed);
        rounds
    }

    pub(super) fn reduction_parity(&self) -> bool {
        let parity = self.odd_reductions.load(Relaxed);
        self.odd_reductions.store(!parity, Relaxed);
        parity
    }

    #[inline]
    fn turn(&self, state: u8, order: Ordering) {
        self.moves.store(self.moves.load(Relaxed) + 1, Relaxed);
        self.state.store(state, order);
    }

    pub(super) fn wait(&self, site: WaitSite) {
        *lock(&self.site) = Some(site);
        let state = if site.what == WaitFor::BlockEnd {
            LEFT_BLOCK
        } else {
            WAITING
        };
        self.turn(state, Release);
    }

    pub(super) fn resume(&self) {
        self.turn(RUNNING, Release);
    }

    /// It has run all its blocks. Sequentially consistent: before the look at the sleepers that follows.
    #[inline]
    pub(super) fn done(&self) {
        self.turn(DONE, SeqCst);
    }

    /// It looked again after `probe` was sent, and its condition was false.
    pub(super) fn confirm(&self, probe: u64) {
        self.confirmed.store(probe, Release);
    }

    /// `None` if it runs, or has yet to start in launch `number`; else how often it has moved so far.
    pub(super) fn stuck(&self, number: u64) -> Option<u64> {
        (self.launch.load(Acquire) == number && self.state.load(Acquire) != RUNNING).then(|| self.moves.load(Acquire))
    }

    /// Whether it is out of the launch for good, or has found its condition false since `probe`.
    pub(super) fn has_confirmed(&self, probe: u64) -> bool {
        self.state.load(Acquire) == DONE || self.confirmed.load(Acquire) >= probe
    }

    /// `None` if it has yet to start in launch `number`.
    pub(super) fn report(&self, number: u64, thread: usize) -> Option<ThreadReport> {
        if self.launch.load(Acquire) != number {
            return None;
        }
        let state = match self.state.load(Acquire) {
            WAITING => match *lock(&self.site) {
                Some(site) => ThreadState::Waiting {
                    what: site.what,
                    location: site.location,
                },
                None => ThreadState::Running,
            },
            LEFT_BLOCK | DONE => ThreadState::Left,
            _ => ThreadState::Running,
        };
        Some(ThreadReport::new(
            self.block.load(Relaxed),
            thread,
            state,
            self.rounds.load(Relaxed),
        ))
    }
}
