//! Scopes: work on a queue while the host goes on.

use std::{
    marker::PhantomData,
    mem,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
};

use super::{
    circle::{Awaited, Failing, Waiting},
    error::{Error, caught},
    event::Event,
    lane::{Lane, Pending},
    queue::Queue,
};
use crate::sync::{Arc, Condvar, Mutex, lock, thread};

/// Told whether it has a turn: without one it is not begun.
type Work<'scope> = Box<dyn FnOnce(&Queue, bool) + Send + 'scope>;

/// A piece of work on its way to the queue's thread. Dropped in this order, whether it ran or not.
struct Piece {
    work: Work<'static>,
    pending: Pending,
    unfinished: Unfinished,
}

impl Piece {
    fn run(self, lane: &Arc<Lane>, inner: &Queue) {
        // Dropped in the reverse order, after the turn: when a scope is over, its work is off the queue.
        let _unfinished = self.unfinished;
        let _pending = self.pending;
        let turn = lane.turn_of_piece();
        // It catches the panics of the program's code itself. If one got here, the work behind it should still run.
        let _ = caught(|| (self.work)(inner, turn.is_ok()));
    }
}

/// The thread of a queue: runs the pieces of its scopes in order. It is started by the first scope and ends with the queue.
#[derive(Debug)]
pub(super) struct Dispatcher {
    // Dropped before the join, which ends the thread.
    pieces: Option<mpsc::Sender<Piece>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Dispatcher {
    fn start(queue: &Queue) -> std::io::Result<Self> {
        let (pieces, receiver) = mpsc::channel::<Piece>();
        let thread = thread::Builder::new().name("gridwise-queue".to_owned()).spawn({
            let (lane, inner) = (queue.lane.clone(), queue.inner().clone());
            move || receiver.into_iter().for_each(|piece| piece.run(&lane, &inner))
        })?;
        Ok(Self {
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
    /// Pieces that were enqueued and are not let go of.
    unfinished: usize,
    /// Whether a piece has failed, so that those behind it are skipped.
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
    done: Arc<AtomicBool>,
    lane: Arc<Lane>,
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
    /// The piece's own; or that it panicked, or was skipped after a failure before it. In work on the queue,
    /// [`Error::WaitsForItself`] for a piece that comes after that very work, if by way of other queues; in a kernel of its device, for
    /// one that is not done.
    pub fn wait(self) -> Result<T, Error> {
        let in_front = self.lane.waits_for_this_thread();
        if let Some(result) = lock(&self.slot.0).take() {
            return result;
        }
        if in_front {
            return Err(Error::WaitsForItself);
        }
        let awaited = OfPiece {
            shared: self.shared.clone(),
            done: self.done.clone(),
        };
        let waiting = Waiting::new(&self.lane, Failing::Can, awaited);
        let mut state = lock(&self.shared.state);
        loop {
            if let Some(result) = lock(&self.slot.0).take() {
                return result;
            }
            if waiting.gives_up() {
                return Err(Error::WaitsForItself);
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
        self.send(true, work)
    }

    /// Records an event behind the work enqueued so far: it is not complete until that is done.
    pub fn record(&'scope self, event: &Event) {
        event.record(&self.lane, |recording| {
            let event = event.clone();
            // Not skipped after a failure, so that others do not wait for ever.
            let _ticket = self.send(false, move |_| {
                event.complete(recording);
                Ok(())
            });
        });
    }

    /// Lets the work enqueued after this wait for an event. If that can never end, because the scope is in work on a queue and
    /// the recording stands behind that very work, or queues wait for each other in a circle, it is a failure of the scope:
    /// [`Error::WaitsForItself`].
    pub fn wait_for(&'scope self, event: &Event) {
        let recording = event.latest();
        let (event, lane) = (event.clone(), self.lane.clone());
        let _ticket = self.send(false, move |_| event.wait_for(recording, Some(&lane)));
    }

    fn send<T: Send + 'scope>(
        &'scope self,
        skipped_after_failure: bool,
        work: impl FnOnce(&Queue) -> Result<T, Error> + Send + 'scope,
    ) -> Ticket<'scope, T> {
        let slot = Arc::new(Slot(Mutex::new(None)));
        let done = Arc::new(AtomicBool::new(false));
        let ticket = Ticket {
            slot: slot.clone(),
            done: done.clone(),
            lane: self.lane.clone(),
            shared: self.shared.clone(),
            _scope: PhantomData,
        };
        let unclaimed: Arc<dyn Unclaimed + Send + Sync + 'scope> = slot.clone();
        // SAFETY: the scope's state is emptied before `'scope` ends, by `Shared::finish`. Only the lifetime changes.
        let unclaimed = unsafe {
            mem::transmute::<Arc<dyn Unclaimed + Send + Sync + 'scope>, Arc<dyn Unclaimed + Send + Sync>>(unclaimed)
        };
        let unfinished = Unfinished::new(self.shared.clone(), unclaimed);
        let shared = self.shared.clone();
        let work: Work<'scope> = Box::new(move |queue, in_turn| {
            let skipped = skipped_after_failure && lock(&shared.state).failed;
            let refused = skipped_after_failure && !in_turn;
            let end = caught(|| {
                if skipped || refused {
                    // What it borrows has to be let go of before the scope can end.
                    drop(work);
                    Err(if skipped { Error::Skipped } else { Error::WaitsForItself })
                } else {
                    work(queue)
                }
            });
            let result = end.unwrap_or_else(|message| Err(Error::ClosurePanicked { message }));
            if result.is_err() {
                lock(&shared.state).failed = true;
            }
            *lock(&slot.0) = Some(result);
            done.store(true, Relaxed);
        });
        // SAFETY: the work is run or not, and let go of, before `'scope` ends, because `Shared::finish` waits for `unfinished`,
        // which is dropped after it. Only the lifetime changes.
        let work = unsafe { mem::transmute::<Work<'scope>, Work<'static>>(work) };
        // The receiver lives as long as the queue, which the scope borrows.
        let sent = self.pieces.send(Piece {
            work,
            pending: Pending::new(self.lane.clone()),
            unfinished,
        });
        debug_assert!(sent.is_ok(), "the queue's thread ends with the queue");
        ticket
    }
}

/// A piece that the end of its scope waits for, until this is dropped.
struct Unfinished(Arc<Shared>);

impl Unfinished {
    fn new(shared: Arc<Shared>, result: Arc<dyn Unclaimed + Send + Sync>) -> Self {
        let mut state = lock(&shared.state);
        state.unfinished += 1;
        state.results.push(result);
        drop(state);
        Self(shared)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        lock(&self.0.state).unfinished -= 1;
        self.0.changed.notify_all();
    }
}

impl Shared {
    /// Whether all pieces are let go of.
    fn is_over(&self) -> bool {
        lock(&self.state).unfinished == 0
    }

    /// Waits for all pieces and lets go of all results; gives the first failure that nobody took. Never unwinds.
    ///
    /// When it returns, nothing that borrows from the scope is left on the queue's thread or here. A result's destructor is the
    /// program's code: it may enqueue more work, and it may panic.
    fn finish(self: &Arc<Self>, lane: &Arc<Lane>) -> Option<Error> {
        let (mut failure, mut skipped) = (None, None);
        loop {
            // Unless there is nothing to wait for.
            let waiting = (!self.is_over()).then(|| Waiting::new(lane, Failing::Cannot, OfScope(self.clone())));
            let mut state = lock(&self.state);
            while state.unfinished > 0 {
                state = self
                    .changed
                    .wait(state)
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
            }
            let results = mem::take(&mut state.results);
            drop(state);
            drop(waiting);
            if results.is_empty() {
                return failure.or(skipped);
            }
            for result in results {
                let error = result.take_error();
                // One by one: a second panic in one drop would end the program.
                let dropped = caught(|| drop(result));
                let dropped = dropped.err().map(|message| Error::ClosurePanicked { message });
                for error in [error, dropped].into_iter().flatten() {
                    let first = match error {
                        Error::Skipped => &mut skipped,
                        _ => &mut failure,
                    };
                    if first.is_none() {
                        *first = Some(error);
                    } else {
                        let _ = caught(|| drop(error));
                    }
                }
            }
        }
    }
}

/// A piece that somebody waits for.
struct OfPiece {
    shared: Arc<Shared>,
    done: Arc<AtomicBool>,
}

impl Awaited for OfPiece {
    fn has_come(&self) -> bool {
        self.done.load(Relaxed)
    }

    fn wake(&self) {
        drop(lock(&self.shared.state));
        self.shared.changed.notify_all();
    }
}

/// The end of a scope.
struct OfScope(Arc<Shared>);

impl Awaited for OfScope {
    fn has_come(&self) -> bool {
        self.0.is_over()
    }

    fn wake(&self) {}
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
    /// The first failure of a piece whose ticket nobody waited for, the panic of a result's destructor included;
    /// [`Error::Skipped`] if there is none, but a piece that nobody waited for was skipped; or if the queue's thread cannot be
    /// started, or this is inside a kernel of the device.
    ///
    /// # Panics
    /// If `body` panics; after all the work is done.
    pub fn scope<'env, R>(
        &'env self,
        body: impl for<'scope> FnOnce(&'scope Scope<'scope, 'env>) -> R,
    ) -> Result<R, Error> {
        if self.device().runs_here() {
            return Err(Error::InsideKernel);
        }
        let queue = self.here();
        let shared = Arc::new(Shared::default());
        let scope = Scope {
            pieces: queue.dispatch()?,
            lane: queue.lane.clone(),
            shared: shared.clone(),
            _scope: PhantomData,
            _env: PhantomData,
        };
        let result = catch_unwind(AssertUnwindSafe(|| body(&scope)));
        // Before the panic of the body goes on: what was enqueued borrows from the frames that it would leave.
        let failure = shared.finish(&queue.lane);
        let result = match result {
            Ok(result) => result,
            Err(payload) => {
                // Not while the panic goes on: a second one, from the destructor, would end the program.
                let _ = caught(|| drop(failure));
                resume_unwind(payload)
            }
        };
        match failure {
            Some(error) => Err(error),
            None => Ok(result),
        }
    }

    /// The way to this queue's thread, which is started if need be.
    fn dispatch(&self) -> Result<mpsc::Sender<Piece>, Error> {
        let mut dispatcher = lock(&self.dispatcher);
        if dispatcher.is_none() {
            *dispatcher = Some(Dispatcher::start(self).map_err(|source| Error::QueueThread { source })?);
        }
        let Some(pieces) = dispatcher.as_ref().and_then(|started| started.pieces.clone()) else {
            unreachable!("it has just been started, and keeps its sender until it is dropped")
        };
        Ok(pieces)
    }
}
