//! Events: marks on queues that other queues and the host wait for.

use super::{
    circle::{Awaited, Failing, Waiting},
    error::Error,
    lane::Lane,
};
use crate::sync::{Arc, Condvar, Mutex, lock};

/// A mark on a queue. Clones are the same event.
///
/// Recording it puts the mark behind the work that is on the queue; that recording is complete once the work is done. It can be
/// recorded again, on any queue, whether or not earlier recordings are complete. A wait takes the latest recording before it,
/// and ends when that one is complete, whatever becomes of others: so waiting can never wait for something that is only
/// recorded later, nor end early because a later recording on a faster queue is complete. An event that was never recorded is
/// complete.
///
/// ```
/// # use gridwise::prelude::*;
/// let device = Device::open("cpu:blocks=1")?;
/// let (filling, reading) = (device.queue(), device.queue());
/// let buffer = std::sync::Mutex::new(device.zeroed::<i32>(3)?);
/// let filled = Event::new();
/// let elements = filling.scope(|scope| {
///     let _ = scope.enqueue(|queue| Ok(queue.fill(buffer.lock().unwrap().span_mut(), 7)));
///     scope.record(&filled);
///     reading.wait_for(&filled);
///     reading.download(&buffer.lock().unwrap())
/// })??;
/// assert_eq!(elements, [7; 3]);
/// # Ok::<(), gridwise::Error>(())
/// ```
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
    /// The number of the latest recording, counted from 1.
    latest: u64,
    /// The recordings that are not complete: few, because each stands on a queue.
    pending: Vec<(u64, Arc<Lane>)>,
}

impl State {
    /// The lane on which a recording that is not complete stands.
    fn lane_of(&self, recording: u64) -> Option<&Arc<Lane>> {
        let mut pending = self.pending.iter();
        pending.find_map(|(number, lane)| (*number == recording).then_some(lane))
    }
}

impl Event {
    /// An event that is complete until it is recorded.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the latest recording is complete. Earlier ones, on slower queues, need not be.
    pub fn is_complete(&self) -> bool {
        let state = lock(&self.inner.state);
        state.lane_of(state.latest).is_none()
    }

    /// Waits until the recording that is the latest now is complete.
    ///
    /// # Memory ordering
    /// What the recorded work did is visible after.
    ///
    /// # Panics
    /// In work on a queue, if the recording stands behind that very work, if by way of other queues, so that the wait would never
    /// end; and in a kernel of the queue's device, if the recording is not complete.
    #[track_caller]
    pub fn wait(&self) {
        if let Err(error) = self.wait_for(self.latest(), None) {
            panic!("{error}")
        }
    }

    pub(super) fn latest(&self) -> u64 {
        lock(&self.inner.state).latest
    }

    /// Records it behind work that is done.
    pub(super) fn record_complete(&self) {
        lock(&self.inner.state).latest += 1;
    }

    /// Records it on a lane, where `enqueue` puts what completes the recording. Nobody sees the one without the other: a wait
    /// for a recording that is not on its lane yet could get there first.
    pub(super) fn record(&self, lane: &Arc<Lane>, enqueue: impl FnOnce(u64)) {
        let mut state = lock(&self.inner.state);
        state.latest += 1;
        let recording = state.latest;
        state.pending.push((recording, lane.clone()));
        enqueue(recording);
    }

    pub(super) fn complete(&self, recording: u64) {
        lock(&self.inner.state)
            .pending
            .retain(|(number, _)| *number != recording);
        self.inner.completed.notify_all();
    }

    /// Waits for a recording, as part of the work on the lane `on`, if there is one.
    pub(super) fn wait_for(&self, recording: u64, on: Option<&Arc<Lane>>) -> Result<(), Error> {
        let lane = lock(&self.inner.state).lane_of(recording).cloned();
        let lane = match lane {
            None => return Ok(()),
            // Work on one lane is in order anyhow: here the wait came first, because two threads asked at once.
            Some(lane) if on.is_some_and(|on| Arc::ptr_eq(on, &lane)) => return Ok(()),
            Some(lane) if lane.waits_for_this_thread() => return Err(Error::WaitsForItself),
            Some(lane) => lane,
        };
        let inner = self.inner.clone();
        let waiting = Waiting::new(&lane, Failing::Can, Recording { inner, recording });
        let mut state = lock(&self.inner.state);
        while state.lane_of(recording).is_some() {
            if waiting.gives_up() {
                return Err(Error::WaitsForItself);
            }
            state = self
                .inner
                .completed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        Ok(())
    }
}

/// A recording that somebody waits for.
struct Recording {
    inner: Arc<Inner>,
    recording: u64,
}

impl Awaited for Recording {
    fn has_come(&self) -> bool {
        lock(&self.inner.state).lane_of(self.recording).is_none()
    }

    fn wake(&self) {
        drop(lock(&self.inner.state));
        self.inner.completed.notify_all();
    }
}
