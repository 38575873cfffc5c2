//! Circles of waits: threads and queues that wait for each other, found when the last wait closes the circle.
//!
//! A thread that waits for something on a lane waits for whoever has the turn there, as nothing else happens on the lane before that
//! ends. If that thread waits itself, it does so for whoever has the turn on its lane, and so on: where the way comes back to a wait
//! that it has passed, none of them ends by itself, and one has to give up.
//!
//! No time is involved, and nobody is told so wrongly. All waits of the program are entered here, under one lock, and a way is walked
//! under that lock: who is entered and is not past its wait stays where it is, and keeps its turns. A circle is never closed by who
//! takes a turn, because that thread goes on; so it is enough to look when a wait begins.

use std::sync::{
    Mutex, PoisonError,
    atomic::{AtomicBool, Ordering::Relaxed},
};

use super::lane::{Lane, mark_of_this_thread};
use crate::sync::Arc;

/// The waits under way. Not a lock of `sync.rs`: loom's cannot be static.
static WAITS: Mutex<Vec<Arc<Wait>>> = Mutex::new(Vec::new());

/// A wait that would never end, because what it waits for waits for this thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circle;

/// What a thread waits for.
pub(super) trait Awaited: Send + Sync {
    /// Whether it has come, and the thread only has yet to notice. Of a turn that is known without asking: its thread has it then.
    fn has_come(&self) -> bool {
        false
    }

    /// Lets the thread look whether it has to give up.
    fn wake(&self);
}

/// Whether a wait can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Failing {
    /// It can.
    Can,
    /// A piece of work that waits for its turn: it can, and does where no wait in the circle can.
    Piece,
    /// The end of a scope cannot: what was enqueued borrows from it.
    Cannot,
}

struct Wait {
    thread: usize,
    lane: Arc<Lane>,
    awaited: Box<dyn Awaited>,
    failing: Failing,
    gives_up: AtomicBool,
}

/// A wait of this thread, until it is dropped. To be made and dropped without a lock that `awaited` takes.
pub(super) struct Waiting(Arc<Wait>);

impl Waiting {
    /// This thread begins to wait for something on a lane.
    pub(super) fn new(lane: &Arc<Lane>, failing: Failing, awaited: impl Awaited + 'static) -> Self {
        let wait = Arc::new(Wait {
            thread: mark_of_this_thread(),
            lane: lane.clone(),
            awaited: Box::new(awaited),
            failing,
            gives_up: AtomicBool::new(false),
        });
        // Loom's threads would change while one has this lock; its models have one lane, and so no circle.
        if cfg!(loom) {
            return Self(wait);
        }
        let mut waits = WAITS.lock().unwrap_or_else(PoisonError::into_inner);
        waits.push(wait.clone());
        if let Some(chosen) = who_gives_up(&waits, &wait) {
            chosen.gives_up.store(true, Relaxed);
            chosen.awaited.wake();
        }
        Self(wait)
    }

    /// Whether this is the wait that has to give up.
    pub(super) fn gives_up(&self) -> bool {
        self.0.gives_up.load(Relaxed)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut waits = WAITS.lock().unwrap_or_else(PoisonError::into_inner);
        waits.retain(|wait| !Arc::ptr_eq(wait, &self.0));
    }
}

/// The wait that has to give up now that `newest` has begun, if there is a circle, and none in it gives up already.
fn who_gives_up<'a>(waits: &'a [Arc<Wait>], newest: &'a Arc<Wait>) -> Option<&'a Arc<Wait>> {
    let mut way = vec![newest];
    let circle = loop {
        let holder = way.last()?.lane.holder();
        let next = waits.iter().find(|wait| wait.thread == holder)?;
        if next.awaited.has_come() {
            return None;
        }
        match way.iter().position(|wait| Arc::ptr_eq(wait, next)) {
            Some(start) => break way.split_off(start),
            None => way.push(next),
        }
    };
    if circle.iter().any(|wait| wait.gives_up.load(Relaxed)) {
        return None;
    }
    // The newest comes first, if it is in the circle and not only on the way to it.
    let can = circle.iter().copied().find(|wait| wait.failing == Failing::Can);
    can.or_else(|| {
        let is_in = |lane| circle.iter().any(|wait| Arc::ptr_eq(&wait.lane, lane));
        waits
            .iter()
            .find(|wait| wait.failing == Failing::Piece && is_in(&wait.lane))
    })
}
