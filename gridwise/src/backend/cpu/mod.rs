//! The CPU: our own pool of pinned, persistent workers. A block is one worker, or a team of them with a real block barrier.
//!
//! The thread that asks for a launch takes part in it, so a device of `n` workers owns `n - 1` threads. How a launch reaches
//! the workers, how threads wait, sleep and wake, and how a deadlock is proved: see `README.md`.

use std::{
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use crate::{
    host::{
        device::{CpuOptions, DeviceError, WaitPolicy},
        launch::{LaunchError, LaunchPlan},
        memory::Memory,
    },
    kernel::{
        GridKernel, Kernel, SharedLayout,
        grid_barrier::GridState,
        hardware::{WaitFor, WaitSite, reserved_shared},
        phased::duplicate,
        shared::SharedCursor,
    },
    sync::{Arc, thread},
};

mod acc;
mod flight;
mod mailbox;
mod roster;
mod scratch;
mod seat;
#[cfg(all(test, not(loom)))]
mod test;
mod topology;

use acc::{Block, Cpu, Solo, Team};
use flight::Flight;
use mailbox::{Mailbox, Patience};
use roster::{Need, Roster};
pub(crate) use topology::Topology;

/// Looks of a waiting thread that has a core for itself, before it yields: a few microseconds, several times what a launch or
/// a barrier takes.
const SPIN_LOOKS: u32 = 1000;

/// What the mailbox of a worker holds when the device is dropped.
const QUIT: usize = 1;

thread_local! {
    /// The device whose launch this thread is running, if any.
    static RUNNING_ON: Cell<*const CpuDevice> = const { Cell::new(std::ptr::null()) };
}

/// A pool of workers.
#[derive(Debug)]
pub(crate) struct CpuDevice {
    workers: Vec<Worker>,
    roster: Roster,
    looks: u32,
    policy: WaitPolicy,
    pub(crate) options: CpuOptions,
    pub(crate) topology: Topology,
}

#[derive(Debug)]
struct Worker {
    mailbox: Arc<Mailbox>,
    thread: Option<thread::JoinHandle<()>>,
    /// The rank for the job in the mailbox: written before it is posted.
    rank: Arc<std::sync::atomic::AtomicUsize>,
}

/// What a mailbox points to: lives on the leader's stack until every worker has finished.
struct Job {
    /// # Safety
    /// To be called with the job's own `data`, with each rank once.
    run: unsafe fn(data: *const (), rank: usize),
    data: *const (),
    device: *const CpuDevice,
}

impl CpuDevice {
    /// Starts `blocks * threads - 1` workers.
    pub(crate) fn open(options: CpuOptions) -> Result<Self, DeviceError> {
        let topology = Topology::of_this_process();
        let ranks = options.resident_blocks * options.threads_per_block;
        let alone = ranks <= topology.parallelism;
        let looks = if alone { SPIN_LOOKS } else { 0 };
        let pinned = options.pin && alone && !topology.cores.is_empty();
        let mut device = Self {
            workers: Vec::with_capacity(ranks - 1),
            roster: Roster::new(ranks - 1),
            looks,
            policy: options.wait,
            options,
            topology,
        };
        let patience = Patience::of_worker(device.policy, looks);
        for worker in 1..ranks {
            let core = pinned.then(|| device.topology.cores[worker % device.topology.cores.len()]);
            // On failure the device is dropped, and the workers started so far quit.
            device.workers.push(
                Worker::start(worker, core, patience).map_err(|source| DeviceError::Threads {
                    started: worker,
                    wanted: ranks,
                    source,
                })?,
            );
        }
        Ok(device)
    }

    /// Runs a plain launch. The plan has been checked.
    pub(crate) fn launch<K: Kernel>(&self, plan: &LaunchPlan, kernel: K) -> Result<(), LaunchError> {
        let wanted = plan.blocks.saturating_mul(plan.threads).min(self.workers.len() + 1);
        let need = Need {
            at_least: plan.threads - 1,
            at_most: wanted - 1,
            exclusive: false,
        };
        let kernel = &kernel;
        if plan.threads == 1 {
            self.fly(
                plan,
                need,
                |_| (),
                move |flight, memory, (), ranks, rank| {
                    let mut block = rank;
                    while block < plan.blocks && !flight.is_aborted() {
                        let acc = memory.acc(flight, plan, rank, block, Solo, ());
                        guarded(acc, || run_plain(kernel, acc, plan.dynamic_len));
                        block = if plan.blocks > ranks {
                            flight.claim_block()
                        } else {
                            plan.blocks
                        };
                    }
                },
            )
        } else {
            self.fly(
                plan,
                need,
                |_| (),
                move |flight, memory, (), ranks, rank| {
                    let (team, thread) = (rank / plan.threads, rank % plan.threads);
                    let teams = ranks / plan.threads;
                    let mut block = team;
                    let mut round = 0;
                    while block < plan.blocks && !flight.is_aborted() {
                        let acc = memory.acc(flight, plan, rank, block, memory.team(team, thread, plan.threads), ());
                        guarded(acc, || run_plain(kernel, acc, plan.dynamic_len));
                        if plan.blocks <= teams {
                            break;
                        }
                        round += 1;
                        let Some(next) = next_block_of_team(acc, memory, team, round) else {
                            break;
                        };
                        block = next;
                    }
                },
            )
        }
    }

    /// Runs a cooperative launch. The plan has been checked: its blocks are resident together.
    pub(crate) fn launch_cooperative<K: GridKernel>(&self, plan: &LaunchPlan, kernel: K) -> Result<(), LaunchError> {
        let others = plan.blocks * plan.threads - 1;
        let need = Need {
            at_least: others,
            at_most: others,
            exclusive: true,
        };
        let kernel = &kernel;
        let grid = |scratch: &mut scratch::Scratch| scratch.prepare_grid(plan.barrier, plan.blocks);
        if plan.threads == 1 {
            self.fly(plan, need, grid, move |flight, memory, grid, _, rank| {
                let acc = memory.acc(flight, plan, rank, rank, Solo, grid);
                guarded(acc, || run_grid(kernel, acc, plan.dynamic_len));
            })
        } else {
            self.fly(plan, need, grid, move |flight, memory, grid, _, rank| {
                let (team, thread) = (rank / plan.threads, rank % plan.threads);
                let acc = memory.acc(flight, plan, rank, team, memory.team(team, thread, plan.threads), grid);
                guarded(acc, || run_grid(kernel, acc, plan.dynamic_len));
            })
        }
    }

    /// One launch: admission, scratch, workers, end.
    fn fly<G: Copy>(
        &self,
        plan: &LaunchPlan,
        need: Need,
        prepare: impl FnOnce(&mut scratch::Scratch) -> G,
        body: impl Fn(&Flight<'_>, Scratchpad, G, usize, usize),
    ) -> Result<(), LaunchError> {
        if RUNNING_ON.get() == std::ptr::from_ref(self) {
            return Err(LaunchError::Nested { kernel: plan.kernel });
        }
        let mut admission = self.roster.admit(need);
        let teams = (admission.workers.len() + 1) / plan.threads;
        let ranks = teams * plan.threads;
        let scratch = &mut admission.scratch;
        if scratch.prepare(teams, plan.threads, plan.shared_bytes).is_none() {
            self.roster.release(admission, false);
            return Err(LaunchError::OutOfMemory {
                kernel: plan.kernel,
                bytes: teams * plan.shared_bytes,
            });
        }
        let grid = prepare(scratch);
        let memory = Scratchpad {
            team_words: scratch.team_words.as_mut_ptr(),
            arenas: scratch.arenas.as_ptr(),
        };
        let flight = Flight::new(
            &scratch.seats[..ranks],
            plan.blocks,
            plan.threads,
            self.looks,
            plan.timeout,
        );

        let run = |rank: usize| {
            body(&flight, memory, grid, ranks, rank);
            flight.seat(rank).done();
        };
        self.on_ranks(&admission.workers[..ranks - 1], &run, || flight.fail_if_late());

        let failure = flight.into_failure();
        self.roster.release(admission, failure.is_none());
        match failure {
            None => Ok(()),
            Some(failure) => Err(failure.into_error(plan.kernel)),
        }
    }

    /// Runs `run` once for each rank: 0 on this thread, the others on `workers`. Returns when all are done. While it sleeps it
    /// calls `idle`, as [`Mailbox::wait`] does.
    fn on_ranks<F: Fn(usize)>(&self, workers: &[usize], run: &F, mut idle: impl FnMut() -> Duration) {
        /// # Safety
        /// `data` points to an `F` that outlives the call.
        unsafe fn call<F: Fn(usize)>(data: *const (), rank: usize) {
            // SAFETY: by the caller.
            let run = unsafe { &*data.cast::<F>() };
            run(rank);
        }
        let job = Job {
            run: call::<F>,
            data: std::ptr::from_ref(run).cast(),
            device: self,
        };
        let posted = Posted {
            device: self,
            workers,
            idle: &mut idle,
        };
        for (rank, &worker) in workers.iter().enumerate() {
            let worker = &self.workers[worker];
            worker.rank.store(rank + 1, std::sync::atomic::Ordering::Relaxed);
            worker.mailbox.post(std::ptr::from_ref(&job).expose_provenance());
        }
        let before = RUNNING_ON.replace(self);
        run(0);
        RUNNING_ON.set(before);
        drop(posted);
    }
}

/// Waits for the workers, whatever happens: the job is on the leader's stack.
struct Posted<'a, I: FnMut() -> Duration> {
    device: &'a CpuDevice,
    workers: &'a [usize],
    idle: &'a mut I,
}

impl<I: FnMut() -> Duration> Drop for Posted<'_, I> {
    fn drop(&mut self) {
        let patience = Patience {
            looks: self.device.looks,
            yielding: Duration::from_millis(1),
            sleeps: true,
        };
        for &worker in self.workers {
            self.device.workers[worker].mailbox.wait(patience, &mut *self.idle);
        }
    }
}

