//! The memory of a task queue: for one run, and for taking back what a failed run has left.

use std::{borrow::Cow, time::Duration};

use bytemuck::Pod;

use super::{TaskCounters, TaskError, TaskFailure, TaskOptions};
use crate::{
    host::{
        buffer::{AllocationError, Buffer, CopyError},
        launch::{LaunchError, LaunchPlan},
        queue::Queue,
    },
    kernel::{
        SpanMut,
        queue::{
            Order, Ring, TaskQueue,
            ring::{CLOSED, HEAD, RING_WORDS, TAIL, free_state},
            task_queue::{Rules, control, local, record},
        },
    },
};

/// See the module.
pub(super) struct State<'q, T> {
    on: &'q Queue,
    rules: Rules,
    ring: Buffer<u64>,
    states: Buffer<u32>,
    values: Buffer<T>,
    control: Buffer<u64>,
    local: Buffer<T>,
    records: Buffer<u64>,
}

impl<'q, T: Pod> State<'q, T> {
    pub(super) fn new(
        queue: &'q Queue,
        plan: &LaunchPlan,
        seeds: &[T],
        most_spawns: usize,
        options: TaskOptions,
    ) -> Result<Self, TaskFailure> {
        let error = || AllocationError::of::<T>(options.capacity);
        let power = |tasks: Option<usize>| tasks.and_then(usize::checked_next_power_of_two).ok_or_else(error);
        let capacity = power(Some(options.capacity.max(seeds.len()).max(1)))?;
        let twice = options.keep.checked_mul(2);
        let own = power(twice.and_then(|keep| keep.checked_add(most_spawns)))?;
        let locals = local::elements(own).checked_mul(plan.blocks).ok_or_else(error)?;
        let device = queue.device();
        let mut state = Self {
            on: queue,
            rules: Rules {
                capacity: own as u64,
                keep: options.keep as u64,
                most_spawns: most_spawns as u64,
                generation_end: u64::MAX,
                order: options.order,
                counted: options.counted,
            },
            ring: device.zeroed(RING_WORDS)?,
            states: device.zeroed(capacity)?,
            values: device.zeroed(capacity)?,
            control: device.zeroed(control::WORDS)?,
            local: device.zeroed(locals)?,
            records: device.zeroed(plan.blocks * record::WORDS)?,
        };
        // The seeds, as if they had been pushed.
        let count = seeds.len() as u64;
        queue.write(seeds, state.values.span_mut().range(..seeds.len()))?;
        queue.fill(state.states.span_mut().range(..seeds.len()), 1);
        queue.fill(state.ring.span_mut().range(TAIL..=TAIL), count);
        let outstanding = control::OUTSTANDING;
        queue.fill(state.control.span_mut().range(outstanding..=outstanding), count);
        Ok(state)
    }

