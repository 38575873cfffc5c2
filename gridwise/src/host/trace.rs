//! What the threads of a CPU device did, and where they waited.
//!
//! A [`Tracer`] records the launches of the devices that are [opened with it](super::device::Device::open_traced). Other devices
//! record nothing, and pay nothing for it.

use std::{
    panic::Location,
    thread::{self, ThreadId},
    time::{Duration, Instant},
};

pub use crate::kernel::hardware::WaitFor;
use crate::sync::{Arc, Mutex, lock};

#[cfg(all(test, not(loom)))]
mod test;

/// Records launches. Clones record into the same trace.
#[derive(Clone, Debug)]
pub struct Tracer {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    start: Instant,
    most_events: usize,
    recorded: Mutex<Recorded>,
}

#[derive(Debug, Default)]
struct Recorded {
    trace: Trace,
    events: usize,
    /// By the number that they have in the trace.
    host_threads: Vec<ThreadId>,
}

/// What was recorded. Times count from when the tracer was made.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Trace {
    /// The launches, in the order of their ends.
    pub launches: Vec<LaunchTrace>,
    /// Events that there was no room for: launches and spans. Once a launch has none left, later ones have none either.
    pub dropped: usize,
}

/// A launch.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LaunchTrace {
    /// The kernel.
    pub kernel: &'static str,
    /// Which thread of the host asked for it, from 0 in the order of their first launches. Launches of one do not overlap.
    pub host_thread: usize,
    /// Blocks in the grid.
    pub blocks: usize,
    /// Threads in each block.
    pub threads_per_block: usize,
    /// When it was asked for.
    pub start: Duration,
    /// When it had ended.
    pub end: Duration,
    /// The threads that ran its blocks: place after place, all threads of one together.
    pub threads: Vec<ThreadTrace>,
}

/// A thread of a launch, in which it runs a block, or several after each other.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ThreadTrace {
    /// Which of the blocks that run together it belongs to: block after block in a grid with more blocks, else the block's index.
    pub place: usize,
    /// Its index in the block.
    pub thread: usize,
    /// What it did, in the order of their starts.
    pub spans: Vec<TraceSpan>,
    /// Spans that came after these, and that there was no room for.
    pub dropped: usize,
}

/// A stretch of time in the life of a thread.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct TraceSpan {
    /// What the thread did.
    pub activity: Activity,
    /// When it began.
    pub start: Duration,
    /// When it ended.
    pub end: Duration,
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Activity {
    /// It runs the block of that index. Where it waits meanwhile, further spans say so; the rest is work.
    Block(usize),
    /// It waits. Whoever arrives at a barrier when nobody is missing any more does so for no time at all.
    Wait {
        /// What for.
        what: WaitFor,
        /// Where in the kernel.
        location: &'static Location<'static>,
    },
}

impl Tracer {
    /// Keeps the first `most_events` launches and spans; an event takes about 50 bytes.
    pub fn new(most_events: usize) -> Self {
        Self {
            shared: Arc::new(Shared {
                start: Instant::now(),
                most_events,
                recorded: Mutex::default(),
            }),
        }
    }

    /// What was recorded so far. Launches that have yet to end are not in it.
    pub fn trace(&self) -> Trace {
        lock(&self.shared.recorded).trace.clone()
    }

    pub(crate) fn now(&self) -> Duration {
        self.shared.start.elapsed()
    }

    /// Events that there is room for.
    pub(crate) fn room(&self) -> usize {
        self.shared.most_events - lock(&self.shared.recorded).events.min(self.shared.most_events)
    }

    /// Adds a launch of the calling thread.
    pub(crate) fn add(&self, mut launch: LaunchTrace) {
        let host_thread = thread::current().id();
        let mut recorded = lock(&self.shared.recorded);
        let dropped: usize = launch.threads.iter().map(|thread| thread.dropped).sum();
        let spans: usize = launch.threads.iter().map(|thread| thread.spans.len()).sum();
        recorded.trace.dropped += dropped;
        // Another launch may have filled the rest meanwhile.
        if recorded.events + 1 + spans > self.shared.most_events {
            recorded.trace.dropped += 1 + spans;
            recorded.events = self.shared.most_events;
            return;
        }
        recorded.events += 1 + spans;
        let known = recorded.host_threads.iter().position(|id| *id == host_thread);
        launch.host_thread = known.unwrap_or_else(|| {
            recorded.host_threads.push(host_thread);
            recorded.host_threads.len() - 1
        });
        recorded.trace.launches.push(launch);
    }
}