impl Drop for CpuDevice {
    fn drop(&mut self) {
        for worker in &self.workers {
            worker.mailbox.post(QUIT);
        }
        for worker in &mut self.workers {
            if let Some(thread) = worker.thread.take() {
                // A worker catches the panics of kernels, so it cannot have panicked; if it did there is nothing to add.
                let _ = thread.join();
            }
        }
    }
}

impl Worker {
    fn start(index: usize, core: Option<usize>, patience: Patience) -> std::io::Result<Self> {
        let mailbox = Arc::new(Mailbox::new());
        let rank = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let thread = thread::Builder::new().name(format!("gridwise-{index}")).spawn({
            let (mailbox, rank) = (mailbox.clone(), rank.clone());
            move || {
                if let Some(core) = core {
                    topology::pin(core);
                }
                loop {
                    let job = mailbox.take(patience);
                    if job == QUIT {
                        return;
                    }
                    let job = std::ptr::with_exposed_provenance::<Job>(job);
                    // SAFETY: the leader keeps the job until this worker has finished.
                    let job = unsafe { &*job };
                    RUNNING_ON.set(job.device);
                    // SAFETY: the job's own data, and the rank that the leader chose for this worker alone.
                    unsafe { (job.run)(job.data, rank.load(std::sync::atomic::Ordering::Relaxed)) };
                    RUNNING_ON.set(std::ptr::null());
                    mailbox.finish();
                }
            }
        })?;
        Ok(Self {
            mailbox,
            thread: Some(thread),
            rank,
        })
    }
}

