//! Queues: work in order.

use std::{borrow::Cow, sync::OnceLock, time::Duration};

use bytemuck::Pod;

use super::{
    buffer::{AllocationError, Buffer, CopyError},
    circle::Circle,
    device::Device,
    error::Error,
    event::Event,
    lane::{Lane, Turn},
    launch::{Demand, Grid, LaunchError, Placement, Terms},
    scope::Dispatcher,
    stream::Stream,
};
use crate::{
    kernel::{GridKernel, Kernel, Span, SpanMut, grid_barrier::BarrierShape},
    sync::{Arc, Mutex},
};

/// What every launch of a queue is subject to.
///
/// ```
/// # use gridwise::prelude::*;
/// # use std::time::Duration;
/// let options = QueueOptions::default().timeout(Duration::from_secs(10)).headroom(1);
/// let queue = Device::open("cpu:blocks=2")?.queue_with(options);
/// # Ok::<(), gridwise::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueOptions {
    terms: Terms,
}

impl QueueOptions {
    /// Gives up a launch that has run for that long: it ends with [`LaunchError::TimedOut`], which says where each thread stood.
    ///
    /// Threads notice at barriers and in waits; one that computes for ever without either cannot be stopped, and a launch that ends
    /// before its threads have noticed has ended well. On a CPU the block barrier of a block of one thread is nothing at all, and so
    /// no such place; its votes, reductions and scans are.
    ///
    /// The time counts from when the kernel starts: a launch that waits to be let in behind another on the same device is not given
    /// up for that.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.terms.timeout = Some(timeout);
        self
    }

    /// Leaves room for that many blocks of other work: a cooperative launch gets so many fewer.
    pub fn headroom(mut self, blocks: usize) -> Self {
        self.terms.headroom = blocks;
        self
    }

    /// Which grid barrier cooperative launches use, instead of the one that suits the number of blocks.
    pub fn barrier(mut self, shape: BarrierShape) -> Self {
        self.terms.barrier = Some(shape);
        self
    }
}

/// A queue of a device: what is asked of it happens in order.
///
/// Its methods return when the work is done, or with its error. [`scope`](Self::scope) lets the host go on meanwhile. Threads
/// may share a queue: their work then takes turns.
///
/// ```
/// # use gridwise::prelude::*;
/// let device = Device::open("cpu:blocks=1")?;
/// let queue = device.queue();
/// let (input, mut middle) = (queue.upload(&[1, 2, 3, 4])?, device.zeroed(2)?);
/// queue.copy(input.span().range(1..3), middle.span_mut())?;
/// assert_eq!(queue.download(&middle)?, [2, 3]);
/// # Ok::<(), gridwise::Error>(())
/// ```
/// # Inside its own work
///
/// A closure that runs on a queue may use that queue, by any name. What it asks for is part of its turn, and in order as
/// everywhere: blocking calls come after what is enqueued in a scope that the closure opened, and threads that share the queue
/// take turns. Waiting for work of the same queue that comes after the closure's own is an error, [`Error::WaitsForItself`],
/// or a panic where the call returns none.
///
/// So it is where several threads wait for each other in a circle, each inside the work of one queue for work of the next: one of
/// the waits fails, a launch with [`LaunchError::WaitsForItself`]. What is not found are circles that go through something else, a
/// lock or a channel of the program, a kernel that waits, or a launch that waits to be let in on a device.
///
/// # Inside a kernel
///
/// A kernel that used a queue of its own device would wait for itself. Launches and runs return [`LaunchError::Nested`],
/// [`scope`](Self::scope) returns [`Error::InsideKernel`], and a ticket of it [`Error::WaitsForItself`], unless it is done; every
/// other call that waits or copies panics, which ends the launch with [`LaunchError::Panicked`]. A kernel may use another device; a
/// kernel there is told the same of this one.
///
/// [`Error::WaitsForItself`]: crate::Error::WaitsForItself
/// [`Error::InsideKernel`]: crate::Error::InsideKernel
#[derive(Debug)]
pub struct Queue {
    device: Device,
    options: QueueOptions,
    pub(super) lane: Arc<Lane>,
    pub(super) dispatcher: Mutex<Option<Dispatcher>>,
    /// The queue that work on this one uses.
    inner: OnceLock<Arc<Queue>>,
    /// Shared with the queue that this one is inside of: who has a turn here has one there.
    pub(super) stream: Arc<Stream>,
}

impl Queue {
    pub(crate) fn new(device: Device, options: QueueOptions) -> Self {
        let lane = Lane::of(device.number());
        Self::on(Arc::new(lane), Arc::default(), device, options)
    }

