//! How long threads look for what they wait for before they sleep. Why so long: see `README.md`.

use std::time::{Duration, Instant};

use crate::{
    host::device::WaitPolicy,
    sync::{hint, thread},
};

/// How long a thread with a core for itself yields before it sleeps: several times the pause between launches that a program makes
/// while it prepares the next one.
const YIELDING: Duration = Duration::from_millis(10);

/// How long a thread looks for what it waits for in each stage, before it sleeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Looks with a pause between.
    pub(super) looks: u32,
    /// Time of looks with a yield between.
    pub(super) yielding: Duration,
    /// Whether that ends at all.
    pub(super) ends: bool,
}

impl Patience {
    /// What the policy means for a worker with nothing to do. `spins` is for a machine with a core for each worker.
    pub(super) fn of_worker(policy: WaitPolicy, spins: u32) -> Self {
        match policy {
            WaitPolicy::Active => Self {
                looks: spins,
                yielding: Duration::MAX,
                ends: false,
            },
            WaitPolicy::Adaptive => Self {
                looks: spins,
                yielding: YIELDING,
                ends: true,
            },
            WaitPolicy::Passive => Self {
                looks: 0,
                yielding: Duration::ZERO,
                ends: true,
            },
        }
    }

    /// Looks until `ready` gives something, or patience ends.
    pub(super) fn look<T>(self, mut ready: impl FnMut() -> Option<T>) -> Option<T> {
        for _ in 0..self.looks {
            if let Some(found) = ready() {
                return Some(found);
            }
            hint::spin_loop();
        }
        if let Some(found) = ready() {
            return Some(found);
        }
        if self.yielding.is_zero() {
            return None;
        }
        let start = Instant::now();
        loop {
            // The clock costs as much as a yield: read it once for several.
            for _ in 0..8 {
                thread::yield_now();
                if let Some(found) = ready() {
                    return Some(found);
                }
            }
            if self.ends && start.elapsed() >= self.yielding {
                return None;
            }
        }
    }
}

/// When a thread that waits in a kernel sleeps. One byte: it travels with every job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sleep {
    /// Never.
    Never,
    /// Soon: it may keep others from their core.
    Soon,
    /// Late: it has a core for itself.
    Late,
}

impl Sleep {
    /// What the policy means; `spins` as for a worker.
    pub(super) fn of(policy: WaitPolicy, spins: u32) -> Self {
        match policy {
            WaitPolicy::Active => Self::Never,
            WaitPolicy::Adaptive if spins > 0 => Self::Late,
            WaitPolicy::Adaptive | WaitPolicy::Passive => Self::Soon,
        }
    }

    /// Whether it does so at all.
    pub(super) fn comes(self) -> bool {
        self != Self::Never
    }

    /// How long it yields before: longer than most imbalance between blocks, because a wake-up takes about 35 µs, and longer than
    /// nearly all where nobody else wants the core. One that never sleeps looks up as often.
    pub(super) fn yielding(self) -> Duration {
        match self {
            _ if cfg!(loom) => Duration::ZERO,
            Self::Never | Self::Soon => Duration::from_millis(1),
            Self::Late => YIELDING,
        }
    }
}
