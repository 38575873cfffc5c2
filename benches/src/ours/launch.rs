//! Empty launches.

use super::device;
use crate::peers::launch::{Counters, rendezvous};
use gridwise::host::device::WaitPolicy;
use gridwise::prelude::*;
use std::time::Duration;

struct Touch<'a>(&'a Counters);

// SAFETY: each block touches its own counter, an atomic.
unsafe impl Kernel for Touch<'_> {
    const NAME: &'static str = "bench_empty_launch";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.0.touch(acc.block_index());
    }
}

/// `launches` launches of a block a worker, after the caller was busy elsewhere for `idle`.
pub fn launches(workers: usize, wait: WaitPolicy, launches: u64, idle: Duration) -> Duration {
    let device = device(workers, wait);
    let queue = device.queue();
    rendezvous(workers, launches, idle, |counters| {
        queue
            .launch(Blocks::Exactly(workers), Touch(counters))
            .expect("nothing can fail");
    })
}
