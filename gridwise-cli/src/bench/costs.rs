//! What synchronisation costs: barriers and launches with nothing between.

use std::{
    thread,
    time::{Duration, Instant},
};

use gridwise::{
    Error,
    host::{device::Device, launch::Blocks, queue::QueueOptions},
    kernel::grid_barrier::BarrierShape,
};
use serde::Serialize;

use super::{
    kernels::{self, Nothing},
    sampling::{Effort, Timing},
};

/// How long the device is left alone before a launch: workers that wait adaptively sleep by then.
pub(super) const IDLE: Duration = Duration::from_millis(20);

/// A grid barrier.
#[derive(Debug, Serialize)]
pub(super) struct GridBarrier {
    pub(super) shape: &'static str,
    /// Whether it is the one for grids of that size, where no other is asked for.
    pub(super) default: bool,
    #[serde(flatten)]
    pub(super) timing: Timing,
}

/// A launch of a kernel that does nothing.
#[derive(Debug, Serialize)]
pub(super) struct EmptyLaunch {
    /// One right after another.
    pub(super) hot: Timing,
    pub(super) idle_milliseconds: u64,
    /// After that time in which nobody used the device.
    pub(super) after_idle: Timing,
}

pub(super) fn grid_barriers(device: &Device, effort: Effort) -> Result<Vec<GridBarrier>, Error> {
    let default = BarrierShape::for_blocks(device.most_resident_blocks());
    [
        ("flip", BarrierShape::Flip),
        ("counter", BarrierShape::Counter),
        ("tree", BarrierShape::Tree),
    ]
    .into_iter()
    .map(|(name, shape)| {
        let queue = device.queue_with(QueueOptions::default().barrier(shape));
        Ok(GridBarrier {
            shape: name,
            default: shape == default,
            timing: effort.measure(|rounds| kernels::grid_barriers(&queue, rounds))?,
        })
    })
    .collect()
}

/// `None` where a block has one thread, and its barriers vanish.
pub(super) fn block_barrier(device: &Device, effort: Effort) -> Result<Option<Timing>, Error> {
    if device.properties().threads_per_block == 1 {
        return Ok(None);
    }
    let queue = device.queue();
    effort
        .measure(|rounds| kernels::block_barriers(&queue, rounds))
        .map(Some)
}

pub(super) fn empty_launch(device: &Device, effort: Effort) -> Result<EmptyLaunch, Error> {
    let queue = device.queue();
    let launch = || queue.launch(Blocks::Resident, Nothing);
    let hot = effort.measure(|rounds| {
        let start = Instant::now();
        for _ in 0..rounds {
            launch()?;
        }
        Ok::<_, Error>(start.elapsed())
    })?;
    let after_idle = (0..effort.single_tries())
        .map(|_| {
            thread::sleep(IDLE);
            let start = Instant::now();
            launch()?;
            Ok(start.elapsed().as_nanos() as f64)
        })
        .collect::<Result<_, Error>>()?;
    Ok(EmptyLaunch {
        hot,
        idle_milliseconds: IDLE.as_millis() as u64,
        after_idle: Timing::of(after_idle),
    })
}