    fn on(lane: Arc<Lane>, stream: Arc<Stream>, device: Device, options: QueueOptions) -> Self {
        Self {
            device,
            options,
            lane,
            dispatcher: Mutex::new(None),
            inner: OnceLock::new(),
            stream,
        }
    }

    /// The queue that work on this one uses: whoever uses it has a turn on this one.
    pub(super) fn inner(&self) -> &Arc<Self> {
        self.inner.get_or_init(|| {
            let lane = self.lane.inner().clone();
            Arc::new(Self::on(lane, self.stream.clone(), self.device.clone(), self.options))
        })
    }

    /// The queue that a call by this thread is for: this one, or, inside its own work, one inside it.
    #[inline]
    pub(super) fn here(&self) -> &Self {
        let mut queue = self;
        while queue.lane.has_turn() {
            queue = queue.inner();
        }
        queue
    }

    /// Waits for what was asked of the queue before, and keeps others out until the turn is dropped.
    #[track_caller]
    pub(super) fn turn(&self) -> Turn<'_> {
        assert!(
            !self.device.runs_here(),
            "a queue was used from inside a kernel of its own device, which would wait for itself; use it before or after the \
             launch"
        );
        let turn = self.here().lane.turn();
        turn.unwrap_or_else(|Circle| panic!("{}", Error::WaitsForItself))
    }

    /// [`turn`](Self::turn), for a launch that is not inside a kernel of the device.
    #[inline]
    fn turn_of_launch(&self, kernel: &'static str) -> Result<Turn<'_>, LaunchError> {
        let turn = self.here().lane.turn();
        turn.map_err(|Circle| LaunchError::WaitsForItself { kernel })
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn terms(&self) -> Terms {
        self.options.terms
    }

    /// Whether everything that was asked of the queue is done. Inside the queue's own work it is not.
    pub fn is_idle(&self) -> bool {
        self.lane.is_idle()
    }

    /// Waits until everything that was asked of the queue is done. Inside the queue's own work: everything that this work asked
    /// of it.
    #[track_caller]
    pub fn wait(&self) {
        drop(self.turn());
    }

    /// Runs `kernel` on a grid whose blocks may run in any order, at the same time or one after another.
    ///
    /// # Errors
    /// If the launch is refused, a thread panics, the threads deadlock, or time runs out.
    pub fn launch<K: Kernel>(&self, grid: impl Into<Grid>, kernel: K) -> Result<(), LaunchError> {
        self.launch_on(grid.into(), kernel, self.options.terms)
    }

    /// [`launch`](Self::launch), on other terms than the queue's.
    pub(super) fn launch_on<K: Kernel>(&self, grid: Grid, kernel: K, terms: Terms) -> Result<(), LaunchError> {
        // Before the turn, which the launch that this is inside of may have.
        self.device.refuse_nested(K::NAME)?;
        let _turn = self.turn_of_launch(K::NAME)?;
        let plan = self.device.plan(Demand::of(&kernel), grid, Placement::Anyhow, terms);
        // By reference: a plan is long, and moving it takes a tenth of an empty launch.
        match &plan {
            Ok(Some(plan)) => self.device.launch(&self.stream, plan, kernel),
            _ => plan.map(drop),
        }
    }

    /// Runs `kernel` on a grid whose blocks are all resident together, so that they may wait for each other. Nothing else runs
    /// on the device meanwhile.
    ///
    /// # Errors
    /// As [`launch`](Self::launch); and if the grid cannot be resident.
    pub fn launch_cooperative<K: GridKernel>(&self, grid: impl Into<Grid>, kernel: K) -> Result<(), LaunchError> {
        // Before the turn, which the launch that this is inside of may have.
        self.device.refuse_nested(K::NAME)?;
        let _turn = self.turn_of_launch(K::NAME)?;
        let terms = self.options.terms;
        let plan = self
            .device
            .plan(Demand::of_grid(&kernel), grid.into(), Placement::Together, terms);
        match &plan {
            Ok(Some(plan)) => self.device.launch_cooperative(&self.stream, plan, kernel),
            _ => plan.map(drop),
        }
    }

    /// A new buffer with the elements of `data`.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[track_caller]
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<Buffer<T>, AllocationError> {
        let _turn = self.turn();
        let mut buffer = self.device.to_be_written(data.len())?;
        self.move_all(Span::new(data), buffer.span_mut())?;
        Ok(buffer)
    }

    /// The elements of a buffer. Of a part of it: [`read`](Self::read).
    ///
    /// # Errors
    /// If there is no memory for them.
    #[track_caller]
    pub fn download<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Vec<T>, AllocationError> {
        let _turn = self.turn();
        let mut data = Vec::new();
        let reserved = data.try_reserve_exact(buffer.len());
        reserved.map_err(|_| AllocationError::of::<T>(buffer.len()))?;
        if let Some(elements) = buffer.span().on_host() {
            data.extend_from_slice(elements);
        } else {
            data.resize(buffer.len(), T::zeroed());
            self.move_all(buffer.span(), SpanMut::new(&mut data))?;
        }
        Ok(data)
    }

    /// Copies all of a buffer's elements; the lengths are the same.
    fn move_all<T: Pod>(&self, source: Span<'_, T>, destination: SpanMut<'_, T>) -> Result<(), AllocationError> {
        let len = source.len();
        match self.stream.copy(&self.device, source, destination) {
            Err(CopyError::Driver(driver)) => Err(AllocationError {
                driver: Some(driver),
                ..AllocationError::of::<T>(len)
            }),
            Ok(()) | Err(CopyError::Lengths { .. }) => Ok(()),
        }
    }

    /// The elements of a view as the host has them: themselves where it reaches them, else a copy.
    pub(crate) fn elements<'a, T: Pod>(&self, source: Span<'a, T>) -> Result<Cow<'a, [T]>, CopyError> {
        match source.on_host() {
            Some(elements) => Ok(Cow::Borrowed(elements)),
            None => {
                let mut elements = vec![T::zeroed(); source.len()];
                self.read(source, &mut elements)?;
                Ok(Cow::Owned(elements))
            }
        }
    }

    /// Changes the elements of a view as the host has them: in place where it reaches them, else in a copy that is put back.
    pub(crate) fn edit<T: Pod>(&self, view: SpanMut<'_, T>, edit: impl FnOnce(&mut [T])) -> Result<(), CopyError> {
        match view.on_host() {
            Ok(elements) => {
                edit(elements);
                Ok(())
            }
            Err(view) => {
                let mut elements = vec![T::zeroed(); view.len()];
                let _turn = self.turn();
                self.stream
                    .copy(&self.device, view.as_span(), SpanMut::new(&mut elements))?;
                edit(&mut elements);
                self.stream.copy(&self.device, Span::new(&elements), view)
            }
        }
    }

    /// Copies from the host into `destination`.
    ///
    /// # Errors
    /// If the lengths differ.
    #[track_caller]
    pub fn write<T: Pod>(&self, source: &[T], destination: SpanMut<'_, T>) -> Result<(), CopyError> {
        let _turn = self.turn();
        self.stream.copy(&self.device, Span::new(source), destination)
    }

    /// Copies from `source` to the host.
    ///
    /// # Errors
    /// If the lengths differ.
    #[track_caller]
    pub fn read<T: Pod>(&self, source: Span<'_, T>, destination: &mut [T]) -> Result<(), CopyError> {
        let _turn = self.turn();
        self.stream.copy(&self.device, source, SpanMut::new(destination))
    }

    /// Copies from `source` into `destination` on the device.
    ///
    /// # Errors
    /// If the lengths differ.
    #[track_caller]
    pub fn copy<T: Pod>(&self, source: Span<'_, T>, destination: SpanMut<'_, T>) -> Result<(), CopyError> {
        let _turn = self.turn();
        self.stream.copy(&self.device, source, destination)
    }

    /// Sets every element of `destination` to `value`. Should the driver of a GPU fail here, the next call on the queue that
    /// returns an error says so.
    #[track_caller]
    pub fn fill<T: Pod>(&self, destination: SpanMut<'_, T>, value: T) {
        let _turn = self.turn();
        self.stream.fill(&self.device, destination, value);
    }

    /// Sets every byte of `destination` to `value`; as [`fill`](Self::fill).
    #[track_caller]
    pub fn fill_bytes<T: Pod>(&self, destination: SpanMut<'_, T>, value: u8) {
        let _turn = self.turn();
        self.stream.fill_bytes(&self.device, destination, value);
    }

    /// Runs a closure of the host in its turn.
    #[track_caller]
    pub fn host<R>(&self, closure: impl FnOnce() -> R) -> R {
        let _turn = self.turn();
        closure()
    }

    /// Records an event behind the work so far; it is complete when this returns.
    #[track_caller]
    pub fn record(&self, event: &Event) {
        let _turn = self.turn();
        event.record_complete();
    }

    /// Waits for an event: work after this comes after what was recorded.
    ///
    /// # Panics
    /// In work on a queue, if the recording stands behind that very work, if by way of other queues, so that the wait would never
    /// end.
    #[track_caller]
    pub fn wait_for(&self, event: &Event) {
        let recording = event.latest();
        let lane = &self.here().lane;
        let _turn = self.turn();
        if let Err(error) = event.wait_for(recording, Some(lane)) {
            panic!("{error}")
        }
    }
}