/// Where the scratch of a launch lies, for the accelerators.
#[derive(Clone, Copy)]
struct Scratchpad {
    team_words: *mut scratch::Line,
    arenas: *const Memory,
}

impl Scratchpad {
    fn team(self, team: usize, thread: usize, threads: usize) -> Team {
        // SAFETY: the scratch was prepared for two lines a team.
        let words = unsafe { self.team_words.add(2 * team) };
        Team { thread, threads, words }
    }

    fn acc<'a, B: Block, G>(
        self,
        flight: &'a Flight<'a>,
        plan: &LaunchPlan,
        rank: usize,
        block_index: usize,
        block: B,
        grid: G,
    ) -> Cpu<'a, B, G> {
        let shared = if plan.shared_bytes == 0 {
            std::ptr::without_provenance_mut(128)
        } else {
            // SAFETY: the scratch was prepared with an arena a team.
            let arena = unsafe { self.arenas.add(rank / plan.threads) };
            // SAFETY: initialised, and not moved during the launch.
            unsafe { (*arena).start() }
        };
        let seat = flight.seat(rank);
        seat.start_block(block_index);
        Cpu {
            flight,
            seat,
            shared,
            block_index,
            blocks: plan.blocks,
            block,
            grid,
        }
    }
}

fn shared_of<S: SharedLayout>(threads: usize, dynamic_len: usize) -> S {
    S::place(&mut SharedCursor::new(reserved(threads), dynamic_len))
}

