//! The gridwise side of each comparison.
//!
//! Every sample opens a device of its own, outside the time that counts, and closes it again, so that no worker spins while a peer is measured.

pub mod barrier;
pub mod jacobi;
pub mod launch;
pub mod neighbour_sum;
pub mod queues;

use crate::affinity;
use gridwise::host::device::{CpuOptions, Device, WaitPolicy};

/// A device with that many workers, one a block, which wait actively as the peers do. The calling thread is pinned as theirs are: the device leaves it to
/// the scheduler, which may put it on the core of a worker.
///
/// # Panics
///
/// If the workers cannot be started: there is nothing to measure then.
pub fn device(workers: usize, wait: WaitPolicy) -> Device {
    let options = CpuOptions {
        resident_blocks: workers,
        wait,
        ..CpuOptions::default()
    };
    // The device takes the core that it is opened on to be the caller's.
    affinity::pin(0);
    affinity::unpin();
    let device = Device::cpu(options).expect("the workers can be started");
    affinity::pin(0);
    device
}
