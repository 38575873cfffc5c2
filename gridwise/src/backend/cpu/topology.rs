//! Which cores this process may use, and pinning threads to them.

use std::num::NonZero;

use crate::host::device::CoreLimit;

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
    /// Cores of the machine.
    pub(crate) machine: usize,
    /// What keeps the process from all of them.
    pub(crate) limit: CoreLimit,
    /// Cores to pin to, the caller's own first; empty where pinning would do harm or cannot be done.
    pub(crate) cores: Vec<usize>,
}

impl Topology {
    pub(crate) fn of_this_process() -> Self {
        let parallelism = std::thread::available_parallelism().map_or(1, NonZero::get);
        let mut cores = allowed_cores();
        let allowed = if cores.is_empty() { parallelism } else { cores.len() };
        let machine = online_cores().unwrap_or(allowed).max(allowed);
        if cores.len() != parallelism {
            // A quota smaller than the mask: the scheduler should be free to move threads to idle cores.
            cores.clear();
        }
        if let Some(here) = current_core().and_then(|here| cores.iter().position(|&core| core == here)) {
            cores.rotate_left(here);
        }
        Self {
            parallelism,
            machine,
            limit: core_limit(machine, allowed, parallelism),
            cores,
        }
    }
}

/// What makes `parallelism` of the machine's cores, of which the affinity mask allows `allowed`.
fn core_limit(machine: usize, allowed: usize, parallelism: usize) -> CoreLimit {
    if parallelism < allowed {
        CoreLimit::Quota
    } else if allowed < machine {
        CoreLimit::AffinityMask
    } else {
        CoreLimit::Machine
    }
}

/// Cores that are switched on, whoever may use them.
fn online_cores() -> Option<usize> {
    count_cores(&std::fs::read_to_string("/sys/devices/system/cpu/online").ok()?)
}

/// How many cores a list like `0-3,8` names.
fn count_cores(list: &str) -> Option<usize> {
    list.trim().split(',').try_fold(0, |count, range| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(count + last.checked_sub(first)? + 1)
    })
}

/// Miri does not know it.
#[cfg(all(target_os = "linux", not(miri)))]
fn current_core() -> Option<usize> {
    Some(rustix::thread::sched_getcpu())
}

#[cfg(any(not(target_os = "linux"), miri))]
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

#[cfg(all(test, not(loom)))]
mod test {
    use super::*;

    #[test]
    fn lists_of_cores_are_counted() {
        assert_eq!(count_cores("0-1\n"), Some(2));
        assert_eq!(count_cores("0"), Some(1));
        assert_eq!(count_cores("0-3,8,10-11\n"), Some(7));
        for bad in ["", "\n", "3-1", "0-", "all"] {
            assert_eq!(count_cores(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn the_tightest_limit_is_the_one_named() {
        assert_eq!(core_limit(8, 8, 8), CoreLimit::Machine);
        assert_eq!(core_limit(8, 4, 4), CoreLimit::AffinityMask);
        assert_eq!(core_limit(8, 8, 2), CoreLimit::Quota);
        assert_eq!(core_limit(8, 4, 2), CoreLimit::Quota);
    }
}
