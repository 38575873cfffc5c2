//! Scopes: work on a queue while the host goes on.

use std::{
    marker::PhantomData,
    mem,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::mpsc,
};

use super::{
    error::{Error, panic_message},
    event::Event,
    queue::{Lane, Queue},
};
use crate::sync::{Arc, Condvar, Mutex, lock, thread};

/// A piece of work; what it returns tells its scope, once the queue has moved on.
type Piece = Box<dyn FnOnce(&Queue) -> End + Send>;

/// The end of a piece.
struct End {
    shared: Arc<Shared>,
    failed: bool,
}

/// The thread of a queue: runs the pieces of its scopes in order. It is started by the first scope and ends with the queue.
#[derive(Debug)]
pub(super) struct Dispatcher {
    /// Of the queue; or of its own, for the queue that a piece of work sees.
    lane: Arc<Lane>,
    // Dropped before the join, which ends the thread.
    pieces: Option<mpsc::Sender<Piece>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Dispatcher {
    fn start(queue: &Queue, lane: Arc<Lane>) -> std::io::Result<Self> {
        let (pieces, receiver) = mpsc::channel::<Piece>();
        let inline = Queue::inline(queue.device().clone(), queue.options());
        let thread = thread::Builder::new().name("gridwise-queue".to_owned()).spawn({
            let lane = lane.clone();
            move || {
                for piece in receiver {
                    let End { shared, failed } = lane.run_piece(|| piece(&inline));
                    // Only now: when a scope is over, its work is off the queue.
                    shared.finish_one(failed);
                }
            }
        })?;
        Ok(Self {
            lane,
            pieces: Some(pieces),
            thread: Some(thread),
        })
    }
}

impl Drop for Dispatcher {
    fn drop(&mut self) {
        self.pieces = None;
        if let Some(thread) = self.thread.take() {
            // Pieces catch their panics.
            let _ = thread.join();
        }
    }
}

/// Work on a queue while the host goes on, inside [`Queue::scope`].
///
/// Pieces run in order, each as one: what belongs together, because it shares a buffer that is written, is one closure.
#[derive(Debug)]
pub struct Scope<'scope, 'env: 'scope> {
    pieces: mpsc::Sender<Piece>,
    lane: Arc<Lane>,
    shared: Arc<Shared>,
    // Invariant in both, as for `std::thread::Scope`.
    _scope: PhantomData<&'scope mut &'scope ()>,
    _env: PhantomData<&'env mut &'env ()>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<ScopeState>,
    changed: Condvar,
}

#[derive(Default)]
struct ScopeState {
    unfinished: usize,
    failed: bool,
    /// Results that may hold an error nobody has taken, in order.
    results: Vec<Arc<dyn Unclaimed + Send + Sync>>,
}

impl std::fmt::Debug for ScopeState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ScopeState")
            .field("unfinished", &self.unfinished)
            .field("failed", &self.failed)
            .finish()
    }
}

trait Unclaimed {
    fn take_error(&self) -> Option<Error>;
}

struct Slot<T>(Mutex<Option<Result<T, Error>>>);

impl<T> Unclaimed for Slot<T> {
    fn take_error(&self) -> Option<Error> {
        let mut slot = lock(&self.0);
        match slot.take() {
            Some(Err(error)) => Some(error),
            other => {
                *slot = other;
                None
            }
        }
    }
}

/// The result of a piece of work.
#[must_use = "a failure that nobody takes is returned by the scope"]
pub struct Ticket<'scope, T> {
    slot: Arc<Slot<T>>,
    shared: Arc<Shared>,
    _scope: PhantomData<&'scope ()>,
}

impl<T> std::fmt::Debug for Ticket<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket").field("done", &self.is_done()).finish()
    }
}

impl<T> Ticket<'_, T> {
    /// Whether the piece is done.
    pub fn is_done(&self) -> bool {
        lock(&self.slot.0).is_some()
    }

    /// Waits for the piece and returns what it returned.
    ///
    /// # Errors
    /// The piece's own; or that it panicked, or was skipped after a failure before it.
    pub fn wait(self) -> Result<T, Error> {
        let mut state = lock(&self.shared.state);
        loop {
            if let Some(result) = lock(&self.slot.0).take() {
                return result;
            }
            state = self
                .shared
                .changed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }
}

