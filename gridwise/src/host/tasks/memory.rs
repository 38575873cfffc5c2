//! The memory of a task queue: for a run at a time, and for taking back what a run has left.

use std::{borrow::Cow, time::Duration};

use bytemuck::Pod;

use super::{Cancellation, TaskCounters, TaskError, TaskFailure, TaskOptions};
use crate::{
    host::{
        buffer::{AllocationError, Buffer, CopyError},
        device::Device,
        error::Error,
        launch::LaunchError,
        queue::Queue,
    },
    kernel::{
        Span, SpanMut,
        queue::{
            Order, Ring, TaskQueue,
            ring::{CLOSED, HEAD, RING_WORDS, TAIL, free_state},
            words::{Rules, control, local, record},
        },
    },
};

/// The memory of a [`TaskQueue`]: for a kernel that runs tasks among other things. [`Queue::run_tasks`] needs none.
///
/// ```
/// # use gridwise::prelude::*;
/// use gridwise::kernel::queue::TaskQueue;
///
/// /// Counts the nodes of a binary tree, then every block reads the sum.
/// #[repr(C)]
/// struct Count<'a> {
///     queue: TaskQueue<'a, u32>,
///     sum: SpanMut<'a, u32>,
///     read: SpanMut<'a, u32>,
/// }
///
/// // SAFETY: the sum is atomic, and read past a grid barrier; each block has its own place to write to.
/// unsafe impl GridKernel for Count<'_> {
///     const NAME: &'static str = "count";
///     type Shared = ();
///
///     fn run<A: GridAcc>(self, acc: A, _: ()) {
///         self.queue.each(acc, |depth, spawner| {
///             if acc.thread_index() == 0 {
///                 self.sum.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
///                 if depth > 0 {
///                     spawner.spawn(acc, depth - 1);
///                     spawner.spawn(acc, depth - 1);
///                 }
///             }
///         });
///         acc.sync_grid();
///         if acc.thread_index() == 0 {
///             self.read.set(acc, acc.block_index(), self.sum.get(acc, 0));
///         }
///     }
/// }
///
/// let queue = Device::open("cpu:blocks=2")?.queue();
/// let mut memory = queue.task_memory::<u32>(2, TaskOptions::default())?;
/// let mut sum = queue.device().zeroed(1)?;
/// let mut read = queue.device().zeroed(2)?;
/// let kernel = Count { queue: memory.fresh(&queue, &[9])?, sum: sum.span_mut(), read: read.span_mut() };
/// queue.launch_cooperative(Blocks::Resident, kernel)?;
/// assert_eq!(queue.download(&read)?, [1023; 2]);
/// assert!(memory.unfinished(&queue)?.is_empty());
/// # Ok::<(), gridwise::Error>(())
/// ```
pub struct TaskMemory<T> {
    blocks: usize,
    rules: Rules,
    ring: Buffer<u64>,
    states: Buffer<u32>,
    values: Buffer<T>,
    seeds: Buffer<T>,
    seed_count: usize,
    control: Buffer<u64>,
    local: Buffer<T>,
    records: Buffer<u64>,
}

impl<T: Pod> TaskMemory<T> {
    pub(super) fn new(
        device: &Device,
        blocks: usize,
        most_spawns: usize,
        options: TaskOptions<'_>,
    ) -> Result<Self, AllocationError> {
        let options = options.own;
        let error = || AllocationError::of::<T>(options.capacity.unwrap_or_default());
        let capacity = options.ring().ok_or_else(error)?;
        let twice = options.keep.checked_mul(2);
        let own = twice.and_then(|keep| keep.checked_add(most_spawns));
        let own = own.and_then(usize::checked_next_power_of_two).ok_or_else(error)?;
        let locals = local::elements::<T>(own).checked_mul(blocks).ok_or_else(error)?;
        Ok(Self {
            blocks,
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
            seeds: device.zeroed(0)?,
            seed_count: 0,
            control: device.zeroed(control::WORDS)?,
            local: device.zeroed(locals)?,
            records: device.zeroed(blocks * record::WORDS)?,
        })
    }

    /// Whether a run of so many blocks, with these options, can use this memory. It then does as the options say.
    pub(super) fn suits(&mut self, blocks: usize, most_spawns: usize, options: TaskOptions<'_>) -> bool {
        let options = options.own;
        let fits = self.blocks == blocks
            && options.suits(self.states.len())
            && self.rules.keep == options.keep as u64
            && self.rules.most_spawns == most_spawns as u64;
        if fits {
            self.rules.order = options.order;
            self.rules.counted = options.counted;
        }
        fits
    }

    pub(super) fn bytes(&self) -> usize {
        let (states, tasks) = (
            self.states.len(),
            self.values.len() + self.seeds.len() + self.local.len(),
        );
        states * size_of::<u32>() + tasks * size_of::<T>()
    }