/// Shared memory that a block keeps for collectives: none where they vanish.
pub(crate) const fn reserved(threads: usize) -> usize {
    if threads == 1 { 0 } else { reserved_shared(threads, 1) }
}

fn run_plain<K: Kernel, B: Block>(kernel: &K, acc: Cpu<'_, B, ()>, dynamic_len: usize) {
    // SAFETY: `Kernel` lets the runtime copy it.
    let kernel = unsafe { duplicate(kernel) };
    kernel.run(acc, shared_of::<K::Shared>(acc.block.threads(), dynamic_len));
}

fn run_grid<K: GridKernel, B: Block>(kernel: &K, acc: Cpu<'_, B, GridState>, dynamic_len: usize) {
    // SAFETY: `GridKernel` lets the runtime copy it.
    let kernel = unsafe { duplicate(kernel) };
    kernel.run(acc, shared_of::<K::Shared>(acc.block.threads(), dynamic_len));
}

/// Runs a thread of a kernel; a panic ends the launch instead of the program.
fn guarded<B: Block, G: Copy>(acc: Cpu<'_, B, G>, run: impl FnOnce()) {
    // What a panic leaves half done is the launch's own memory, and the launch returns an error.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        acc.flight.caught(payload, acc.block_index, acc.block.thread());
    }
}

/// Meets the team past the end of a block, so that nobody writes shared memory that others still read, and agrees on the next
/// block. The first thread claims it before it arrives; two words alternate, because a slow thread may read one while the
/// first has run through the next block already.
fn next_block_of_team(acc: Cpu<'_, Team, ()>, memory: Scratchpad, team: usize, round: usize) -> Option<usize> {
    const WORDS: [usize; 2] = [1, 2];
    // SAFETY: the second line of the team.
    let line = unsafe { memory.team_words.add(2 * team + 1) };
    let word = line.cast::<u32>().wrapping_add(WORDS[round % 2]);
    catch_unwind(AssertUnwindSafe(|| {
        if acc.block.thread() == 0 {
            let next = u32::try_from(acc.flight.claim_block()).unwrap_or(u32::MAX);
            // SAFETY: inside the line; read by the others after the barrier.
            unsafe { word.write(next) };
        }
        let site = WaitSite {
            what: WaitFor::BlockEnd,
            location: std::panic::Location::caller(),
        };
        acc.block.meet(acc, 1, site);
        // SAFETY: inside the line; written before the barrier.
        unsafe { word.read() as usize }
    }))
    // The only way to unwind here is to leave an aborted launch.
    .ok()
}
