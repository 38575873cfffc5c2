//! A launch on the simulated device: its blocks, its threads as coroutines, and who runs when.
//!
//! Everything happens on the thread that asked for the launch. A thread of the kernel runs until its next visible operation;
//! there the scheduler says who goes on, and the coroutines switch. See `README.md`.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashMap, VecDeque},
    ops::Range,
    panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind},
    sync::{OnceLock, atomic::Ordering},
    time::Instant,
};

use corosensei::{Coroutine, Yielder, stack::DefaultStack};

use super::{
    OutOfBounds,
    acc::Check,
    coverage::Coverage,
    memory::{Extent, Memory, ThreadClock, clock::ThreadId},
    model::{BlockOrder, Dealing, Model},
    progress::Progress,
    promise::{LeftOver, WordPromised},
    scheduler::{Candidate, Scheduler, Step},
};
use crate::{
    check::finding::{Deed, Finding, Kind, NOWHERE, Place},
    host::{
        error::{discard, panic_message},
        launch::LaunchPlan,
        report::HangReport,
    },
    kernel::{grid_barrier::GridState, hardware::WaitSite},
};

/// Bytes of a coroutine's stack: reserved, and used only as far as the kernel goes.
const STACK_BYTES: usize = 512 << 10;
/// Threads that can have a stack at a time. On Linux a stack and its guard are two mappings, of which a program may have so many
/// and no more; an eighth is left to everybody else, because an allocation that gets none ends the program.
pub(super) fn most_threads() -> usize {
    static MOST: OnceLock<usize> = OnceLock::new();
    *MOST.get_or_init(|| {
        let mappings = std::fs::read_to_string("/proc/sys/vm/max_map_count");
        let mappings = mappings.ok().and_then(|text| text.trim().parse::<usize>().ok());
        mappings.map_or(usize::MAX, |mappings| mappings / 16 * 7)
    })
}

/// Every how many operations the clock is read, for the timeout.
const CLOCK_EVERY: u64 = 4096;
/// Idle loads in a row after which a thread counts as spinning, and is passed over until somebody stores.
pub(super) const SPINS_FROM: u32 = 8;
/// Idle loads in a row after which a spin counts as endless, if nobody else can run.
const SPINS_AT_MOST: u32 = 4096;

pub(super) type Fiber = Coroutine<(), (), (), DefaultStack>;
pub(super) type Suspend = Yielder<(), ()>;

/// Operations that a thread of a launch that has failed does at most before it leaves.
const OPERATIONS_AFTER_FAILURE: u64 = 10_000;
/// Threads that have left of which a launch remembers what they observed.
const PAST: usize = 64;

/// Unwinds a thread of a launch that has ended otherwise. It is not a panic: the hook does not run.
pub(super) struct Abandoned;

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
            Some((_, last)) if *last == store => self.idle += 1,
            Some((_, last)) => {
                *last = store;
                self.idle = 0;
            }
            None => {
                self.seen[self.next] = Some((extent, store));
                self.next = (self.next + 1) % self.seen.len();
                self.idle = 0;
            }
        }
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
    /// Nothing is reported any more.
    closed: bool,
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
    unstarted: Unstarted,
    /// Seats without a block.
    free_seats: usize,
    /// Threads that spin.
    spinning: usize,
    current: ThreadId,
}

/// The blocks that have not started.
enum Unstarted {
    /// The lowest, or the highest, is next.
    InOrder { blocks: Range<u32>, descending: bool },
    /// Any may be next.
    AnyOrder(Vec<u32>),
}

impl Unstarted {
    fn new(order: BlockOrder, blocks: u32) -> Self {
        match order {
            BlockOrder::Random => Self::AnyOrder((0..blocks).collect()),
            order => Self::InOrder {
                blocks: 0..blocks,
                descending: order == BlockOrder::Descending,
            },
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::InOrder { blocks, .. } => blocks.len(),
            Self::AnyOrder(blocks) => blocks.len(),
        }
    }

    fn take(&mut self, scheduler: &mut dyn Scheduler) -> Option<u32> {
        match self {
            Self::InOrder {
                blocks,
                descending: false,
            } => blocks.next(),
            Self::InOrder {
                blocks,
                descending: true,
            } => blocks.next_back(),
            Self::AnyOrder(blocks) if blocks.len() > 1 => Some(blocks.remove(scheduler.value(blocks.len()))),
            Self::AnyOrder(blocks) => blocks.pop(),
        }
    }
}