    /// The queue as it stands, for one launch.
    pub(super) fn queue(&mut self, generation_end: u64) -> TaskQueue<'_, T> {
        TaskQueue::new(
            Ring::new(self.ring.span_mut(), self.states.span_mut(), self.values.span_mut()),
            self.control.span_mut(),
            self.local.span_mut(),
            self.records.span_mut(),
            Rules {
                generation_end,
                ..self.rules
            },
        )
    }

    pub(super) fn capacity(&self) -> usize {
        self.states.len()
    }

    /// Whether the run ended for want of room.
    pub(super) fn is_stopped(&self) -> Result<bool, CopyError> {
        Ok(self.word(&self.control, control::ATTENTION)? & control::STOP != 0)
    }

    /// Tasks pushed to the ring so far.
    pub(super) fn pushed(&self) -> Result<u64, CopyError> {
        Ok(self.word(&self.ring, TAIL)? & !CLOSED)
    }

    fn word(&self, of: &Buffer<u64>, index: usize) -> Result<u64, CopyError> {
        Ok(self.on.elements(of.span().range(index..=index))?[0])
    }

    /// What each block did.
    pub(super) fn counters(&self) -> Result<Vec<TaskCounters>, CopyError> {
        let records = self.on.elements(self.records.span())?;
        let counters = |record: &[u64]| TaskCounters {
            tasks: record[record::TASKS],
            claims: record[record::CLAIMS],
            failed_pops: record[record::FAILED_POPS],
            spills: record[record::SPILLS],
            idle: Duration::from_nanos(record[record::IDLE]),
            peak: record[record::PEAK],
        };
        Ok(records.chunks_exact(record::WORDS).map(counters).collect())
    }

    /// The error of a run that ended early, with every task that is left.
    pub(super) fn failed(&self, kernel: &'static str, cause: TaskFailure) -> TaskError<T> {
        let culprit = match &cause {
            TaskFailure::Launch(LaunchError::Panicked { block, .. }) => Some(*block),
            _ => None,
        };
        let left = self.left(culprit);
        let lost = left.is_err();
        let Left {
            panicked,
            interrupted,
            unfinished,
        } = left.unwrap_or_default();
        TaskError {
            kernel,
            cause: cause.into(),
            panicked,
            interrupted,
            unfinished,
            lost,
        }
    }

    /// The tasks that are left; a block is to blame, or none.
    fn left(&self, culprit: Option<usize>) -> Result<Left<T>, CopyError> {
        let (mut panicked, mut interrupted, mut unfinished) = (None, Vec::new(), self.in_ring()?);
        let records = self.on.elements(self.records.span())?;
        let locals = self.on.elements(self.local.span())?;
        let elements = local::elements(self.rules.capacity as usize);
        let blocks = records.chunks_exact(record::WORDS).zip(locals.chunks_exact(elements));
        for (block, (record, tasks)) in blocks.enumerate() {
            let busy = record[record::BUSY] != 0;
            if busy {
                let task = tasks[elements - 1];
                if culprit == Some(block) {
                    panicked = Some(task);
                } else {
                    interrupted.push(task);
                }
            }
            // A task that made more than it may has counted those that found no place, too.
            let most = record[record::BASE] + self.rules.most_spawns;
            let end = record[record::END];
            let end = if busy { end.min(most) } else { end };
            let place = |count: u64| (count & (self.rules.capacity - 1)) as usize;
            unfinished.extend((record[record::FIRST]..end).map(|count| tasks[place(count)]));
        }
        Ok(Left {
            panicked,
            interrupted,
            unfinished,
        })
    }

    /// Tasks in the ring. A thread that left between claiming a slot and filling it still has the task.
    fn in_ring(&self) -> Result<Vec<T>, CopyError> {
        let shift = self.states.len().trailing_zeros();
        let slot = |ticket: u64| (ticket & (self.states.len() as u64 - 1)) as usize;
        let states: Cow<'_, [u32]> = self.on.elements(self.states.span())?;
        let values: Cow<'_, [T]> = self.on.elements(self.values.span())?;
        Ok((self.word(&self.ring, HEAD)?..self.pushed()?)
            .filter(|&ticket| states[slot(ticket)] == free_state(ticket, shift).wrapping_add(1))
            .map(|ticket| values[slot(ticket)])
            .collect())
    }
}

/// The tasks that a failed run has left.
struct Left<T> {
    panicked: Option<T>,
    interrupted: Vec<T>,
    unfinished: Vec<T>,
}

impl<T> Default for Left<T> {
    fn default() -> Self {
        Self {
            panicked: None,
            interrupted: Vec::new(),
            unfinished: Vec::new(),
        }
    }
}

/// A queue without memory, to ask a kernel for its needs.
pub(super) fn nothing<'a, T: Pod>() -> TaskQueue<'a, T> {
    let empty_words = || SpanMut::new(&mut [] as &mut [u64]);
    TaskQueue::new(
        Ring::empty(),
        empty_words(),
        SpanMut::new(&mut []),
        empty_words(),
        Rules {
            capacity: 1,
            keep: 1,
            most_spawns: 0,
            generation_end: 0,
            order: Order::Lifo,
            counted: false,
        },
    )
}
