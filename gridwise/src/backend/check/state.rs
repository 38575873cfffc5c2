//! Where a launch stands: its threads, what they wait for, and who can run.

use std::{
    collections::{BTreeMap, HashMap, VecDeque},
    panic::Location,
    sync::atomic::Ordering,
};

use super::{
    coverage::Coverage,
    engine::Engine,
    memory::{Extent, Memory, ThreadClock, clock::ThreadId},
    progress::Progress,
    promise::{LeftOver, WordPromised},
    scheduler::{Candidate, Scheduler, Step, replay_token},
    unstarted::Unstarted,
};
use crate::{
    check::{
        Shape,
        finding::{Deed, Finding, NOWHERE, Place},
    },
    host::report::HangReport,
    kernel::hardware::WaitSite,
};

/// Idle loads in a row after which a thread counts as spinning, and is passed over until somebody stores.
pub(super) const SPINS_FROM: u32 = 8;
/// Idle loads with nothing but block barriers and shared memory between, after which a thread is passed over as well: a block that
/// looks together.
pub(super) const LOOKS_FROM: u32 = 64;
/// Idle loads in a row after which a spin counts as endless, if nobody else can run.
const SPINS_AT_MOST: u32 = 4096;

/// Threads that have left of which a launch remembers what they observed.
const PAST: usize = 64;

/// What a thread waits for.
pub(super) enum Waiting {
    Word {
        extent: Extent,
        order: Ordering,
        site: WaitSite,
        /// The condition, on the waiting thread's stack.
        ready: *mut dyn FnMut(u64) -> bool,
        /// Whether a value that it would have accepted has come and gone.
        missed: bool,
    },
    BlockBarrier(&'static Location<'static>),
    Warp(&'static Location<'static>),
}

/// What a thread does.
pub(super) enum Standing {
    Runnable,
    /// Loads the same words over and over.
    Spinning,
    /// Could run, but the device has stopped its block.
    Stopped,
    /// Could run, but a lane of its warp waits, and lanes run in lock step.
    Held,
    Waiting(Waiting),
    Left,
}

/// Loads in a row that returned what the thread had already seen.
#[derive(Default)]
pub(super) struct Spin {
    pub(super) idle: u32,
    /// The same, with whatever the thread did inside its block between.
    pub(super) looks: u32,
    /// The last words that were loaded, and the number of the store that was returned.
    pub(super) seen: [Option<(Extent, u64)>; 4],
    pub(super) next: usize,
}

impl Spin {
    /// The word that was loaded last for the first time.
    pub(super) fn last(&self) -> Option<Extent> {
        let last = (self.next + self.seen.len() - 1) % self.seen.len();
        self.seen[last].map(|(extent, _)| extent)
    }

    /// Notes a load that returned that store of a word.
    pub(super) fn note(&mut self, extent: Extent, store: u64) {
        match self.seen.iter_mut().flatten().find(|(seen, _)| *seen == extent) {
            Some((_, last)) if *last == store => self.look_in_vain(),
            Some((_, last)) => {
                *last = store;
                self.get_on();
            }
            None => {
                self.seen[self.next] = Some((extent, store));
                self.next = (self.next + 1) % self.seen.len();
                self.get_on();
            }
        }
    }

    /// Notes a load that brought nothing new.
    pub(super) fn look_in_vain(&mut self) {
        self.idle += 1;
        self.looks += 1;
    }

    /// Notes what the thread would not do while it only looks.
    pub(super) fn get_on(&mut self) {
        (self.idle, self.looks) = (0, 0);
    }

    /// Whether it sees the newest value from now on, as it does in the end.
    pub(super) fn sees_newest(&self) -> bool {
        self.idle >= SPINS_FROM / 2 || self.looks >= LOOKS_FROM / 2
    }
}

/// A thread of a resident block.
pub(super) struct Thread {
    pub(super) id: ThreadId,
    pub(super) clock: ThreadClock,
    pub(super) standing: Standing,
    /// Position among the runnable.
    at: usize,
    /// The step that it is about to do.
    pub(super) step: Step,
    pub(super) location: &'static Location<'static>,
    pub(super) grid_barriers: u64,
    pub(super) parity: bool,
    /// Whether it is in a phase of a run of several launches.
    pub(super) in_phase: bool,
    pub(super) spin: Spin,
    /// What an exchange of its warp brought.
    pub(super) inbox: Vec<u8>,
}

/// A place for a resident block.
pub(super) struct Seat {
    pub(super) block: Option<u32>,
    /// Threads that have left the kernel.
    pub(super) left: usize,
    /// Slots of the threads that are at the block barrier, in the order of arrival.
    pub(super) arrived: Vec<u32>,
    pub(super) region: usize,
}

/// How a launch ended.
pub(super) enum Failure {
    Panicked {
        place: Place,
        message: String,
    },
    TimedOut(Option<HangReport>),
    /// The findings say it all.
    Found,
}

