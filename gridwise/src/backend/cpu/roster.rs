//! Who may use which workers: plain launches share the device, a cooperative one has it to itself, first come first served.

use crate::sync::{Condvar, Mutex, MutexGuard, lock};

use super::scratch::Scratch;

/// What a launch needs beside the thread that asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    /// Workers without which it cannot run.
    pub(super) at_least: usize,
    /// Workers it can use.
    pub(super) at_most: usize,
    /// Nobody else on the device.
    pub(super) exclusive: bool,
}

#[derive(Debug)]
struct State {
    free: Vec<bool>,
    free_count: usize,
    sharing: usize,
    exclusive: bool,
    // Tickets: whoever asks first is served first, so that neither many small launches nor one large starve the other.
    next_ticket: u64,
    serving: u64,
    #[expect(
        clippy::vec_box,
        reason = "a launch takes one out and puts it back: boxed, it moves one word"
    )]
    spare: Vec<Box<Scratch>>,
}

/// The roster of a device's workers.
#[derive(Debug)]
pub(super) struct Roster {
    state: Mutex<State>,
    changed: Condvar,
}

/// A launch's claim on workers and scratch.
#[derive(Debug)]
pub(super) struct Admission {
    /// Indices of the workers, ascending.
    pub(super) workers: Vec<usize>,
    /// Of this device's launches, from 1.
    pub(super) number: u64,
    pub(super) scratch: Box<Scratch>,
    exclusive: bool,
}

impl Roster {
    pub(super) fn new(workers: usize) -> Self {
        let state = State {
            free: vec![true; workers],
            free_count: workers,
            sharing: 0,
            exclusive: false,
            next_ticket: 0,
            serving: 0,
            spare: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Waits for its turn and for what it needs.
    pub(super) fn admit(&self, need: Need) -> Admission {
        let mut state = lock(&self.state);
        let ticket = state.next_ticket;
        state.next_ticket += 1;
        while state.serving != ticket || !state.satisfies(need) {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        state.serving += 1;
        let mut scratch = state.spare.pop().unwrap_or_default();
        let mut workers = std::mem::take(&mut scratch.workers);
        state.take(need, &mut workers);
        self.notify(state);
        Admission {
            workers,
            number: ticket + 1,
            scratch,
            exclusive: need.exclusive,
        }
    }

    /// Gives workers back; and the scratch, unless its state was left behind by an aborted launch.
    pub(super) fn release(&self, admission: Admission, reusable: bool) {
        let Admission {
            mut workers,
            mut scratch,
            exclusive,
            ..
        } = admission;
        let mut state = lock(&self.state);
        for &worker in &workers {
            state.free[worker] = true;
        }
        state.free_count += workers.len();
        if exclusive {
            state.exclusive = false;
        } else {
            state.sharing -= 1;
        }
        if reusable {
            workers.clear();
            scratch.workers = workers;
            state.spare.push(scratch);
        }
        self.notify(state);
    }

    fn notify(&self, state: MutexGuard<'_, State>) {
        let somebody_waits = state.serving != state.next_ticket;
        drop(state);
        if somebody_waits {
            self.changed.notify_all();
        }
    }
}

impl State {
    fn satisfies(&self, need: Need) -> bool {
        !self.exclusive && (!need.exclusive || self.sharing == 0) && self.free_count >= need.at_least
    }

    fn take(&mut self, need: Need, workers: &mut Vec<usize>) {
        if need.exclusive {
            self.exclusive = true;
        } else {
            self.sharing += 1;
        }
        let free = self
            .free
            .iter_mut()
            .enumerate()
            .filter(|(_, free)| **free)
            .take(need.at_most);
        workers.extend(free.map(|(worker, free)| {
            *free = false;
            worker
        }));
        self.free_count -= workers.len();
    }
}

#[cfg(all(test, loom))]
mod test_loom {
    use super::*;
    use crate::sync::{Arc, explore, thread};

    /// Loom reports two launches at once as conflicting accesses to the cell, and a launch that is never admitted as a deadlock.
    fn admits(needs: [Need; 2]) {
        explore(3, move || {
            let roster = Arc::new(Roster::new(2));
            let device = Arc::new(Device(loom::cell::UnsafeCell::new(())));
            let launch = move |roster: &Roster, device: &Device, need: Need| {
                for _ in 0..2 {
                    let admission = roster.admit(need);
                    assert!((need.at_least..=need.at_most).contains(&admission.workers.len()));
                    if need.exclusive {
                        device.0.with_mut(|_| ());
                    } else {
                        device.0.with(|_| ());
                    }
                    roster.release(admission, true);
                }
            };
            let other = thread::spawn({
                let (roster, device) = (roster.clone(), device.clone());
                move || launch(&roster, &device, needs[1])
            });
            launch(&roster, &device, needs[0]);
            other.join().unwrap();
        });
    }

    struct Device(loom::cell::UnsafeCell<()>);
    // SAFETY: loom checks the accesses.
    unsafe impl Sync for Device {}
    // SAFETY: as above.
    unsafe impl Send for Device {}

    const ALONE: Need = Need {
        at_least: 2,
        at_most: 2,
        exclusive: true,
    };
    const SHARING: Need = Need {
        at_least: 0,
        at_most: 1,
        exclusive: false,
    };

    #[test]
    fn loom_a_cooperative_launch_has_the_device_to_itself() {
        admits([ALONE, SHARING]);
    }

    #[test]
    fn loom_cooperative_launches_take_turns() {
        admits([ALONE, ALONE]);
    }

    #[test]
    fn loom_launches_that_need_all_workers_take_turns() {
        let all = Need {
            exclusive: false,
            ..ALONE
        };
        admits([all, SHARING]);
    }
}
