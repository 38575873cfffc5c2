//! Memory of runs that are over, kept for the next: a run of few tasks would otherwise spend its time on getting memory.

use std::any::Any;

use bytemuck::Pod;

use super::{TaskMemory, TaskOptions};
use crate::sync::{Mutex, lock};

/// Memory for that many kinds of runs is kept, the newest.
const MOST: usize = 4;
/// Larger ones are not kept.
const MOST_BYTES: usize = 16 << 20;

/// See the module. A part of a device, which it goes with.
#[derive(Default)]
pub(crate) struct KeptMemory(Mutex<Vec<Entry>>);

struct Entry(Box<dyn Any>);

// SAFETY: it is a `TaskMemory`, whose tasks are plain bytes that nobody looks at before they are written anew.
unsafe impl Send for Entry {}

impl KeptMemory {
    /// Memory that suits, if there is some.
    pub(super) fn take<T: Pod>(
        &self,
        blocks: usize,
        most_spawns: usize,
        options: TaskOptions<'_>,
    ) -> Option<TaskMemory<T>> {
        let mut kept = lock(&self.0);
        let suits = |entry: &mut Entry| {
            let memory = entry.0.downcast_mut::<TaskMemory<T>>();
            memory.is_some_and(|memory| memory.suits(blocks, most_spawns, options))
        };
        let index = kept.iter_mut().position(suits)?;
        let memory = kept.remove(index).0.downcast().ok()?;
        Some(*memory)
    }

    /// Keeps the memory of a run that has ended well.
    pub(super) fn put<T: Pod>(&self, memory: TaskMemory<T>) {
        if memory.bytes() > MOST_BYTES {
            return;
        }
        let mut kept = lock(&self.0);
        if kept.len() == MOST {
            kept.remove(0);
        }
        kept.push(Entry(Box::new(memory)));
    }
}