pub(super) struct State {
    pub(super) threads: Vec<Thread>,
    pub(super) seats: Vec<Seat>,
    pub(super) runnable: Vec<Candidate>,
    pub(super) memory: Memory,
    pub(super) scheduler: Box<dyn Scheduler>,
    pub(super) findings: Vec<Finding>,
    pub(super) steps: u64,
    pub(super) switches: u64,
    /// Slots of the threads that wait for a word.
    pub(super) waiting: Vec<u32>,
    pub(super) warps: HashMap<u32, super::meet::WarpExchange>,
    /// The first to enter each grid barrier that is not yet long past.
    pub(super) rounds: HashMap<u64, Place>,
    /// The threads that left the kernel, where they were last seen and how many grid barriers they had entered: one a block.
    pub(super) gone: BTreeMap<u32, (Place, u64)>,
    pub(super) failure: Option<Failure>,
    pub(super) progress: Progress,
    /// The shape of the grid that is running.
    grid: Shape,
    /// The shape that grids have where a launch does not say, if the model has one.
    shape: Option<Shape>,
    /// Nothing is reported any more.
    pub(super) closed: bool,
    pub(super) coverage: Coverage,
    /// In a run: what is promised of this launch alone.
    pub(super) passing: Coverage,
    /// In a run: what words held when it first used them.
    pub(super) run_initial: Option<HashMap<(usize, usize), u64>>,
    /// In a run: what there is to report if it ends here.
    pub(super) open: Vec<Finding>,
    pub(super) promises: Vec<WordPromised>,
    /// The last threads that have left, and whose place is taken, of those that observed what they did not acquire.
    pub(super) past: VecDeque<ThreadClock>,
    /// What earlier launches left in words that they promised something of.
    pub(super) left_over: LeftOver,
    pub(super) unstarted: Unstarted,
    /// Seats without a block.
    pub(super) free_seats: usize,
    /// Threads that spin.
    spinning: usize,
    current: ThreadId,
}

impl State {
    /// No thread has begun. `regions`: of the seats' shared memory.
    pub(super) fn new(
        regions: impl Iterator<Item = usize>,
        memory: Memory,
        scheduler: Box<dyn Scheduler>,
        unstarted: Unstarted,
        left_over: LeftOver,
        (grid, shape): (Shape, Option<Shape>),
    ) -> Self {
        let seats: Vec<_> = regions
            .map(|region| Seat {
                block: None,
                left: 0,
                arrived: Vec::new(),
                region,
            })
            .collect();
        Self {
            threads: Vec::new(),
            free_seats: seats.len(),
            seats,
            runnable: Vec::new(),
            memory,
            scheduler,
            findings: Vec::new(),
            steps: 0,
            switches: 0,
            grid,
            shape,
            waiting: Vec::new(),
            warps: HashMap::new(),
            rounds: HashMap::new(),
            gone: BTreeMap::new(),
            failure: None,
            progress: Progress::default(),
            closed: false,
            coverage: Coverage::default(),
            passing: Coverage::default(),
            run_initial: None,
            open: Vec::new(),
            promises: Vec::new(),
            past: VecDeque::new(),
            left_over,
            unstarted,
            spinning: 0,
            current: 0,
        }
    }

    pub(super) fn seat_block(&mut self, seat: usize, block: u32, threads: usize) {
        let region = self.seats[seat].region;
        self.memory.clear(region);
        self.seats[seat].block = Some(block);
        self.free_seats -= 1;
        self.seats[seat].left = 0;
        for thread in 0..threads {
            let slot = seat * threads + thread;
            let id = block * threads as u32 + thread as u32;
            let new = Thread {
                id,
                clock: ThreadClock::new(block, thread as u32, threads),
                standing: Standing::Runnable,
                at: 0,
                step: Step::Local,
                location: NOWHERE,
                grid_barriers: 0,
                parity: false,
                in_phase: false,
                spin: Spin::default(),
                inbox: Vec::new(),
            };
            if slot < self.threads.len() {
                let past = std::mem::replace(&mut self.threads[slot], new);
                if past.clock.has_observed() {
                    self.past.truncate(PAST - 1);
                    self.past.push_front(past.clock);
                }
            } else {
                self.threads.push(new);
            }
            self.make_runnable(slot as u32, Step::Local);
        }
    }

    pub(super) fn leave(&mut self, engine: &Engine, slot: u32) {
        let place = self.place(slot, Deed::Left);
        self.unlist(slot);
        let thread = &mut self.threads[slot as usize];
        thread.standing = Standing::Left;
        let block = thread.clock.block;
        let rounds = thread.grid_barriers;
        if engine.grid.is_some() {
            self.gone.entry(block).or_insert((place, rounds));
        }
        let seat = &mut self.seats[slot as usize / engine.threads];
        seat.left += 1;
        if seat.left == engine.threads {
            seat.block = None;
            self.free_seats += 1;
        }
    }

