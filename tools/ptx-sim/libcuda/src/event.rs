//! Events: points in a stream, and when they were reached.

use crate::driver::lock;
use crate::graph::Capture;
use crate::stream::Stream;
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// The point of the last record.
#[derive(Clone)]
pub(crate) struct Point {
    pub(crate) stream: Arc<Stream>,
    /// Reached when so much of the stream is done.
    pub(crate) after: u64,
}

/// An event.
pub(crate) struct Event {
    pub(crate) timing: bool,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    point: Option<Point>,
    captured: Option<Arc<Capture>>,
    /// The number of the last record, and of the last that was asked for.
    record: u64,
    reserved: u64,
    /// The record that was reached last, and when.
    reached: Option<(u64, Instant)>,
}

impl Event {
    pub(crate) fn new(timing: bool) -> Arc<Event> {
        Arc::new(Event {
            timing,
            state: Mutex::default(),
        })
    }

    /// The number of a new record: taken before its work is given to a stream, which may do it at once.
    pub(crate) fn reserve(&self) -> u64 {
        let mut state = lock(&self.state);
        state.reserved += 1;
        state.reserved
    }

    /// It is recorded: here.
    pub(crate) fn record(&self, record: u64, point: Point) {
        let mut state = lock(&self.state);
        state.record = record;
        state.point = Some(point);
        state.captured = None;
    }

    /// Recorded in a stream that is captured: it has no time.
    pub(crate) fn record_captured(&self, capture: Arc<Capture>) {
        let record = self.reserve();
        let mut state = lock(&self.state);
        state.record = record;
        state.point = None;
        state.captured = Some(capture);
    }

    /// A record was reached: now.
    pub(crate) fn reached(&self, record: u64) {
        lock(&self.state).reached = Some((record, Instant::now()));
    }

    /// When its last record was reached.
    pub(crate) fn time(&self) -> Option<Instant> {
        let state = lock(&self.state);
        state
            .reached
            .filter(|reached| reached.0 == state.record)
            .map(|reached| reached.1)
    }

    pub(crate) fn point(&self) -> Option<Point> {
        lock(&self.state).point.clone()
    }

    pub(crate) fn captured(&self) -> Option<Arc<Capture>> {
        lock(&self.state).captured.clone()
    }

    /// Whether everything before its last record is done.
    pub(crate) fn done(&self) -> bool {
        self.point().is_none_or(|point| point.stream.done(point.after))
    }
}
