//! Queues: work in order.

use std::{cell::RefCell, time::Duration};

use bytemuck::Pod;

use super::{
    buffer::{AllocationError, Buffer, CopyError},
    device::Device,
    event::Event,
    launch::{Demand, Grid, LaunchError, Placement, Terms},
    scope::Dispatcher,
};
use crate::{
    kernel::{GridKernel, Kernel, Span, SpanMut, grid_barrier::BarrierShape},
    sync::{Arc, Condvar, Mutex, MutexGuard, lock},
};

/// What every launch of a queue is subject to.
#[derive(Clone, Copy, Debug, Default)]
pub struct QueueOptions {
    terms: Terms,
}

impl QueueOptions {
    /// Gives up a launch that has run for that long: it ends with [`LaunchError::TimedOut`], which says where each thread stood.
    ///
    /// Threads notice at barriers and in waits; one that computes for ever without either cannot be stopped.
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
#[derive(Debug)]
pub struct Queue {
    device: Device,
    options: QueueOptions,
    lane: Option<Arc<Lane>>,
    pub(super) dispatcher: Mutex<Option<Dispatcher>>,
}

/// What keeps a queue's work in order: the blocking calls and the pieces of scopes take turns.
#[derive(Debug, Default)]
pub(super) struct Lane {
    turn: Mutex<()>,
    /// Pieces that are enqueued and not finished.
    pending: std::sync::atomic::AtomicUsize,
    finished: Condvar,
}

thread_local! {
    /// The lanes whose turns this thread has: calls on their queues from inside the work are part of it.
    static TURNS: RefCell<Vec<*const Lane>> = const { RefCell::new(Vec::new()) };
}

/// A turn on a lane, until it is dropped.
struct Turn<'a> {
    _guard: MutexGuard<'a, ()>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // A guard stays on its thread, and turns end in the reverse of their order.
        TURNS.with_borrow_mut(Vec::pop);
    }
}

impl Lane {
    pub(super) fn enqueue(&self) {
        self.pending.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    }

    /// Runs a piece in its turn.
    pub(super) fn run_piece<R>(&self, piece: impl FnOnce() -> R) -> R {
        let turn = self.enter(lock(&self.turn));
        let result = piece();
        self.pending.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
        drop(turn);
        self.finished.notify_all();
        result
    }

    /// Waits for the pieces before, and keeps others out; `None` inside this lane's own work.
    fn take_turn(&self) -> Option<Turn<'_>> {
        if self.has_turn() {
            return None;
        }
        let mut guard = lock(&self.turn);
        while self.pending.load(std::sync::atomic::Ordering::SeqCst) != 0 {
            guard = self
                .finished
                .wait(guard)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        Some(self.enter(guard))
    }

    fn enter<'a>(&self, guard: MutexGuard<'a, ()>) -> Turn<'a> {
        TURNS.with_borrow_mut(|turns| turns.push(self));
        Turn { _guard: guard }
    }

    /// Whether this thread is inside the lane's work.
    fn has_turn(&self) -> bool {
        TURNS.with_borrow(|turns| turns.contains(&std::ptr::from_ref(self)))
    }

    fn is_idle(&self) -> bool {
        self.pending.load(std::sync::atomic::Ordering::SeqCst) == 0 && self.turn.try_lock().is_ok()
    }
}

impl Queue {
    pub(crate) fn new(device: Device, options: QueueOptions) -> Self {
        Self {
            device,
            options,
            lane: Some(Arc::default()),
            dispatcher: Mutex::new(None),
        }
    }

    /// The queue that a piece of work sees: it is in order by being part of the piece.
    pub(super) fn inline(device: Device, options: QueueOptions) -> Self {
        Self {
            device,
            options,
            lane: None,
            dispatcher: Mutex::new(None),
        }
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub(super) fn terms(&self) -> Terms {
        self.options.terms
    }

    pub(super) fn options(&self) -> QueueOptions {
        self.options
    }

    pub(super) fn lane(&self) -> Option<&Arc<Lane>> {
        self.lane.as_ref()
    }

    fn turn(&self) -> Option<Turn<'_>> {
        self.lane.as_ref().and_then(|lane| lane.take_turn())
    }

