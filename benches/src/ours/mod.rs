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
use gridwise::prelude::*;

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
    affinity::unpin();
    let device = Device::cpu(options).expect("the workers can be started");
    affinity::pin_beside(&cores_of_workers(&device));
    device
}

/// Each block tells on which core it runs.
struct Cores<'a> {
    cores: SpanMut<'a, u64>,
}

// SAFETY: each block writes its own element.
unsafe impl Kernel for Cores<'_> {
    const NAME: &'static str = "bench_cores";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.cores.set(acc, acc.block_index(), affinity::current() as u64);
    }
}

/// Where the workers are, without the calling thread, which runs the first block. Not every device pins them where one would expect: it takes the core that it
/// is opened on to be the caller's, and the scheduler may have moved the caller just then.
fn cores_of_workers(device: &Device) -> Vec<usize> {
    let workers = device.most_resident_blocks();
    let mut cores = device.zeroed(workers).expect("there is memory");
    let kernel = Cores {
        cores: cores.span_mut(),
    };
    let queue = device.queue();
    queue
        .launch(Blocks::Exactly(workers), kernel)
        .expect("nothing can fail");
    cores.span().as_slice()[1..].iter().map(|&core| core as usize).collect()
}
