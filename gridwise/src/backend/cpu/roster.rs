//! Who may use which workers: plain launches share the device, a cooperative one has it to itself, first come first served. The
//! protocol is in `README.md`.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::sync::{AtomicUsize, Condvar, HandedOn, Mutex, MutexGuard, lock};

use super::scratch::Scratch;

/// What a launch needs beside the thread that asks for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Need {
    /// Workers without which it cannot run: the device has them.
    pub(super) at_least: usize,
    /// Workers it can use.
    pub(super) at_most: usize,
    /// Nobody else on the device.
    pub(super) exclusive: bool,
}

/// No launch is on the device, and nobody waits.
const IDLE: usize = 0;
/// More than one launch is on the device, or waits, or did until just now: see [`State`].
const CROWDED: usize = usize::MAX;

/// Anything else: a launch is on the device alone, with the first workers of the device. How many, and whether it has to stay alone.
fn alone(workers: usize, exclusive: bool) -> usize {
    (workers + 1) << 1 | usize::from(exclusive)
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
    /// [`IDLE`], [`alone`] or [`CROWDED`].
    word: AtomicUsize,
    /// For a launch that was let in alone, which takes it out and puts it back.
    scratch: HandedOn<Option<Box<Scratch>>>,
    workers: usize,
    /// What is so while the word is [`CROWDED`]. Otherwise nothing is taken.
    state: Mutex<State>,
    changed: Condvar,
}

/// A launch's claim on workers and scratch.
#[derive(Debug)]
pub(super) struct Admission {
    /// The indices of the workers, ascending, are in `scratch.workers`.
    pub(super) scratch: Box<Scratch>,
    exclusive: bool,
    /// Let in alone; others may have come since.
    alone: bool,
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
            word: AtomicUsize::new(IDLE),
            scratch: HandedOn::new(None),
            workers,
            state: Mutex::new(state),
            changed: Condvar::new(),
        }
    }

    /// Waits for its turn and for what it needs.
    #[inline]
    pub(super) fn admit(&self, need: Need) -> Admission {
        let workers = need.at_most.min(self.workers);
        let alone = alone(workers, need.exclusive);
        if self.word.compare_exchange(IDLE, alone, Acquire, Relaxed).is_err() {
            return self.admit_to_crowd(need);
        }
        // SAFETY: whoever changed the word from `IDLE` has it, until `release`.
        let mut scratch = unsafe { self.scratch.with(Option::take) }.unwrap_or_default();
        // Its last launch was let in alone, too, and so had the first workers, if not as many.
        if scratch.workers.len() != workers {
            scratch.workers.clear();
            scratch.workers.extend(0..workers);
        }
        Admission {
            scratch,
            exclusive: need.exclusive,
            alone: true,
        }
    }

    #[cold]
    fn admit_to_crowd(&self, need: Need) -> Admission {
        let mut state = lock(&self.state);
        self.crowd(&mut state);
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
        state.take(need, &mut scratch.workers);
        self.notify(state);
        Admission {
            scratch,
            exclusive: need.exclusive,
            alone: false,
        }
    }

    /// Makes the word [`CROWDED`]. A launch that is there alone finds out when it releases.
    fn crowd(&self, state: &mut State) {
        let mut word = self.word.load(Relaxed);
        while word != CROWDED {
            match self.word.compare_exchange(word, CROWDED, Acquire, Relaxed) {
                Ok(IDLE) => return,
                Ok(alone) => {
                    let workers = (alone >> 1) - 1;
                    let need = Need {
                        at_least: workers,
                        at_most: workers,
                        exclusive: alone & 1 == 1,
                    };
                    return state.take(need, &mut Vec::new());
                }
                Err(now) => word = now,
            }
        }
    }

    /// Gives workers back; and the scratch, unless its state was left behind by an aborted launch.
    #[inline]
    pub(super) fn release(&self, admission: Admission, reusable: bool) {
        if !admission.alone {
            return self.release_in_crowd(admission, reusable);
        }
        let Admission { scratch, exclusive, .. } = admission;
        let alone = alone(scratch.workers.len(), exclusive);
        let workers = scratch.workers.len();
        if reusable {
            // SAFETY: this launch was let in alone, and nobody else is before the word is `IDLE` again.
            unsafe { self.scratch.with(|place| *place = Some(scratch)) };
        }
        if self.word.compare_exchange(alone, IDLE, Release, Relaxed).is_err() {
            let mut state = lock(&self.state);
            state.give_back(0..workers, exclusive);
            self.notify(state);
        }
    }

    #[cold]
    fn release_in_crowd(&self, admission: Admission, reusable: bool) {
        let Admission {
            mut scratch, exclusive, ..
        } = admission;
        let mut state = lock(&self.state);
        state.give_back(scratch.workers.drain(..), exclusive);
        if reusable {
            state.spare.push(scratch);
        }
        self.notify(state);
    }

    /// After a change to the state: lets go of it, and wakes those who wait.
    fn notify(&self, state: MutexGuard<'_, State>) {
        let somebody_waits = state.serving != state.next_ticket;
        if !somebody_waits && !state.exclusive && state.sharing == 0 {
            self.word.store(IDLE, Release);
        }
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

    /// Takes the first that are free.
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

    fn give_back(&mut self, workers: impl Iterator<Item = usize>, exclusive: bool) {
        for worker in workers {
            self.free[worker] = true;
            self.free_count += 1;
        }
        if exclusive {
            self.exclusive = false;
        } else {
            self.sharing -= 1;
        }
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
                    assert!((need.at_least..=need.at_most).contains(&admission.scratch.workers.len()));
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
