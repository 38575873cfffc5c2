//! Pinning by rank: thread `rank` to the `rank`-th core that this process may use.

#[cfg(target_os = "linux")]
use rustix::thread::CpuSet;
#[cfg(target_os = "linux")]
use std::sync::OnceLock;

/// How many cores this process may use.
pub fn cores() -> usize {
    #[cfg(target_os = "linux")]
    return allowed().len();
    #[cfg(not(target_os = "linux"))]
    return std::thread::available_parallelism().map_or(1, usize::from);
}

/// Pins the calling thread to the core of `rank`; ranks beyond the last core start over at the first. Does nothing where the system cannot pin.
///
/// Threads created afterwards inherit the pin, so create them first.
pub fn pin(rank: usize) {
    #[cfg(target_os = "linux")]
    {
        let allowed = allowed();
        let mut one = CpuSet::new();
        one.set(allowed[rank % allowed.len()]);
        // Best effort: an unpinned thread measures slower, not wrong.
        let _ = rustix::thread::sched_setaffinity(None, &one);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = rank;
}

/// Pins the calling thread to the first core that this process may use and that is not `taken`, or to the first of all.
pub fn pin_beside(taken: &[usize]) {
    #[cfg(target_os = "linux")]
    pin(allowed().iter().position(|core| !taken.contains(core)).unwrap_or(0));
    #[cfg(not(target_os = "linux"))]
    let _ = taken;
}

/// The core that the calling thread runs on; 0 where the system does not say.
pub fn current() -> usize {
    #[cfg(target_os = "linux")]
    return rustix::thread::sched_getcpu();
    #[cfg(not(target_os = "linux"))]
    return 0;
}

/// Lets the calling thread use all cores of the process again. It stays where it is until the scheduler moves it.
pub fn unpin() {
    #[cfg(target_os = "linux")]
    {
        let mut all = CpuSet::new();
        for &core in allowed() {
            all.set(core);
        }
        let _ = rustix::thread::sched_setaffinity(None, &all);
    }
}

/// The cores of the process's first thread, which nothing here ever pins.
#[cfg(target_os = "linux")]
fn allowed() -> &'static [usize] {
    static ALLOWED: OnceLock<Vec<usize>> = OnceLock::new();
    ALLOWED.get_or_init(|| {
        let process = rustix::process::getpid();
        match rustix::thread::sched_getaffinity(Some(process)) {
            Ok(set) if set.count() > 0 => (0..CpuSet::MAX_CPU).filter(|&cpu| set.is_set(cpu)).collect(),
            _ => vec![0],
        }
    })
}

#[cfg(all(test, target_os = "linux"))]
mod test {
    use super::*;

    #[test]
    fn a_thread_is_pinned_beside_those_that_are_taken() {
        let on = |taken: Vec<usize>| {
            let pinned = std::thread::spawn(move || {
                pin_beside(&taken);
                current()
            });
            pinned.join().unwrap()
        };
        let all = allowed();
        assert_eq!(on(vec![]), all[0]);
        assert_eq!(on(vec![all[0]]), *all.get(1).unwrap_or(&all[0]));
        assert_eq!(on(all.to_vec()), all[0]);
    }

    #[test]
    fn a_pinned_thread_may_use_one_core_and_the_others_keep_theirs() {
        let all = cores();
        let pinned = std::thread::spawn(|| {
            pin(1);
            let pinned = rustix::thread::sched_getaffinity(None).unwrap().count();
            unpin();
            (pinned, rustix::thread::sched_getaffinity(None).unwrap().count())
        });
        assert_eq!(pinned.join().unwrap(), (1, all as u32));
        assert_eq!(cores(), all);
    }
}
