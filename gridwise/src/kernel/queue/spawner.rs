//! What a task makes further tasks with.

use core::sync::atomic::Ordering;

use bytemuck::Pod;

use super::{task_queue::TaskQueue, words::record};
use crate::kernel::{Acc, scope};

/// With what a task makes further tasks.
pub struct Spawner<'q, 'a, T> {
    pub(super) queue: &'q TaskQueue<'a, T>,
}

impl<T> Clone for Spawner<'_, '_, T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Spawner<'_, '_, T> {}

impl<T: Pod> Spawner<'_, '_, T> {
    /// Makes a task, to be run after this one, by any block. Any thread of the block may call it, also in divergent code.
    ///
    /// # Memory ordering
    /// What the threads of this block do in this task happens before what any thread does in the new one.
    ///
    /// # Panics
    /// If the task has made as many as it may: [`Tasks::MOST_SPAWNS`](super::Tasks::MOST_SPAWNS).
    #[inline(always)]
    #[track_caller]
    pub fn spawn<A: Acc>(self, acc: A, task: T) {
        let queue = self.queue;
        let at = acc.block() * record::WORDS + record::END;
        let word = queue.records.atomic(at).scoped::<scope::Block>();
        let end = if acc.threads() == 1 {
            queue.records.get(acc, at)
        } else {
            word.fetch_add(acc, 1, Ordering::Relaxed)
        };
        if end - queue.word(acc, record::BASE) >= queue.rules.most_spawns {
            if acc.threads() > 1 {
                // The task may catch the panic, and end well. Who else adds meanwhile finds no place either.
                word.fetch_sub(acc, 1, Ordering::Relaxed);
            }
            too_many_spawns(queue.rules.most_spawns)
        }
        queue.local.set(acc, queue.place(acc, end), task);
        if acc.threads() == 1 {
            queue.records.set(acc, at, end + 1);
        }
    }
}

#[cold]
#[inline(never)]
#[track_caller]
fn too_many_spawns(most: u64) -> ! {
    panic!("a task made more than MOST_SPAWNS = {most} tasks")
}
