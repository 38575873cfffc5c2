//! Lanes: what keeps a queue's work in order.

use std::{cell::RefCell, marker::PhantomData};

use crate::sync::{Arc, Condvar, Mutex, lock};

/// The order of a queue's work: its blocking calls and the pieces of its scopes take turns.
///
/// Work may use its own queue. What it asks for there is part of its turn, and in order on a lane inside this one.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// The lane that this one is inside of: it is used by work that has a turn there.
    outer: Option<Arc<Lane>>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// Whether somebody has the turn.
    taken: bool,
    /// Pieces that are enqueued and not finished.
    pending: usize,
    /// Threads that wait for a change.
    waiting: usize,
}

thread_local! {
    /// The lanes whose turns this thread has, each with those that it is inside of.
    static TURNS: RefCell<Vec<*const Lane>> = const { RefCell::new(Vec::new()) };
}

impl Lane {
    /// A lane for what work in a turn of `outer` asks of its own queue.
    pub(super) fn inside(outer: Arc<Self>) -> Self {
        Self {
            outer: Some(outer),
            ..Self::default()
        }
    }

    /// Takes a turn after the pieces that are pending.
    pub(super) fn turn(&self) -> Turn<'_> {
        self.turn_when(|state| state.pending == 0)
    }

    /// Takes the turn of a piece, which is one of those pending.
    pub(super) fn turn_of_piece(&self) -> Turn<'_> {
        self.turn_when(|_| true)
    }

    fn turn_when(&self, ready: impl Fn(&State) -> bool) -> Turn<'_> {
        let mut state = lock(&self.state);
        while state.taken || !ready(&state) {
            state.waiting += 1;
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
            state.waiting -= 1;
        }
        state.taken = true;
        drop(state);
        let outer_turns = TURNS.with_borrow_mut(|turns| {
            let before = turns.len();
            turns.extend(self.and_outer().map(std::ptr::from_ref));
            before
        });
        Turn {
            lane: self,
            outer_turns,
            _of_this_thread: PhantomData,
        }
    }

    /// This lane, the one it is inside of, and so on.
    fn and_outer(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |lane| lane.outer.as_deref())
    }

    /// Whether this thread is inside the lane's work: work behind it begins only when this thread is done.
    pub(super) fn has_turn(&self) -> bool {
        TURNS.with_borrow(|turns| turns.contains(&std::ptr::from_ref(self)))
    }

    /// Whether nothing runs or is enqueued. A lane inside another is used by work that runs.
    pub(super) fn is_idle(&self) -> bool {
        let state = lock(&self.state);
        self.outer.is_none() && !state.taken && state.pending == 0
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        let mut state = lock(&self.state);
        change(&mut state);
        let waiting = state.waiting > 0;
        drop(state);
        if waiting {
            self.changed.notify_all();
        }
    }
}

/// A turn on a lane, until it is dropped; also while unwinding.
pub(super) struct Turn<'a> {
    lane: &'a Lane,
    /// How many lanes of this thread's turns were noted before.
    outer_turns: usize,
    _of_this_thread: PhantomData<*const Lane>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // Turns of a thread end in the reverse of their order.
        TURNS.with_borrow_mut(|turns| turns.truncate(self.outer_turns));
        self.lane.change(|state| state.taken = false);
    }
}

/// A piece that is enqueued, until it is dropped, whether it ran or not.
#[derive(Debug)]
pub(super) struct Pending(Arc<Lane>);

impl Pending {
    pub(super) fn new(lane: Arc<Lane>) -> Self {
        lane.change(|state| state.pending += 1);
        Self(lane)
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.0.change(|state| state.pending -= 1);
    }
}