    /// A queue with these tasks to begin with, for one launch. What an earlier launch has left is gone.
    ///
    /// # Errors
    /// If there is no memory for the seeds, or a GPU cannot be reached.
    pub fn fresh(&mut self, queue: &Queue, seeds: &[T]) -> Result<TaskQueue<'_, T>, Error> {
        self.start(queue, seeds)?;
        Ok(self.queue(u64::MAX, None))
    }

    /// Begins anew, with these tasks.
    pub(super) fn start(&mut self, queue: &Queue, seeds: &[T]) -> Result<(), TaskFailure> {
        let is_spent = self.is_spent(queue)?;
        if !is_spent {
            queue.edit(self.states.span_mut(), |states| states.fill(0))?;
        }
        queue.edit(self.ring.span_mut(), |ring| {
            if is_spent {
                // The ring goes on where it stands: tickets and cycles only grow.
                ring[TAIL] &= !CLOSED;
            } else {
                ring.fill(0);
            }
            if seeds.is_empty() {
                // Nobody will have had the last task.
                ring[TAIL] |= CLOSED;
            }
        })?;
        if self.seeds.len() < seeds.len() {
            self.seeds = queue.device().zeroed(seeds.len())?;
        }
        queue.edit(self.seeds.span_mut().range(..seeds.len()), |all| {
            all.copy_from_slice(seeds)
        })?;
        self.seed_count = seeds.len();
        queue.edit(self.control.span_mut(), |words| {
            words.fill(0);
            words[control::OUTSTANDING] = u64::from(!seeds.is_empty());
        })?;
        queue.edit(self.records.span_mut(), |records| records.fill(0))?;
        Ok(())
    }

    /// Begins anew, with these tasks and a ring of so many slots.
    pub(super) fn grow(&mut self, queue: &Queue, slots: usize, tasks: &[T]) -> Result<(), TaskFailure> {
        let device = queue.device();
        (self.ring, self.states, self.values) =
            (device.zeroed(RING_WORDS)?, device.zeroed(slots)?, device.zeroed(slots)?);
        self.start(queue, tasks)
    }

    /// The queue as it stands, for one launch.
    pub(super) fn queue<'a>(
        &'a mut self,
        generation_end: u64,
        cancellation: Option<&'a Cancellation>,
    ) -> TaskQueue<'a, T> {
        TaskQueue::new(
            Ring::new(self.ring.span_mut(), self.states.span_mut(), self.values.span_mut()),
            self.seeds.span().range(..self.seed_count),
            [self.control.span_mut(), self.records.span_mut()],
            self.local.span_mut(),
            Rules {
                generation_end,
                ..self.rules
            },
            cancellation.map(|cancellation| &cancellation.0),
        )
    }

    /// Why the blocks ended the launch early, if they did.
    pub(super) fn stopped(&self, queue: &Queue) -> Result<Option<TaskFailure>, CopyError> {
        let attention = queue.elements(self.control.span())?[control::ATTENTION];
        Ok(if attention & control::STOP == 0 {
            None
        } else if attention & control::NO_ROOM == 0 {
            // Unless there was nothing left to do.
            (!self.unfinished(queue)?.is_empty()).then_some(TaskFailure::Cancelled)
        } else {
            let capacity = self.states.len();
            Some(TaskFailure::Overflow { capacity })
        })
    }

    /// Tasks pushed to the ring so far.
    pub(super) fn pushed(&self, queue: &Queue) -> Result<u64, CopyError> {
        Ok(queue.elements(self.ring.span())?[TAIL] & !CLOSED)
    }

    /// Adds what each block did, if that is asked for.
    pub(super) fn count(&self, queue: &Queue, sums: &mut Option<Vec<TaskCounters>>) -> Result<(), CopyError> {
        let Some(sums) = sums else { return Ok(()) };
        let records = queue.elements(self.records.span())?;
        let counters = |record: &[u64]| TaskCounters {
            tasks: record[record::TASKS],
            claims: record[record::CLAIMS],
            failed_pops: record[record::FAILED_POPS],
            spills: record[record::SPILLS],
            idle: Duration::from_nanos(record[record::IDLE]),
            peak: record[record::PEAK],
        };
        sums.resize(self.blocks, TaskCounters::default());
        for (sum, record) in sums.iter_mut().zip(records.chunks_exact(record::WORDS)) {
            sum.add(counters(record));
        }
        Ok(())
    }

    /// The error of a run that ended early, with every task that is left.
    pub(super) fn failed(&self, queue: &Queue, kernel: &'static str, cause: TaskFailure) -> TaskError<T> {
        let culprit = match &cause {
            TaskFailure::Launch(LaunchError::Panicked { block, .. }) => Some(*block),
            _ => None,
        };
        let left = self
            .under_way(queue)
            .and_then(|begun| Ok((begun, self.unfinished(queue)?)));
        let lost = left.is_err();
        let (begun, unfinished) = left.unwrap_or_default();
        let (panicked, interrupted): (Vec<_>, Vec<_>) =
            begun.into_iter().partition(|(block, _)| culprit == Some(*block));
        let tasks = |begun: Vec<(usize, T)>| begun.into_iter().map(|(_, task)| task);
        TaskError {
            kernel,
            cause: cause.into(),
            panicked: tasks(panicked).next(),
            interrupted: tasks(interrupted).collect(),
            unfinished,
            lost,
        }
    }

    /// The blocks that have begun a task and not ended it, and the tasks.
    fn under_way(&self, queue: &Queue) -> Result<Vec<(usize, T)>, CopyError> {
        let blocks = self.of_blocks(queue)?;
        let begun = |(block, record, tasks): (usize, &[u64], &[T])| {
            (record[record::UNDER_WAY] == record::BEGUN).then_some((block, tasks[0]))
        };
        Ok(blocks.each().filter_map(begun).collect())
    }

    /// The tasks that the last launch has not begun: none, unless it failed.
    ///
    /// # Errors
    /// If a GPU cannot be reached.
    pub fn unfinished(&self, queue: &Queue) -> Result<Vec<T>, CopyError> {
        let claimed = queue.elements(self.control.span())?[control::SEEDS].min(self.seed_count as u64);
        let seeds = self.seeds.span().range(claimed as usize..self.seed_count);
        let mut unfinished = queue.elements(seeds)?.into_owned();
        unfinished.extend(self.in_ring(queue)?);
        for (_, record, tasks) in self.of_blocks(queue)?.each() {
            let under_way = record[record::UNDER_WAY];
            let taken = under_way.checked_sub(record::TAKEN);
            unfinished.extend(taken.map(|_| tasks[0]));
            // A task that made more than it may has counted those that found no place, too.
            let most = record[record::BASE] + self.rules.most_spawns;
            let end = record[record::END];
            let end = if under_way == record::BEGUN { end.min(most) } else { end };
            let counts = (record[record::FIRST]..end).filter(|&count| Some(count) != taken);
            let place = |count: u64| 1 + (count & (self.rules.capacity - 1)) as usize;
            unfinished.extend(counts.map(|count| tasks[place(count)]));
        }
        Ok(unfinished)
    }

    /// Whether there is no task anywhere: then every slot of the ring is free.
    fn is_spent(&self, queue: &Queue) -> Result<bool, CopyError> {
        let idle =
            |record: &[u64]| record[record::FIRST] == record[record::END] && record[record::UNDER_WAY] == record::NONE;
        let (ring, records) = (queue.elements(self.ring.span())?, queue.elements(self.records.span())?);
        Ok(ring[HEAD] == ring[TAIL] & !CLOSED && records.chunks_exact(record::WORDS).all(idle))
    }

    fn of_blocks(&self, queue: &Queue) -> Result<OfBlocks<'_, T>, CopyError> {
        Ok(OfBlocks {
            records: queue.elements(self.records.span())?,
            local: queue.elements(self.local.span())?,
            elements: local::elements::<T>(self.rules.capacity as usize),
        })
    }

    /// Tasks in the ring. A thread that left between claiming a slot and filling it still has the task.
    fn in_ring(&self, queue: &Queue) -> Result<Vec<T>, CopyError> {
        let shift = self.states.len().trailing_zeros();
        let slot = |ticket: u64| (ticket & (self.states.len() as u64 - 1)) as usize;
        let (states, values) = (queue.elements(self.states.span())?, queue.elements(self.values.span())?);
        let ring = queue.elements(self.ring.span())?;
        Ok((ring[HEAD]..ring[TAIL] & !CLOSED)
            .filter(|&ticket| states[slot(ticket)] == free_state(ticket, shift).wrapping_add(1))
            .map(|ticket| values[slot(ticket)])
            .collect())
    }
}

