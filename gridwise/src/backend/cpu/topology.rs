//! Which cores this process may use, and pinning threads to them.

use std::num::NonZero;

/// Cores that the process may use, as the scheduler numbers them; empty where that cannot be asked.
#[cfg(target_os = "linux")]
fn allowed_cores() -> Vec<usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};
    sched_getaffinity(None)
        .map(|set| (0..CpuSet::MAX_CPU).filter(|&core| set.is_set(core)).collect())
        .unwrap_or_default()
}

#[cfg(not(target_os = "linux"))]
fn allowed_cores() -> Vec<usize> {
    Vec::new()
}

/// What the process may use of the machine.
#[derive(Clone, Debug)]
pub(crate) struct Topology {
    /// Cores' worth of time: limited by the affinity mask and by the cgroup quota.
    pub(crate) parallelism: usize,
    /// Cores to pin to, the caller's own first; empty where pinning would do harm or cannot be done.
    pub(crate) cores: Vec<usize>,
}

impl Topology {
    pub(crate) fn of_this_process() -> Self {
        let parallelism = std::thread::available_parallelism().map_or(1, NonZero::get);
        let mut cores = allowed_cores();
        if cores.len() != parallelism {
            // A quota smaller than the mask: the scheduler should be free to move threads to idle cores.
            cores.clear();
        }
        if let Some(here) = current_core().and_then(|here| cores.iter().position(|&core| core == here)) {
            cores.rotate_left(here);
        }
        Self { parallelism, cores }
    }
}

#[cfg(target_os = "linux")]
fn current_core() -> Option<usize> {
    Some(rustix::thread::sched_getcpu())
}

#[cfg(not(target_os = "linux"))]
fn current_core() -> Option<usize> {
    None
}

/// Pins the calling thread. A refusal is ignored: the thread then runs wherever the scheduler puts it, which is right, if slower.
#[cfg(target_os = "linux")]
pub(super) fn pin(core: usize) {
    use rustix::thread::{CpuSet, sched_setaffinity};
    let mut set = CpuSet::new();
    set.set(core);
    let _ = sched_setaffinity(None, &set);
}

#[cfg(not(target_os = "linux"))]
pub(super) fn pin(_: usize) {}
