//! How to run tasks.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::{host::options::Options, kernel::queue::Order};

/// How to run tasks.
pub type TaskOptions<'a> = Options<TaskSettings<'a>>;

/// What there is to choose for tasks; see [`TaskOptions`].
#[derive(Clone, Copy, Debug)]
pub struct TaskSettings<'a> {
    /// What the program asked for.
    pub(super) capacity: Option<usize>,
    pub(super) keep: usize,
    pub(super) order: Order,
    pub(super) counted: bool,
    pub(super) cancellation: Option<&'a Cancellation>,
}

impl Default for TaskSettings<'_> {
    fn default() -> Self {
        Self {
            capacity: None,
            keep: 64,
            order: Order::Lifo,
            counted: false,
            cancellation: None,
        }
    }
}

/// Tasks that a ring has room for to begin with, where nobody says how many.
const USUAL: usize = 1 << 16;
/// How large such a ring becomes: a run that never ends should not take all the memory there is.
const GROWN: usize = 1 << 22;

impl TaskSettings<'_> {
    /// Slots of a new ring, a power of two; `None` if there are not so many.
    pub(super) fn ring(&self) -> Option<usize> {
        self.capacity.unwrap_or(USUAL).max(1).checked_next_power_of_two()
    }

    /// Whether a ring of so many slots will do.
    pub(super) fn suits(&self, slots: usize) -> bool {
        match self.capacity {
            Some(_) => self.ring() == Some(slots),
            None => slots >= USUAL,
        }
    }

    /// Slots of the ring after one that was too small, if it may grow.
    pub(super) fn grown(&self, slots: usize) -> Option<usize> {
        (self.capacity.is_none() && slots < GROWN).then_some(4 * slots)
    }
}

impl<'a> Options<TaskSettings<'a>> {
    /// Tasks that the ring has room for, which all blocks share. Rounded up to a power of two. By generations it holds the tasks of
    /// two. Seeds do not count.
    ///
    /// By default there is room for 65 536. Where a run that did not ask for a capacity needs more, it goes on with what is left in
    /// another launch with a larger ring, of up to 4 194 304 tasks; the next run like it has that ring at once, unless it is larger
    /// than what is kept. A [`TaskMemory`](super::TaskMemory) does not grow.
    pub fn capacity(mut self, tasks: usize) -> Self {
        self.own.capacity = Some(tasks);
        self
    }

    /// Tasks that a block keeps to itself before it moves some to the ring: 64 by default, at least 1. Its own buffer has room
    /// for twice as many and the spawns of one task: where the ring is full, the block works on them first.
    pub fn keep(mut self, tasks: usize) -> Self {
        self.own.keep = tasks.max(1);
        self
    }

    /// Which of its own tasks a block runs next: [`Order::Lifo`] by default.
    pub fn order(mut self, order: Order) -> Self {
        self.own.order = order;
        self
    }

    /// Counts what each block does.
    pub fn counters(mut self) -> Self {
        self.own.counted = true;
        self
    }

    /// Lets others end the run early: see [`Cancellation`].
    pub fn cancelled_by(mut self, cancellation: &'a Cancellation) -> Self {
        self.own.cancellation = Some(cancellation);
        self
    }
}

/// Ends runs of tasks early, from any thread.
///
/// A run that it is given to ends before its next tasks, with [`TaskFailure::Cancelled`](super::TaskFailure::Cancelled), and
/// hands back every task that it has not begun. Tasks under way are run to their end. A run that is given one that was cancelled
/// before runs nothing; a run that ends by itself first has ended well.
///
/// A GPU does not reach it: there a run looks before each of its launches, so only one by generations can end early.
///
/// ```
/// # use gridwise::prelude::*;
/// use gridwise::host::tasks::{Cancellation, TaskFailure};
///
/// /// A task that makes itself, for ever.
/// #[repr(C)]
/// struct Endless;
///
/// // SAFETY: it accesses nothing.
/// unsafe impl Tasks for Endless {
///     const NAME: &'static str = "endless";
///     type Task = u32;
///     type Shared = ();
///     const MOST_SPAWNS: usize = 1;
///
///     fn run<A: Acc>(self, acc: A, _: (), task: u32, spawner: Spawner<'_, '_, u32>) {
///         if acc.thread_index() == 0 {
///             spawner.spawn(acc, task);
///         }
///     }
/// }
///
/// let queue = Device::open("cpu:blocks=2")?.queue();
/// let cancellation = Cancellation::default();
/// let error = std::thread::scope(|scope| {
///     scope.spawn(|| cancellation.cancel());
///     queue.run_tasks(Endless, &[7, 8], TaskOptions::default().cancelled_by(&cancellation)).unwrap_err()
/// });
/// assert!(matches!(*error.cause, TaskFailure::Cancelled));
/// assert_eq!(error.unfinished.len(), 2);
/// # Ok::<(), gridwise::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Cancellation(pub(super) AtomicBool);

impl Cancellation {
    /// Cancels every run that was given this, now and later.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }

    /// Whether [`cancel`](Self::cancel) was called.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Relaxed)
    }
}
