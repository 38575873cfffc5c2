//! Events: marks on queues that other queues and the host wait for.

use crate::sync::{Arc, Condvar, Mutex, lock};

/// A mark on a queue. Clones are the same event.
///
/// Recording it puts the mark behind the work that is on the queue; it is complete once that work is done. A wait takes the
/// latest recording before it, so waiting can never wait for something that is only recorded later. An event that was never
/// recorded is complete. It can be recorded again.
#[derive(Clone, Debug, Default)]
pub struct Event {
    inner: Arc<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    state: Mutex<State>,
    completed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    recorded: u64,
    completed: u64,
}

impl Event {
    /// An event that is complete until it is recorded.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the latest recording is complete.
    pub fn is_complete(&self) -> bool {
        let state = lock(&self.inner.state);
        state.completed >= state.recorded
    }

    /// Waits until the latest recording is complete.
    ///
    /// # Memory ordering
    /// What the recorded work did is visible after.
    pub fn wait(&self) {
        self.wait_for(self.latest());
    }

    pub(crate) fn latest(&self) -> u64 {
        lock(&self.inner.state).recorded
    }

    pub(crate) fn record(&self) -> u64 {
        let mut state = lock(&self.inner.state);
        state.recorded += 1;
        state.recorded
    }

    pub(crate) fn complete(&self, recording: u64) {
        let mut state = lock(&self.inner.state);
        // Recordings on different queues may complete out of order; the event follows the latest.
        state.completed = state.completed.max(recording);
        drop(state);
        self.inner.completed.notify_all();
    }

    pub(crate) fn wait_for(&self, recording: u64) {
        let mut state = lock(&self.inner.state);
        while state.completed < recording {
            state = self
                .inner
                .completed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}
