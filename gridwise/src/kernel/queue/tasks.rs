//! Tasks: what is to be run, whatever runs it.

use bytemuck::Pod;

use super::task_queue::{Spawner, TaskQueue};
use crate::kernel::{Acc, Kernel, SharedLayout, phased::duplicate};

/// Tasks that make further tasks. A task is run by all threads of one block together.
///
/// Run by [`Queue::run_tasks`](crate::host::queue::Queue::run_tasks): by one persistent grid whose blocks feed each other, or by
/// one launch for each generation of tasks.
///
/// # Safety
///
/// As for [`Kernel`]: conflicting accesses of two tasks are ordered by one having made the other, directly or through others, or
/// they are atomic; every thread of a block reaches the same block barriers in the same order. Two tasks of one block run one
/// after another, with a block barrier between.
pub unsafe trait Tasks: Sized {
    /// Names the kernel in errors and reports.
    const NAME: &'static str;

    /// What describes one task.
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
        let mut holding = false;
        self.queue.promise_to_finish(acc);
        while acc.broadcast(|| u32::from(self.queue.next(acc, &mut holding))) != 0 {
            // SAFETY: `Tasks` allows copies.
            let tasks = unsafe { duplicate(&self.tasks) };
            tasks.run(acc, shared, self.queue.current(acc), self.queue.spawner());
            acc.sync_block();
        }
    }
}
