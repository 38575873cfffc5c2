//! What each thread of a launch tells the others about itself: on its own cache lines, written only when it starts, leaves or
//! has waited long.

use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicU64, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release},
};

use crate::{
    host::report::{ThreadReport, ThreadState},
    kernel::hardware::{WaitFor, WaitSite},
    sync::{Mutex, lock},
};

const RUNNING: u8 = 0;
const WAITING: u8 = 1;
const LEFT_BLOCK: u8 = 2;
const DONE: u8 = 3;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Seat {
    state: AtomicU8,
    /// Changes of state: tells a thread that moved and came back from one that stayed.
    moves: AtomicU64,
    /// The newest probe after which this thread found its condition false.
    confirmed: AtomicU64,
    /// The block it runs, or ran last.
    block: AtomicUsize,
    /// Grid barriers it has entered.
    rounds: AtomicU64,
    odd_reductions: AtomicBool,
    site: Mutex<Option<WaitSite>>,
}

impl Seat {
    pub(super) fn reset(&mut self) {
        *self.state.get_mut() = RUNNING;
        *self.moves.get_mut() = 0;
        *self.confirmed.get_mut() = 0;
        *self.rounds.get_mut() = 0;
        *self.odd_reductions.get_mut() = false;
    }

    pub(super) fn start_block(&self, block: usize) {
        self.block.store(block, Relaxed);
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

    fn turn(&self, state: u8) {
        self.moves.store(self.moves.load(Relaxed) + 1, Relaxed);
        self.state.store(state, Release);
    }

    pub(super) fn wait(&self, site: WaitSite) {
        *lock(&self.site) = Some(site);
        self.turn(if site.what == WaitFor::BlockEnd {
            LEFT_BLOCK
        } else {
            WAITING
        });
    }

    pub(super) fn resume(&self) {
        self.turn(RUNNING);
    }

    /// It has run all its blocks.
    pub(super) fn done(&self) {
        self.turn(DONE);
    }

    /// It looked again after `probe` was sent, and its condition was false.
    pub(super) fn confirm(&self, probe: u64) {
        self.confirmed.store(probe, Release);
    }

    /// `None` if it runs; else how often it has moved so far.
    pub(super) fn stuck(&self) -> Option<u64> {
        // State before moves: a `turn` in between makes the two snapshots of a detector differ.
        (self.state.load(Acquire) != RUNNING).then(|| self.moves.load(Acquire))
    }

    /// Whether it is out of the launch for good, or has found its condition false since `probe`.
    pub(super) fn has_confirmed(&self, probe: u64) -> bool {
        self.state.load(Acquire) == DONE || self.confirmed.load(Acquire) >= probe
    }

    pub(super) fn report(&self, thread: usize) -> ThreadReport {
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
        ThreadReport::new(self.block.load(Relaxed), thread, state, self.rounds.load(Relaxed))
    }
}