    pub(super) fn unstarted(&self) -> usize {
        self.unstarted.len()
    }

    /// Says what a runnable thread is about to do.
    pub(super) fn announce(&mut self, slot: u32, step: Step) {
        let thread = &mut self.threads[slot as usize];
        thread.step = step;
        if let Some(candidate) = self
            .runnable
            .get_mut(thread.at)
            .filter(|candidate| candidate.slot == slot)
        {
            candidate.step = step;
        }
    }

    pub(super) fn candidate(&self, slot: u32) -> Candidate {
        let Thread { id, step, .. } = self.threads[slot as usize];
        Candidate { slot, id, step }
    }

    pub(super) fn make_runnable(&mut self, slot: u32, step: Step) {
        let has_stopped = self.has_stopped(self.threads[slot as usize].clock.block);
        let thread = &mut self.threads[slot as usize];
        thread.step = step;
        if has_stopped {
            thread.standing = Standing::Stopped;
            return;
        }
        thread.standing = Standing::Runnable;
        thread.at = self.runnable.len();
        self.runnable.push(Candidate {
            slot,
            id: thread.id,
            step,
        });
    }

    /// Takes a thread out of the runnable.
    pub(super) fn unlist(&mut self, slot: u32) {
        let at = self.threads[slot as usize].at;
        if self.runnable.get(at).is_some_and(|candidate| candidate.slot == slot) {
            self.runnable.swap_remove(at);
            if let Some(moved) = self.runnable.get(at) {
                self.threads[moved.slot as usize].at = at;
            }
        }
    }

    /// Who runs next, of those that can.
    pub(super) fn pick(&mut self) -> Option<u32> {
        if self.runnable.is_empty() {
            return None;
        }
        let chosen = self.scheduler.thread(self.current, &self.runnable);
        let candidate = self.runnable[chosen.min(self.runnable.len() - 1)];
        self.current = candidate.id;
        Some(candidate.slot)
    }

    /// The slot of the thread that runs.
    pub(super) fn slot_of_current(&self) -> u32 {
        let slot = self.threads.iter().position(|thread| thread.id == self.current);
        slot.unwrap_or(0) as u32
    }

    pub(super) fn spin(&mut self, engine: &Engine, slot: u32) {
        self.unlist(slot);
        self.threads[slot as usize].standing = Standing::Spinning;
        self.spinning += 1;
        if engine.model.lock_step {
            self.hold_warp(engine, slot);
        }
    }

    /// Lets a thread that spins go on.
    fn end_spin(&mut self, slot: u32) {
        self.spinning -= 1;
        self.threads[slot as usize].spin.looks = 0;
        let step = self.threads[slot as usize].step;
        self.make_runnable(slot, step);
    }

    /// Somebody stored: whoever spins may see it.
    pub(super) fn end_spins(&mut self, engine: &Engine) {
        for slot in 0..self.threads.len() {
            if self.spinning == 0 {
                return;
            }
            if matches!(self.threads[slot].standing, Standing::Spinning) {
                self.threads[slot].spin.idle = 0;
                self.end_spin(slot as u32);
                if engine.model.lock_step {
                    self.release_warp(engine, slot as u32);
                }
            }
        }
    }

    /// Nobody can run: lanes go on that nobody holds up any more, else those that spin. `false` if there are none of either.
    pub(super) fn let_somebody_go_on(&mut self, engine: &Engine) -> bool {
        (engine.model.lock_step && self.release_stranded(engine)) || self.wake_spinners()
    }

    /// Nobody else can run: those that spin go on, in case they give up by themselves. `false` if none is left that has not
    /// spun for too long.
    fn wake_spinners(&mut self) -> bool {
        let mut woken = false;
        for slot in 0..self.threads.len() {
            let thread = &self.threads[slot];
            if matches!(thread.standing, Standing::Spinning) && thread.spin.idle < SPINS_AT_MOST {
                self.end_spin(slot as u32);
                woken = true;
            }
        }
        woken
    }

    /// Where a thread is, for a finding.
    pub(super) fn place(&self, slot: u32, deed: Deed) -> Place {
        let thread = &self.threads[slot as usize];
        Place::new(thread.location, thread.clock.block, thread.clock.thread, deed)
    }

    pub(super) fn stood(&self, slot: u32) -> Place {
        self.place(slot, Deed::Stood)
    }

    /// Keeps a finding, unless one like it is there.
    pub(super) fn report(&mut self, mut finding: Finding) {
        if !self.closed && !self.findings.iter().any(|other| other.is_like(&finding)) {
            self.sign(&mut finding);
            self.findings.push(finding);
        }
    }

    /// Says of a finding in which launch it was made, and how to get there again.
    pub(super) fn sign(&self, finding: &mut Finding) {
        finding.grid = self.grid;
        finding.replay = replay_token(&*self.scheduler, self.shape);
    }
}
