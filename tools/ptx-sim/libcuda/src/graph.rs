//! Graphs, made by capturing a stream. Nodes run in the order in which they were captured, which every order that the graph allows includes.

use crate::driver::lock;
use crate::error::{Answer, Error};
use crate::stream::Stream;
use crate::work::Work;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::ThreadId;

/// What is captured so far. Streams that wait for an event of it take part.
pub(crate) struct Capture {
    pub(crate) id: u64,
    /// 0: nobody may do what could break it; 1: this thread may not; 2: anybody may.
    pub(crate) mode: u32,
    pub(crate) thread: ThreadId,
    /// Where it began, and must end.
    pub(crate) origin: Weak<Stream>,
    nodes: Mutex<Vec<Work>>,
    invalid: AtomicBool,
    members: Mutex<Vec<Arc<Stream>>>,
}

impl Capture {
    pub(crate) fn begin(stream: &Arc<Stream>, mode: u32) -> Arc<Capture> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Capture {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            mode,
            thread: std::thread::current().id(),
            origin: Arc::downgrade(stream),
            nodes: Mutex::default(),
            invalid: AtomicBool::new(false),
            members: Mutex::default(),
        })
    }

    pub(crate) fn add(&self, work: Work) -> Answer {
        if !self.is_valid() {
            return Err(Error::STREAM_CAPTURE_INVALIDATED);
        }
        lock(&self.nodes).push(work);
        Ok(())
    }

    /// A stream joins.
    pub(crate) fn join(self: &Arc<Capture>, stream: &Arc<Stream>) {
        lock(&self.members).push(Arc::clone(stream));
        stream.set_capture(Some(Arc::clone(self)));
    }

    pub(crate) fn invalidate(&self) {
        self.invalid.store(true, Ordering::SeqCst);
    }

    pub(crate) fn is_valid(&self) -> bool {
        !self.invalid.load(Ordering::SeqCst)
    }

    pub(crate) fn is_origin(&self, stream: &Arc<Stream>) -> bool {
        self.origin.upgrade().is_some_and(|origin| Arc::ptr_eq(&origin, stream))
    }

    /// All streams leave; what was captured, unless it was spoilt.
    pub(crate) fn end(&self) -> Result<Vec<Work>, Error> {
        for stream in lock(&self.members).drain(..) {
            stream.set_capture(None);
        }
        if self.is_valid() {
            Ok(std::mem::take(&mut *lock(&self.nodes)))
        } else {
            Err(Error::STREAM_CAPTURE_INVALIDATED)
        }
    }
}

/// A graph.
pub(crate) struct Graph {
    pub(crate) nodes: Vec<Work>,
    /// Handles of its nodes: numbers behind this one.
    pub(crate) first_node: u64,
}

impl Graph {
    pub(crate) fn new(nodes: Vec<Work>) -> Arc<Graph> {
        static NEXT: AtomicU64 = AtomicU64::new(1 << 32);
        let first_node = NEXT.fetch_add(nodes.len() as u64 * 16 + 16, Ordering::Relaxed);
        Arc::new(Graph { nodes, first_node })
    }
}

/// A graph that can be launched.
pub(crate) struct Executable {
    pub(crate) nodes: Vec<Work>,
}
