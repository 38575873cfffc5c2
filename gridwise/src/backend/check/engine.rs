//! A launch on the simulated device: its blocks, its threads as coroutines, and who runs when.
//!
//! Everything happens on the thread that asked for the launch. A thread of the kernel runs until its next visible operation;
//! there the scheduler says who goes on, and the coroutines switch. See `README.md`.

use std::{
    any::Any,
    cell::{Cell, RefCell},
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::OnceLock,
    time::Instant,
};

use corosensei::{Coroutine, Yielder, stack::DefaultStack};

use super::{
    OutOfBounds,
    acc::Check,
    memory::Memory,
    model::{Dealing, Model},
    promise::LeftOver,
    scheduler::{Scheduler, Step},
    state::{Failure, LOOKS_FROM, SPINS_FROM, Spin, Standing, State},
    unstarted::Unstarted,
};
use crate::{
    check::{
        Shape,
        finding::{Deed, Finding, Kind},
    },
    host::{
        error::{discard, panic_message},
        launch::LaunchPlan,
    },
    kernel::grid_barrier::GridState,
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
pub(super) type Fiber = Coroutine<(), (), (), DefaultStack>;
pub(super) type Suspend = Yielder<(), ()>;

/// Operations that a thread of a launch that has failed does at most before it leaves.
const OPERATIONS_AFTER_FAILURE: u64 = 10_000;
/// Unwinds a thread of a launch that has ended otherwise. It is not a panic: the hook does not run.
pub(super) struct Abandoned;

pub(super) struct Engine {
    pub(super) kernel: &'static str,
    pub(super) blocks: usize,
    pub(super) threads: usize,
    pub(super) model: Model,
    pub(super) grid: Option<GridState>,
    /// Whether this launch is one of several that are one run.
    pub(super) in_run: bool,
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
        let started = Instant::now();
        Self {
            kernel: plan.kernel,
            blocks: plan.blocks,
            threads: plan.threads,
            model,
            grid,
            in_run: plan.run.is_some(),
            state: RefCell::new(State::new(
                arenas.iter().map(|(region, _)| *region),
                memory,
                scheduler,
                Unstarted::new(model.block_order, plan.blocks as u32),
                left_over,
                (
                    Shape {
                        blocks: plan.blocks,
                        threads: plan.threads,
                    },
                    model.shape(),
                ),
            )),
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

    /// Whether index maps deal out contiguous parts. To be asked only where it makes a difference: then it is a decision.
    pub(super) fn deals_contiguously(&self) -> bool {
        match self.model.dealing {
            Dealing::InTurn => self.state.borrow_mut().scheduler.deals_contiguously(),
            Dealing::Strided => false,
            Dealing::Contiguous => true,
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
        let lock_step = self.model.lock_step;
        let spins_from = if lock_step { 1 } else { SPINS_FROM };
        let Spin { idle, looks, .. } = state.threads[slot as usize].spin;
        if idle >= spins_from || (looks >= LOOKS_FROM && !lock_step) {
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
            finding.note = Some(format!(
                "{} operations, and no end: a loop without one, or a launch that needs more; allow them with steps=… or \
                 Builder::step_budget, or try a smaller grid",
                self.model.step_budget
            ));
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
