//! Streams: work in order, done by a thread of the stream's own.
//!
//! Work is numbered from one. A point in a stream is a number: it is reached when as many pieces are done. The thread ends with the stream.

use crate::driver::{Context, lock};
use crate::error::{Answer, Error};
use crate::graph::Capture;
use crate::work::Work;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, Weak};

/// Does not wait for the legacy stream, nor that one for it.
pub(crate) const NON_BLOCKING: u32 = 1;

/// A stream.
pub(crate) struct Stream {
    pub(crate) context: Weak<Context>,
    pub(crate) flags: u32,
    pub(crate) priority: i32,
    state: Mutex<State>,
    changed: Condvar,
    capture: Mutex<Option<Arc<Capture>>>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Work>,
    given: u64,
    done: u64,
    running: bool,
    ended: bool,
}

impl Stream {
    pub(crate) fn new(context: Weak<Context>, flags: u32, priority: i32) -> Arc<Stream> {
        Arc::new(Stream {
            context,
            flags,
            priority,
            state: Mutex::default(),
            changed: Condvar::new(),
            capture: Mutex::default(),
        })
    }

    /// Puts work behind what is there; its point.
    pub(crate) fn push(self: &Arc<Stream>, work: Work) -> u64 {
        let mut state = lock(&self.state);
        state.queue.push_back(work);
        state.given += 1;
        let point = state.given;
        // The thread exists only while there is work: a program has many streams that it uses once.
        if !state.running {
            state.running = true;
            let stream = Arc::clone(self);
            std::thread::Builder::new()
                .name("ptx-sim stream".into())
                .spawn(move || stream.serve())
                .ok();
        }
        drop(state);
        self.changed.notify_all();
        point
    }

    fn serve(&self) {
        loop {
            let mut state = lock(&self.state);
            let Some(work) = state.queue.pop_front() else {
                state.running = false;
                return;
            };
            drop(state);
            if let Some(context) = self.context.upgrade() {
                work.perform(&context);
            }
            // The work, and what it holds, ends before anybody hears that it is done.
            drop(work);
            lock(&self.state).done += 1;
            self.changed.notify_all();
        }
    }

    /// The point behind everything given so far.
    pub(crate) fn point(&self) -> u64 {
        lock(&self.state).given
    }

    /// Whether a point is reached.
    pub(crate) fn done(&self, point: u64) -> bool {
        lock(&self.state).done >= point
    }

    /// Waits until a point is reached.
    pub(crate) fn wait_for(&self, point: u64) {
        let state = lock(&self.state);
        drop(self.changed.wait_while(state, |state| state.done < point));
    }

    /// Waits for everything given so far.
    pub(crate) fn wait(&self) {
        self.wait_for(self.point());
    }

    pub(crate) fn end(&self) {
        lock(&self.state).ended = true;
    }

    /// The capture that takes this stream's work, if any.
    pub(crate) fn capture(&self) -> Option<Arc<Capture>> {
        lock(&self.capture).clone()
    }

    pub(crate) fn set_capture(&self, capture: Option<Arc<Capture>>) {
        *lock(&self.capture) = capture;
    }

    pub(crate) fn is_blocking(&self) -> bool {
        self.flags & NON_BLOCKING == 0
    }
}

/// Gives work to a stream, in the order that the legacy stream imposes; or to its capture. The point behind it.
pub(crate) fn submit(context: &Context, stream: &Arc<Stream>, work: Work) -> Result<u64, Error> {
    if let Some(capture) = stream.capture() {
        capture.add(work)?;
        return Ok(0);
    }
    order(context, stream)?;
    Ok(stream.push(work))
}

/// The legacy stream and the blocking ones wait for each other.
pub(crate) fn order(context: &Context, stream: &Arc<Stream>) -> Answer {
    let legacy = &context.legacy;
    let wait = |other: &Arc<Stream>| {
        let point = other.point();
        if !other.done(point) {
            stream.push(Work::Wait(Arc::clone(other), point));
        }
    };
    if Arc::ptr_eq(stream, legacy) {
        let others: Vec<Arc<Stream>> = lock(&context.streams)
            .iter()
            .filter(|s| s.is_blocking() && !Arc::ptr_eq(s, legacy))
            .cloned()
            .collect();
        if let Some(capture) = others.iter().find_map(|s| s.capture()) {
            capture.invalidate();
            return Err(Error::STREAM_CAPTURE_IMPLICIT);
        }
        others.iter().for_each(wait);
    } else if stream.is_blocking() {
        wait(legacy);
    }
    Ok(())
}
