//! The memory of a task queue: for one run, and for taking back what a failed run has left.

use std::time::Duration;

use bytemuck::Pod;

use super::{TaskCounters, TaskError, TaskFailure, TaskOptions};
use crate::{
    host::{
        buffer::{AllocationError, Buffer},
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
pub(super) struct State<T> {
    blocks: usize,
    rules: Rules,
    ring: Buffer<u64>,
    states: Buffer<u32>,
    values: Buffer<T>,
    control: Buffer<u64>,
    local: Buffer<T>,
    records: Buffer<u64>,
}

impl<T: Pod> State<T> {
    pub(super) fn new(
        queue: &Queue,
        plan: &LaunchPlan,
        seeds: &[T],
        most_spawns: usize,
        options: TaskOptions,
    ) -> Result<Self, AllocationError> {
        let error = || AllocationError {
            len: options.capacity,
            element_bytes: size_of::<T>(),
        };
        let power = |tasks: Option<usize>| tasks.and_then(usize::checked_next_power_of_two).ok_or_else(error);
        let capacity = power(Some(options.capacity.max(seeds.len()).max(1)))?;
        let twice = options.keep.checked_mul(2);
        let own = power(twice.and_then(|keep| keep.checked_add(most_spawns)))?;
        let locals = local::elements(own).checked_mul(plan.blocks).ok_or_else(error)?;
        let device = queue.device();
        let mut state = Self {
            blocks: plan.blocks,
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
        state
            .values
            .span_mut()
            .range(..seeds.len())
            .into_slice()
            .copy_from_slice(seeds);
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
    pub(super) fn is_stopped(&self) -> bool {
        self.control.span()[control::ATTENTION] & control::STOP != 0
    }

    /// Tasks pushed to the ring so far.
    pub(super) fn pushed(&self) -> u64 {
        self.ring.span()[TAIL] & !CLOSED
    }

    fn record(&self, block: usize) -> &[u64] {
        &self.records.span().as_slice()[block * record::WORDS..][..record::WORDS]
    }

    /// What each block did.
    pub(super) fn counters(&self) -> Vec<TaskCounters> {
        let counters = |block| {
            let record = self.record(block);
            TaskCounters {
                tasks: record[record::TASKS],
                claims: record[record::CLAIMS],
                failed_pops: record[record::FAILED_POPS],
                spills: record[record::SPILLS],
                idle: Duration::from_nanos(record[record::IDLE]),
                peak: record[record::PEAK],
            }
        };
        (0..self.blocks).map(counters).collect()
    }

    /// The error of a run that ended early, with every task that is left.
    pub(super) fn failed(&self, kernel: &'static str, cause: TaskFailure) -> TaskError<T> {
        let culprit = match &cause {
            TaskFailure::Launch(LaunchError::Panicked { block, .. }) => Some(*block),
            _ => None,
        };
        let (mut panicked, mut interrupted, mut unfinished) = (None, Vec::new(), self.in_ring());
        for block in 0..self.blocks {
            let record = self.record(block);
            let elements = local::elements(self.rules.capacity as usize);
            let tasks = &self.local.span().as_slice()[block * elements..][..elements];
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
        TaskError {
            kernel,
            cause: cause.into(),
            panicked,
            interrupted,
            unfinished,
        }
    }

    /// Tasks in the ring. A thread that left between claiming a slot and filling it still has the task.
    fn in_ring(&self) -> Vec<T> {
        let shift = self.states.len().trailing_zeros();
        let slot = |ticket: u64| (ticket & (self.states.len() as u64 - 1)) as usize;
        let (states, values) = (self.states.span(), self.values.span());
        (self.ring.span()[HEAD]..self.pushed())
            .filter(|&ticket| states[slot(ticket)] == free_state(ticket, shift).wrapping_add(1))
            .map(|ticket| values[slot(ticket)])
            .collect()
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
