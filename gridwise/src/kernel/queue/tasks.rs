//! Tasks: what is to be run, whatever runs it.

use bytemuck::Pod;

use super::{spawner::Spawner, task_queue::TaskQueue};
use crate::kernel::{Acc, Kernel, SharedLayout, phased::duplicate};

/// Tasks that make further tasks. A task is run by all threads of one block together.
///
/// Run by [`Queue::run_tasks`](crate::host::queue::Queue::run_tasks): by one persistent grid whose blocks feed each other, or by
/// one launch for each generation of tasks.
///
/// ```
/// use gridwise::prelude::*;
///
/// /// Counts the nodes of a binary tree. A task is a node, given by the levels below it.
/// #[repr(C)]
/// struct Count<'a> {
///     nodes: SpanMut<'a, u32>,
/// }
///
/// // SAFETY: the count is atomic.
/// unsafe impl Tasks for Count<'_> {
///     const NAME: &'static str = "count";
///     type Task = u32;
///     type Shared = ();
///     const MOST_SPAWNS: usize = 2;
///
///     fn run<A: Acc>(self, acc: A, _: (), below: u32, spawner: Spawner<'_, '_, u32>) {
///         if acc.thread_index() == 0 {
///             self.nodes.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
///             if below > 0 {
///                 spawner.spawn(acc, below - 1);
///                 spawner.spawn(acc, below - 1);
///             }
///         }
///     }
/// }
///
/// let device = Device::open("cpu:blocks=2")?;
/// let queue = device.queue();
/// let mut nodes = device.zeroed(1)?;
/// queue.run_tasks(Count { nodes: nodes.span_mut() }, &[9], TaskOptions::default())?;
/// assert_eq!(queue.download(&nodes)?, [1023]);
/// # Ok::<(), gridwise::Error>(())
/// ```
///
/// # Safety
///
/// As for [`Kernel`]: conflicting accesses of two tasks are ordered by one having made the other, directly or through others, or
/// they are atomic; every thread of a block reaches the same block barriers in the same order. Two tasks of one block run one
/// after another, with a block barrier between.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no tasks to run",
    label = "no `Tasks`",
    note = "a `Kernel` goes to `launch`, a `GridKernel` to `launch_cooperative`, a `Phased` one to `run`"
)]
pub unsafe trait Tasks: Sized {
    /// Names the kernel in errors and reports.
    const NAME: &'static str;

    /// What describes one task. With `Debug` the error of a run, which names tasks, can be handed on by `?`.
    type Task: Pod;

    /// The shared memory that each block holds, as for [`Kernel::Shared`]. A task finds in it what the one before has left.
    type Shared: SharedLayout;

    /// Tasks that one task makes at most. A block runs a task only when there is room for so many, so that none is ever lost.
    const MOST_SPAWNS: usize;

    /// Elements in each [`DynamicShared`](crate::kernel::DynamicShared) of [`Shared`](Self::Shared), for this run.
    fn dynamic_len(&self) -> usize {
        0
    }

    /// What one thread does for one task.
    ///
    /// A panic ends the run: the error names the task, blocks of one thread end the tasks that they have begun, and everything
    /// else is handed back.
    fn run<A: Acc>(self, acc: A, shared: Self::Shared, task: Self::Task, spawner: Spawner<'_, '_, Self::Task>);
}

/// The kernel that runs tasks, persistently or for one generation.
#[repr(C)]
pub struct TaskForm<'a, P: Tasks> {
    pub(crate) tasks: P,
    pub(crate) queue: TaskQueue<'a, P::Task>,
}

// SAFETY: the tasks keep their promise; the queue orders a task after the one that made it. The first thread of a block changes
// the block's own words and tasks while the others are between the barrier after a task and the broadcast.
unsafe impl<P: Tasks> Kernel for TaskForm<'_, P> {
    const NAME: &'static str = P::NAME;
    type Shared = P::Shared;

    fn dynamic_len(&self) -> usize {
        self.tasks.dynamic_len()
    }

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, shared: P::Shared) {
        self.queue.each(acc, |task, spawner| {
            // SAFETY: `Tasks` allows copies.
            let tasks = unsafe { duplicate(&self.tasks) };
            tasks.run(acc, shared, task, spawner);
        });
    }
}