pub(super) struct Engine {
    pub(super) kernel: &'static str,
    pub(super) blocks: usize,
    pub(super) threads: usize,
    pub(super) model: Model,
    pub(super) grid: Option<GridState>,
    /// Whether this launch is one of several that are one run.
    pub(super) in_run: bool,
    /// Whether index maps deal out contiguous parts.
    pub(super) contiguous: bool,
    pub(super) state: RefCell<State>,
    /// The thread that runs unwinds.
    pub(super) abandoned: Cell<bool>,
    /// The launch is over: what threads have left to do, each alone, until it leaves.
    over: Cell<Option<u64>>,
    /// A condition of a wait is being asked, perhaps on another thread's stack: see [`ask`](Self::ask).
    in_condition: Cell<bool>,
    next: Cell<Option<u32>>,
    arenas: Vec<usize>,
    started: Instant,
    deadline: Option<Instant>,
}

impl Engine {
    /// `arenas` are the regions of shared memory with their addresses, one for each block that can be resident.
    pub(super) fn new(
        plan: &LaunchPlan,
        model: Model,
        grid: Option<GridState>,
        memory: Memory,
        arenas: &[(usize, usize)],
        scheduler: Box<dyn Scheduler>,
        left_over: LeftOver,
    ) -> Self {
        let seats = arenas.iter().map(|(region, _)| Seat {
            block: None,
            left: 0,
            arrived: Vec::new(),
            region: *region,
        });
        let started = Instant::now();
        Self {
            kernel: plan.kernel,
            blocks: plan.blocks,
            threads: plan.threads,
            model,
            grid,
            in_run: plan.run.is_some(),
            contiguous: match model.dealing {
                Dealing::InTurn => scheduler.deals_contiguously(),
                Dealing::Strided => false,
                Dealing::Contiguous => true,
            },
            state: RefCell::new(State {
                threads: Vec::new(),
                seats: seats.collect(),
                runnable: Vec::new(),
                memory,
                scheduler,
                findings: Vec::new(),
                steps: 0,
                switches: 0,
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
                unstarted: Unstarted::new(model.block_order, plan.blocks as u32),
                free_seats: arenas.len(),
                spinning: 0,
                current: 0,
            }),
            abandoned: Cell::new(false),
            over: Cell::new(None),
            in_condition: Cell::new(false),
            next: Cell::new(None),
            arenas: arenas.iter().map(|(_, start)| *start).collect(),
            started,
            // One past the end of all clocks is none.
            deadline: plan.timeout.and_then(|timeout| started.checked_add(timeout)),
        }
    }