impl<'scope> Scope<'scope, '_> {
    /// Enqueues a piece of work. It gets the queue, whose methods work as always; the host goes on at once.
    ///
    /// After a piece that failed, later pieces of the scope are skipped. A failure is returned by the ticket, or, if nobody
    /// takes it there, by the scope.
    pub fn enqueue<T, F>(&'scope self, work: F) -> Ticket<'scope, T>
    where
        F: FnOnce(&Queue) -> Result<T, Error> + Send + 'scope,
        T: Send + 'scope,
    {
        let slot = Arc::new(Slot(Mutex::new(None)));
        let shared = self.shared.clone();
        {
            let mut state = lock(&shared.state);
            state.unfinished += 1;
            let unclaimed: Arc<dyn Unclaimed + Send + Sync + 'scope> = slot.clone();
            // SAFETY: the scope's state is emptied before `'scope` ends, by `Shared::finish`. Only the lifetime
            // changes.
            let unclaimed = unsafe {
                mem::transmute::<Arc<dyn Unclaimed + Send + Sync + 'scope>, Arc<dyn Unclaimed + Send + Sync>>(unclaimed)
            };
            state.results.push(unclaimed);
        }
        let ticket = Ticket {
            slot: slot.clone(),
            shared: shared.clone(),
            _scope: PhantomData,
        };
        let piece = move |queue: &Queue| {
            let result = if lock(&shared.state).failed {
                // What it borrows has to be let go of before the scope can end.
                drop(work);
                Err(Error::Skipped)
            } else {
                catch_unwind(AssertUnwindSafe(|| work(queue))).unwrap_or_else(|payload| {
                    Err(Error::ClosurePanicked {
                        message: panic_message(&*payload),
                    })
                })
            };
            let failed = result.is_err();
            *lock(&slot.0) = Some(result);
            drop(slot);
            End { shared, failed }
        };
        self.send(Box::new(piece));
        ticket
    }

    /// Records an event behind the work enqueued so far: it is not complete until that is done.
    pub fn record(&'scope self, event: &Event) {
        let recording = event.record();
        let event = event.clone();
        self.always(move || event.complete(recording));
    }

    /// Lets the work enqueued after this wait for an event.
    pub fn wait_for(&'scope self, event: &Event) {
        let recording = event.latest();
        let event = event.clone();
        self.always(move || event.wait_for(recording));
    }

    /// Enqueues something that is not skipped after a failure, so that others do not wait for ever.
    fn always(&'scope self, action: impl FnOnce() + Send + 'static) {
        let shared = self.shared.clone();
        lock(&shared.state).unfinished += 1;
        self.send(Box::new(move |_: &Queue| {
            action();
            End { shared, failed: false }
        }));
    }

    fn send(&'scope self, piece: Box<dyn FnOnce(&Queue) -> End + Send + 'scope>) {
        // SAFETY: the piece is run, and let go of, before `'scope` ends, because `Shared::finish` waits for it. Only the
        // lifetime changes.
        let piece = unsafe { mem::transmute::<Box<dyn FnOnce(&Queue) -> End + Send + 'scope>, Piece>(piece) };
        self.lane.enqueue();
        // The receiver lives as long as the queue, which the scope borrows.
        let sent = self.pieces.send(piece);
        debug_assert!(sent.is_ok(), "the queue's thread ends with the queue");
    }
}

impl Shared {
    fn finish_one(&self, failed: bool) {
        let mut state = lock(&self.state);
        state.unfinished -= 1;
        state.failed |= failed;
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for all pieces, and takes what they left.
    fn finish(&self) -> Vec<Arc<dyn Unclaimed + Send + Sync>> {
        let mut state = lock(&self.state);
        while state.unfinished > 0 {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        mem::take(&mut state.results)
    }
}

impl Queue {
    /// Runs `body`, which may enqueue work that runs while the host goes on. Returns when `body` and all the work are done.
    ///
    /// ```
    /// # use gridwise::prelude::*;
    /// # let device = Device::open("cpu:blocks=2")?;
    /// let queue = device.queue();
    /// let (input, mut out) = (queue.upload(&[1, 2, 3])?, device.zeroed::<i32>(3)?);
    /// let sum = queue.scope(|scope| {
    ///     let copied = scope.enqueue(|queue| Ok(queue.copy(input.span(), out.span_mut())?));
    ///     // The host does something else here.
    ///     copied.wait()
    /// })??;
    /// # Ok::<(), gridwise::Error>(())
    /// ```
    ///
    /// # Errors
    /// The first failure of a piece whose ticket nobody waited for; or if the queue's thread cannot be started.
    ///
    /// # Panics
    /// If `body` panics; after all the work is done.
    pub fn scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> Result<R, Error> {
        // Inside the queue's own work its thread has to wait; the pieces are part of that work, on a thread of their own.
        let inner = self
            .is_running_here()
            .then(|| Queue::inline(self.device().clone(), self.options()));
        let (pieces, lane) = inner.as_ref().unwrap_or(self).dispatch()?;
        let shared = Arc::new(Shared::default());
        let scope = Scope {
            pieces,
            lane,
            shared: shared.clone(),
            _scope: PhantomData,
            _env: PhantomData,
        };
        let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        // Whatever happened, nothing that borrows from here may be left on the queue's thread or in the shared state.
        let results = shared.finish();
        let result = result.unwrap_or_else(|payload| resume_unwind(payload));
        match results
            .iter()
            .find_map(|slot| slot.take_error().filter(|error| !matches!(error, Error::Skipped)))
        {
            Some(error) => Err(error),
            None => Ok(result),
        }
    }

    /// The way to this queue's thread; a piece of work that opens a scope of its own gets another.
    fn dispatch(&self) -> Result<(mpsc::Sender<Piece>, Arc<Lane>), Error> {
        let mut dispatcher = lock(&self.dispatcher);
        if dispatcher.is_none() {
            let lane = self.lane().cloned().unwrap_or_default();
            *dispatcher = Some(Dispatcher::start(self, lane).map_err(|source| Error::QueueThread { source })?);
        }
        let started = dispatcher
            .as_ref()
            .map(|dispatcher| (dispatcher.pieces.clone(), dispatcher.lane.clone()));
        let Some((Some(pieces), lane)) = started else {
            unreachable!("it has just been started, and keeps its sender until it is dropped")
        };
        Ok((pieces, lane))
    }
}
