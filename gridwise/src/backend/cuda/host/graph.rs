//! Launches that are recorded once and replayed as one.

use std::time::Duration;

use super::{
    CudaDevice,
    context::{Context, Current},
    driver::{CaptureMode, RawEvent, RawGraph, RawGraphExec, Refusal},
    launch::Arguments,
    stream::Stream,
};
use crate::{
    host::{
        driver::DriverError,
        launch::{Demand, LaunchError, LaunchPlan},
    },
    kernel::{Kernel, grid_barrier::GridState},
    sync::Arc,
};

/// See the module. It is replayed on the stream that it was recorded on.
pub(crate) struct Replay {
    context: Arc<Context>,
    graph: RawGraph,
    executable: RawGraphExec,
}

/// `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`: only calls of the recording thread are kept from what would disturb a recording.
const THREAD_LOCAL: CaptureMode = 1;

impl CudaDevice {
    /// Records plain launches of one kernel with different arguments, all by one plan.
    pub(crate) fn record<K: Kernel>(
        &self,
        stream: &Stream,
        plan: &LaunchPlan,
        kernels: Vec<K>,
    ) -> Result<Replay, LaunchError> {
        let refused = |source| LaunchError::Driver {
            kernel: plan.kernel,
            source,
        };
        let Some(first) = kernels.first() else {
            unreachable!("there is something to record")
        };
        let function = self.function(&Demand::of(first))?;
        let mut replay = Replay {
            context: stream.context().clone(),
            graph: RawGraph::NONE,
            executable: RawGraphExec::NONE,
        };
        let current = stream.context().enter().map_err(refused)?;
        let raw = stream.raw();
        current
            // SAFETY: a stream of this context, on which nothing runs.
            .call(|driver| unsafe { driver.capture_begin(raw, THREAD_LOCAL) })
            .map_err(refused)?;
        let launched = kernels.into_iter().try_for_each(|kernel| {
            let mut arguments = Arguments::new(stream, plan, GridState::none(), kernel);
            arguments.launch(function, plan, stream, &current)
        });
        // The recording ends in any case.
        // SAFETY: begun above; it stores a handle.
        let ended = current.raw(|driver| unsafe { driver.capture_end(raw, &raw mut replay.graph) });
        let instantiated = launched.and(ended).and_then(|()| {
            // SAFETY: a graph of this context; it stores a handle.
            current.raw(|driver| unsafe { driver.graph_instantiate(&raw mut replay.executable, replay.graph, 0) })
        });
        match instantiated {
            Ok(()) => Ok(replay),
            Err(refusal) => Err(self.not_launched(stream, plan, &current, refusal)),
        }
    }

    /// Replays recorded launches, as one launch by the plan.
    pub(crate) fn replay(&self, stream: &Stream, plan: &LaunchPlan, replay: &Replay) -> Result<(), LaunchError> {
        let current = stream.context().enter().map_err(|source| LaunchError::Driver {
            kernel: plan.kernel,
            source,
        })?;
        // The launches have its address from the recording.
        stream.fresh_fault();
        let launched = replay.launch(&current, stream);
        self.finish(stream, plan, &current, launched)
    }

    /// How long the device takes for recorded launches, by its own clock.
    pub(crate) fn time_of(&self, stream: &Stream, replay: &Replay) -> Result<Duration, DriverError> {
        let current = stream.context().enter()?;
        let (start, end) = (Event::new(&current)?, Event::new(&current)?);
        start.record(stream)?;
        let launched = replay.launch(&current, stream);
        current.call(|_| launched)?;
        end.record(stream)?;
        end.since(&start)
    }
}

impl Replay {
    fn launch(&self, current: &Current<'_>, stream: &Stream) -> Result<(), Refusal> {
        // SAFETY: an executable graph of this context, which does not run yet, because every replay is waited for; what its
        // launches do was vouched for when they were recorded.
        current.raw(|driver| unsafe { driver.graph_launch(self.executable, stream.raw()) })
    }
}

impl Drop for Replay {
    fn drop(&mut self) {
        let Ok(current) = self.context.enter() else { return };
        if self.executable != RawGraphExec::NONE {
            // SAFETY: made for this, and not running.
            let _ = current.call(|driver| unsafe { driver.graph_executable_destroy(self.executable) });
        }
        if self.graph != RawGraph::NONE {
            // SAFETY: made for this.
            let _ = current.call(|driver| unsafe { driver.graph_destroy(self.graph) });
        }
    }
}

/// A moment on a stream, by the device's clock.
struct Event<'a> {
    current: &'a Current<'a>,
    raw: RawEvent,
}

impl<'a> Event<'a> {
    fn new(current: &'a Current<'a>) -> Result<Self, DriverError> {
        let mut raw = RawEvent::NONE;
        // SAFETY: it stores a handle.
        current.call(|driver| unsafe { driver.event_create(&raw mut raw, 0) })?;
        Ok(Self { current, raw })
    }

    fn record(&self, stream: &Stream) -> Result<(), DriverError> {
        // SAFETY: an event and a stream of this context.
        self.current
            .call(|driver| unsafe { driver.event_record(self.raw, stream.raw()) })
    }

    /// Waits for it, and says how long it was after another.
    fn since(&self, start: &Self) -> Result<Duration, DriverError> {
        let current = self.current;
        // SAFETY: an event of this context.
        current.call(|driver| unsafe { driver.event_synchronize(self.raw) })?;
        let mut milliseconds = 0.0;
        // SAFETY: two events that were recorded and are complete; it stores a number.
        current.call(|driver| unsafe { driver.event_elapsed(&raw mut milliseconds, start.raw, self.raw) })?;
        Ok(Duration::from_secs_f32(milliseconds.max(0.0) / 1e3))
    }
}

impl Drop for Event<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this.
        let _ = self.current.call(|driver| unsafe { driver.event_destroy(self.raw) });
    }
}