    /// Whether the calling thread is inside the queue's own work.
    pub(super) fn is_running_here(&self) -> bool {
        self.lane.as_ref().is_some_and(|lane| lane.has_turn())
    }

    /// Whether everything that was asked of the queue is done. Inside the queue's own work it is not.
    pub fn is_idle(&self) -> bool {
        self.lane.as_ref().is_some_and(|lane| lane.is_idle())
    }

    /// Waits until everything that was asked of the queue is done.
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
        let _turn = self.turn();
        match self.device.plan(Demand::of(&kernel), grid, Placement::Anyhow, terms)? {
            Some(plan) => self.device.launch(&plan, kernel),
            None => Ok(()),
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
        let _turn = self.turn();
        match self.device.plan(
            Demand::of_grid(&kernel),
            grid.into(),
            Placement::Together,
            self.options.terms,
        )? {
            Some(plan) => self.device.launch_cooperative(&plan, kernel),
            None => Ok(()),
        }
    }

    /// A new buffer with the elements of `data`.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[track_caller]
    pub fn upload<T: Pod>(&self, data: &[T]) -> Result<Buffer<T>, AllocationError> {
        let _turn = self.turn();
        let mut buffer = self.device.zeroed(data.len())?;
        buffer.span_mut().into_slice().copy_from_slice(data);
        Ok(buffer)
    }

    /// The elements of a buffer.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub fn download<T: Pod>(&self, buffer: &Buffer<T>) -> Result<Vec<T>, AllocationError> {
        let _turn = self.turn();
        let mut data = Vec::new();
        let error = AllocationError {
            len: buffer.len(),
            element_bytes: size_of::<T>(),
        };
        data.try_reserve_exact(buffer.len()).map_err(|_| error)?;
        data.extend_from_slice(&buffer.span());
        Ok(data)
    }

    /// Copies from the host into `destination`.
    ///
    /// # Errors
    /// If the lengths differ.
    pub fn write<T: Pod>(&self, source: &[T], destination: SpanMut<'_, T>) -> Result<(), CopyError> {
        let _turn = self.turn();
        copy(source, destination.into_slice())
    }

    /// Copies from `source` to the host.
    ///
    /// # Errors
    /// If the lengths differ.
    pub fn read<T: Pod>(&self, source: Span<'_, T>, destination: &mut [T]) -> Result<(), CopyError> {
        let _turn = self.turn();
        copy(&source, destination)
    }

    /// Copies from `source` into `destination` on the device.
    ///
    /// # Errors
    /// If the lengths differ.
    pub fn copy<T: Pod>(&self, source: Span<'_, T>, destination: SpanMut<'_, T>) -> Result<(), CopyError> {
        let _turn = self.turn();
        copy(&source, destination.into_slice())
    }

    /// Sets every element of `destination` to `value`.
    pub fn fill<T: Pod>(&self, destination: SpanMut<'_, T>, value: T) {
        let _turn = self.turn();
        destination.into_slice().fill(value);
    }

    /// Sets every byte of `destination` to `value`.
    pub fn fill_bytes<T: Pod>(&self, destination: SpanMut<'_, T>, value: u8) {
        let _turn = self.turn();
        bytemuck::cast_slice_mut::<T, u8>(destination.into_slice()).fill(value);
    }

    /// Runs a closure of the host in its turn.
    pub fn host<R>(&self, closure: impl FnOnce() -> R) -> R {
        let _turn = self.turn();
        closure()
    }

    /// Records an event behind the work so far; it is complete when this returns.
    pub fn record(&self, event: &Event) {
        let recording = event.record();
        let _turn = self.turn();
        event.complete(recording);
    }

    /// Waits for an event: work after this comes after what was recorded.
    pub fn wait_for(&self, event: &Event) {
        let recording = event.latest();
        let _turn = self.turn();
        event.wait_for(recording);
    }
}

fn copy<T: Pod>(source: &[T], destination: &mut [T]) -> Result<(), CopyError> {
    if source.len() != destination.len() {
        return Err(CopyError::Lengths {
            source_len: source.len(),
            destination_len: destination.len(),
        });
    }
    destination.copy_from_slice(source);
    Ok(())
}