/// What the blocks have, as the host sees it.
struct OfBlocks<'a, T: Pod> {
    records: Cow<'a, [u64]>,
    local: Cow<'a, [T]>,
    elements: usize,
}

impl<T: Pod> OfBlocks<'_, T> {
    /// Of each block its number, its record, and the task under way with its buffer behind.
    fn each(&self) -> impl Iterator<Item = (usize, &[u64], &[T])> {
        let records = self.records.chunks_exact(record::WORDS);
        let blocks = records.zip(self.local.chunks_exact(self.elements)).enumerate();
        blocks.map(|(block, (record, tasks))| (block, record, tasks))
    }
}

impl Queue {
    /// Memory for a [`TaskQueue`] of a kernel whose tasks make at most `most_spawns` tasks each, with the capacity, order and
    /// counters of the options, for as many blocks as are resident together.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn task_memory<T: Pod>(
        &self,
        most_spawns: usize,
        options: TaskOptions<'_>,
    ) -> Result<TaskMemory<T>, AllocationError> {
        let blocks = self.device().most_resident_blocks().max(1);
        TaskMemory::new(self.device(), blocks, most_spawns, options)
    }
}

/// A queue without memory, to ask a kernel for its needs.
pub(super) fn nothing<'a, T: Pod>() -> TaskQueue<'a, T> {
    let empty_words = || SpanMut::new(&mut [] as &mut [u64]);
    TaskQueue::new(
        Ring::empty(),
        Span::new(&[]),
        [empty_words(), empty_words()],
        SpanMut::new(&mut []),
        Rules {
            capacity: 1,
            keep: 1,
            most_spawns: 0,
            generation_end: 0,
            order: Order::Lifo,
            counted: false,
        },
        None,
    )
}