    /// Runs the launch to its end. `body` is what a thread does; `stacks` are kept from launch to launch.
    pub(super) fn run(&self, body: &dyn Fn(Check<'_>), stacks: &mut Vec<DefaultStack>) -> std::io::Result<()> {
        let mut fibers: Vec<Option<Fiber>> = Vec::new();
        self.state.borrow_mut().scheduler.begin_launch();
        self.choose_progress();
        let end = loop {
            match self.start_blocks(body, stacks, &mut fibers) {
                Ok(()) => {}
                Err(error) => break Err(error),
            }
            let next = self.next.take().or_else(|| self.state.borrow_mut().pick());
            let Some(slot) = next else {
                let mut state = self.state.borrow_mut();
                if !(state.let_somebody_go_on(self) || state.go_on()) {
                    break Ok(());
                }
                continue;
            };
            if self.deadline.is_some() {
                // A thread may have slept, or computed for long.
                self.look_at_clock(&mut self.state.borrow_mut());
            }
            if self.state.borrow().failure.is_some() {
                break Ok(());
            }
            self.resume(slot, &mut fibers, stacks);
        };
        self.diagnose();
        self.settle_promises();
        self.wind_down(&mut fibers, stacks);
        end
    }

    /// The launch is over. Threads go on, one after another, to where a thread leaves a failed launch on any device: a wait, a
    /// barrier, a point between two pieces of work. So what moves from one place to another is not lost in between.
    fn wind_down(&self, fibers: &mut [Option<Fiber>], stacks: &mut Vec<DefaultStack>) {
        let mut state = self.state.borrow_mut();
        if matches!(state.failure, Some(Failure::TimedOut(_))) {
            state.failure = Some(Failure::TimedOut(Some(state.hang_report(self))));
        }
        state.closed = true;
        // Their conditions go with their stacks.
        state.waiting.clear();
        drop(state);
        for fiber in fibers {
            // One that has not started is dropped with what it captured.
            let Some(mut fiber) = fiber.take().filter(|fiber| fiber.started()) else {
                continue;
            };
            self.over.set(Some(OPERATIONS_AFTER_FAILURE));
            self.abandoned.set(false);
            while !fiber.done() {
                fiber.resume(());
            }
            stacks.push(fiber.into_stack());
        }
        self.abandoned.set(true);
    }

    /// Unwinds the thread that runs, if the launch is over.
    pub(super) fn leave_if_over(&self) {
        if self.over.get().is_some() && !self.abandoned.replace(true) {
            resume_unwind(Box::new(Abandoned));
        }
    }

    /// Whether the launch is over, and the thread goes on for a while.
    pub(super) fn is_over(&self) -> bool {
        self.over.get().is_some()
    }

    /// Asks the condition of a wait about a value.
    ///
    /// Threads that store ask it, too, on their own stacks. So it does at once what it does, and may neither store, which would ask
    /// it in the middle of itself, nor wait, which would suspend another thread than the one that runs.
    pub(super) fn ask(&self, ready: &mut dyn FnMut(u64) -> bool, bits: u64) -> bool {
        struct Asked<'a>(&'a Cell<bool>);
        impl Drop for Asked<'_> {
            fn drop(&mut self) {
                self.0.set(false);
            }
        }
        self.in_condition.set(true);
        let _asked = Asked(&self.in_condition);
        ready(bits)
    }

    pub(super) fn in_condition(&self) -> bool {
        self.in_condition.get()
    }

    /// Stops the condition of a wait that does more than to look.
    #[track_caller]
    pub(super) fn outside_conditions(&self, what: &str) {
        assert!(
            !self.in_condition(),
            "the condition of a wait {what}; it may look at the value that it is given, and decide by that alone"
        );
    }

    /// Counts an operation of a thread of a launch that is over: whoever does too many leaves anywhere. `false` if it is not.
    fn goes_on(&self) -> bool {
        match self.over.get() {
            None => return false,
            Some(0) => self.leave_if_over(),
            Some(left) => self.over.set(Some(left - 1)),
        }
        true
    }

    fn resume(&self, slot: u32, fibers: &mut [Option<Fiber>], stacks: &mut Vec<DefaultStack>) {
        let Some(fiber) = &mut fibers[slot as usize] else {
            return;
        };
        self.state.borrow_mut().switches += 1;
        fiber.resume(());
        if fiber.done() {
            if let Some(fiber) = fibers[slot as usize].take() {
                stacks.push(fiber.into_stack());
            }
            self.state.borrow_mut().leave(self, slot);
        }
    }

    /// Fills free seats with blocks.
    fn start_blocks(
        &self,
        body: &dyn Fn(Check<'_>),
        stacks: &mut Vec<DefaultStack>,
        fibers: &mut Vec<Option<Fiber>>,
    ) -> std::io::Result<()> {
        loop {
            let mut state = self.state.borrow_mut();
            if state.free_seats == 0 || state.unstarted.len() == 0 || state.failure.is_some() {
                return Ok(());
            }
            let Some(seat) = state.seats.iter().position(|seat| seat.block.is_none()) else {
                return Ok(());
            };
            let State {
                unstarted, scheduler, ..
            } = &mut *state;
            let Some(block) = unstarted.take(scheduler.as_mut()) else {
                return Ok(());
            };
            state.seat_block(seat, block, self.threads);
            self.look_at_clock(&mut state);
            drop(state);
            for thread in 0..self.threads {
                let slot = seat * self.threads + thread;
                let stack = match stacks.pop() {
                    Some(stack) => stack,
                    None => DefaultStack::new(STACK_BYTES)?,
                };
                // SAFETY: the engine and `body` outlive the coroutine, which `run` drives to its end or drops.
                let fiber = unsafe {
                    Fiber::with_stack_unchecked(stack, move |yielder: &Suspend, ()| {
                        let acc = Check::new(self, yielder, slot as u32, block, thread as u32, self.arenas[seat]);
                        self.guarded(acc, body);
                    })
                };
                if fibers.len() <= slot {
                    fibers.resize_with(slot + 1, || None);
                }
                fibers[slot] = Some(fiber);
            }
        }
    }

    /// Runs a thread; a panic ends the launch instead of the program.
    fn guarded(&self, acc: Check<'_>, body: &dyn Fn(Check<'_>)) {
        // What a panic leaves half done is the launch's own memory, and the launch returns an error.
        let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(acc))) else {
            return;
        };
        // What a thread has left another launch with may be kept, and thrown anew.
        if payload.is::<Abandoned>() && self.is_over() {
            return;
        }
        match payload.downcast::<OutOfBounds>() {
            Ok(access) => self.caught_out_of_bounds(acc, *access),
            Err(payload) => self.caught(acc, payload),
        }
    }

    fn caught(&self, acc: Check<'_>, payload: Box<dyn Any + Send>) {
        let mut state = self.state.borrow_mut();
        if state.failure.is_none() {
            let place = state.place(acc.slot(), Deed::Panicked);
            state.failure = Some(Failure::Panicked {
                place,
                message: panic_message(&*payload),
            });
        }
        drop(state);
        discard(payload);
    }

    fn caught_out_of_bounds(&self, acc: Check<'_>, access: OutOfBounds) {
        let OutOfBounds {
            element,
            location,
            message,
        } = access;
        let mut state = self.state.borrow_mut();
        let slot = acc.slot();
        state.threads[slot as usize].location = location;
        let mut finding = Finding::new(Kind::OutOfBounds, self.kernel, state.stood(slot));
        finding.memory = element.and_then(|element| state.name_outside(slot, element));
        finding.note = Some(message);
        state.report(finding);
        if state.failure.is_none() {
            state.failure = Some(Failure::Found);
        }
    }

    /// Lets another thread run, or this one again.
    fn suspend(&self, yielder: &Suspend) {
        yielder.suspend(());
    }

    /// As [`suspend`](Self::suspend), where a thread waits: it leaves there if the launch is over.
    pub(super) fn wait(&self, yielder: &Suspend) {
        self.leave_if_over();
        self.suspend(yielder);
        self.leave_if_over();
    }

    /// A visible operation of a thread that goes on: the scheduler says who is next.
    pub(super) fn point(&self, yielder: &Suspend, slot: u32, step: Step) {
        if self.abandoned.get() || self.in_condition() || self.goes_on() {
            return;
        }
        let mut state = self.state.borrow_mut();
        state.announce(slot, step);
        state.stop_if_due(slot);
        // In lock step a lane that looks again keeps its warp in the loop at once.
        let spins_from = if self.model.lock_step { 1 } else { SPINS_FROM };
        if state.threads[slot as usize].spin.idle >= spins_from {
            state.spin(self, slot);
        }
        let mut next = state.pick();
        if next.is_none() && state.let_somebody_go_on(self) {
            next = state.pick();
        }
        drop(state);
        self.check_budget();
        if next != Some(slot) || self.state.borrow().failure.is_some() {
            self.next.set(next);
            self.suspend(yielder);
            if matches!(self.state.borrow().threads[slot as usize].standing, Standing::Spinning) {
                self.leave_if_over();
            }
        }
    }

    pub(super) fn has_failed(&self) -> bool {
        self.state.borrow().failure.is_some()
    }

    /// Counts an operation, and gives the launch up if it has run for too long.
    pub(super) fn check_budget(&self) {
        let mut state = self.state.borrow_mut();
        state.steps += 1;
        if state.steps > self.model.step_budget && state.failure.is_none() {
            let place = state.stood(state.slot_of_current());
            let mut finding = Finding::new(Kind::StepBudget, self.kernel, place);
            finding.note = Some(format!("{} operations", self.model.step_budget));
            finding.hang = Some(state.hang_report(self));
            state.report(finding);
            state.failure = Some(Failure::Found);
        }
        if state.steps.is_multiple_of(CLOCK_EVERY) {
            self.look_at_clock(&mut state);
        }
    }

    fn look_at_clock(&self, state: &mut State) {
        let late = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
        if late && state.failure.is_none() {
            state.failure = Some(Failure::TimedOut(None));
        }
    }

    /// Counts a plain access, and perhaps lets others run before it.
    pub(super) fn plain_point(&self, yielder: &Suspend, slot: u32) {
        if self.goes_on() {
            return;
        }
        let interrupts = {
            let mut state = self.state.borrow_mut();
            state.steps += 1;
            // A loop of plain accesses ends, whatever the scheduler.
            state.scheduler.interrupts() || state.steps > self.model.step_budget
        };
        if interrupts {
            self.point(yielder, slot, Step::Local);
        }
    }

    pub(super) fn elapsed(&self) -> std::time::Duration {
        self.started.elapsed()
    }
}

impl State {
    fn seat_block(&mut self, seat: usize, block: u32, threads: usize) {
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

    fn leave(&mut self, engine: &Engine, slot: u32) {
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
    fn announce(&mut self, slot: u32, step: Step) {
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

    fn spin(&mut self, engine: &Engine, slot: u32) {
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
    fn let_somebody_go_on(&mut self, engine: &Engine) -> bool {
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
            finding.replay = self.scheduler.token();
            self.findings.push(finding);
        }
    }
}
