//! The CPU: our own pool of pinned, persistent workers. A block is one worker, or a team of them with a real block barrier.
//!
//! The thread that asks for a launch takes part in it, so a device of `n` workers owns `n - 1` threads. How a launch reaches
//! the workers, how threads wait, sleep and wake, and how a deadlock is proved: see `README.md`.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::{
    backend::nesting::{self, Number},
    host::{
        device::{CpuOptions, DeviceError},
        launch::{LaunchError, LaunchPlan},
        memory::Memory,
        residency::teams,
        trace::Tracer,
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
mod patience;
mod roster;
mod scratch;
mod seat;
#[cfg(all(test, not(loom), target_os = "linux"))]
mod test;
mod topology;
mod trace;

use acc::{Block, Cpu, Solo, Team};
use flight::Flight;
use mailbox::{Job, Mailbox};
use patience::{Patience, Sleep};
use roster::{Need, Roster};
use scratch::Scratch;
pub(crate) use topology::Topology;
use trace::Tracks;

/// Looks of a waiting thread that has a core for itself, before it yields: a few microseconds, several times what a launch or
/// a barrier takes.
const SPIN_LOOKS: u32 = 1000;

/// A pool of workers.
#[derive(Debug)]
pub(crate) struct CpuDevice {
    pub(crate) number: Number,
    workers: Vec<Worker>,
    roster: Roster,
    looks: u32,
    sleep: Sleep,
    pub(crate) options: CpuOptions,
    pub(crate) topology: Topology,
    tracer: Option<Tracer>,
}

#[derive(Debug)]
struct Worker {
    mailbox: Arc<Mailbox>,
    thread: Option<thread::JoinHandle<()>>,
}

/// All that the ranks of a launch have to know: written before the launch, and small, so that it travels with the job.
struct Work<'a, K, G> {
    flight: Flight<'a>,
    memory: Scratchpad,
    grid: G,
    ranks: usize,
    shared_bytes: usize,
    dynamic_len: usize,
    kernel: K,
}

/// What the ranks of a launch are to do.
#[repr(C)]
struct Task<'a, K, G, F> {
    work: Work<'a, K, G>,
    /// Captures nothing.
    body: F,
}

impl CpuDevice {
    /// Starts `blocks * threads - 1` workers.
    pub(crate) fn open(options: CpuOptions, tracer: Option<Tracer>) -> Result<Self, DeviceError> {
        let topology = Topology::of_this_process();
        let ranks = options.resident_blocks * options.threads_per_block;
        let alone = ranks <= topology.parallelism;
        let looks = if alone { SPIN_LOOKS } else { 0 };
        let pinned = options.pin && alone && !topology.cores.is_empty();
        let number = Number::new(false);
        let mut device = Self {
            number,
            workers: Vec::with_capacity(ranks - 1),
            roster: Roster::new(ranks - 1),
            looks,
            sleep: Sleep::of(options.wait, looks),
            options,
            topology,
            tracer,
        };
        let patience = Patience::of_worker(options.wait, looks);
        for worker in 1..ranks {
            let core = pinned.then(|| device.topology.cores[worker % device.topology.cores.len()]);
            // On failure the device is dropped, and the workers started so far quit.
            device
                .workers
                .push(
                    Worker::start(worker, number, core, patience).map_err(|source| DeviceError::Threads {
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
        let teams = plan.blocks.min(teams(self.workers.len() + 1, plan.threads));
        let need = Need {
            at_least: plan.threads - 1,
            at_most: teams * plan.threads - 1,
            exclusive: false,
        };
        if plan.threads == 1 {
            self.fly(
                plan,
                need,
                kernel,
                |_| (),
                |work, rank| {
                    let flight = &work.flight;
                    let mut block = rank;
                    while block < flight.blocks && !flight.is_aborted() {
                        let acc = work.acc(rank, block, Solo);
                        guarded(acc, || run_plain(&work.kernel, acc, work.dynamic_len));
                        block = if flight.blocks > work.ranks {
                            flight.claim_block()
                        } else {
                            flight.blocks
                        };
                    }
                },
            )
        } else {
            self.fly(
                plan,
                need,
                kernel,
                |_| (),
                |work, rank| {
                    let (flight, threads) = (&work.flight, work.flight.threads);
                    let (team, thread) = (rank / threads, rank % threads);
                    let teams = work.ranks / threads;
                    let mut block = team;
                    let mut round = 0;
                    while block < flight.blocks && !flight.is_aborted() {
                        let acc = work.acc(rank, block, work.memory.team(team, thread, threads));
                        guarded(acc, || run_plain(&work.kernel, acc, work.dynamic_len));
                        if flight.blocks <= teams {
                            break;
                        }
                        round += 1;
                        let Some(next) = next_block_of_team(acc, work.memory, team, round) else {
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
        let grid = |scratch: &mut Scratch| scratch.prepare_grid(plan.barrier, plan.blocks);
        if plan.threads == 1 {
            self.fly(plan, need, kernel, grid, |work, rank| {
                let acc = work.acc(rank, rank, Solo);
                guarded(acc, || run_grid(&work.kernel, acc, work.dynamic_len));
            })
        } else {
            self.fly(plan, need, kernel, grid, |work, rank| {
                let threads = work.flight.threads;
                let (team, thread) = (rank / threads, rank % threads);
                let acc = work.acc(rank, team, work.memory.team(team, thread, threads));
                guarded(acc, || run_grid(&work.kernel, acc, work.dynamic_len));
            })
        }
    }

    /// One launch: admission, scratch, workers, end. `body` is run once for each rank.
    fn fly<K, G: Copy>(
        &self,
        plan: &LaunchPlan,
        need: Need,
        kernel: K,
        prepare: impl FnOnce(&mut Scratch) -> G,
        body: impl Fn(&Work<'_, K, G>, usize),
    ) -> Result<(), LaunchError> {
        debug_assert!(
            !nesting::is_inside(self.number),
            "the queue refuses a launch that would wait for itself"
        );
        let asked_at = self.tracer.as_ref().map(Tracer::now);
        let mut admission = self.roster.admit(need);
        let scratch = &mut *admission.scratch;
        let teams = teams(scratch.workers.len() + 1, plan.threads);
        let ranks = teams * plan.threads;
        if scratch.prepare(teams, plan.threads, plan.shared_bytes).is_none() {
            self.roster.release(admission, false);
            return Err(LaunchError::OutOfMemory {
                kernel: plan.kernel,
                bytes: teams * plan.shared_bytes,
            });
        }
        scratch.rest.prepare(teams, plan.timeout);
        if let Some(tracer) = &self.tracer {
            scratch.rest.trace(Tracks::new(tracer, ranks, self.looks));
        }
        let grid = prepare(scratch);
        let memory = Scratchpad {
            team_words: scratch.team_words.as_mut_ptr(),
            arenas: scratch.arenas.as_ptr(),
        };
        let flight = Flight::new(
            &scratch.seats[..ranks],
            &scratch.rest,
            scratch.launches,
            (plan.blocks, plan.threads),
            self.looks,
            self.sleep,
        );
        let task = Task {
            work: Work {
                flight,
                memory,
                grid,
                ranks,
                shared_bytes: plan.shared_bytes,
                dynamic_len: plan.dynamic_len,
                kernel,
            },
            body,
        };
        self.on_ranks(&scratch.workers[..ranks - 1], &task);

        let failure = task.work.flight.failure();
        if let Some(asked_at) = asked_at
            && let Some(tracks) = admission.scratch.rest.traced()
        {
            tracks.hand_in(plan, asked_at);
        }
        self.roster.release(admission, failure.is_none());
        match failure {
            None => Ok(()),
            Some(failure) => Err(failure.into_error(plan.kernel)),
        }
    }

    /// Runs the body once for each rank: 0 on this thread, the others on `workers`. Returns when all are done.
    fn on_ranks<K, G: Copy, F: Fn(&Work<'_, K, G>, usize)>(&self, workers: &[usize], task: &Task<'_, K, G, F>) {
        /// # Safety
        /// `task` points to a `Task<K, G, F>` that outlives the call; each rank is run once.
        unsafe fn call<K, G: Copy, F: Fn(&Work<'_, K, G>, usize)>(task: *const (), rank: usize) {
            // SAFETY: by the caller.
            let Task { work, body } = unsafe { &*task.cast::<Task<'_, K, G, F>>() };
            work.flight.seat(rank).start(work.flight.number);
            match work.flight.outer() {
                // SAFETY: the leader is inside of them, and waits for this rank.
                Some(outer) => unsafe { outer.inside(|| body(work, rank)) },
                None => body(work, rank),
            }
            work.flight.done(rank);
        }
        let posted = Posted {
            device: self,
            workers,
            flight: &task.work.flight,
        };
        let data = std::ptr::from_ref(task).cast::<()>();
        for (rank, &worker) in workers.iter().enumerate() {
            // SAFETY: the task outlives the worker's part, because `posted` waits; it holds references, numbers, and a kernel
            // that lets itself be copied.
            unsafe { self.workers[worker].mailbox.post(call::<K, G, F>, task, rank + 1) };
        }
        nesting::inside(self.number, || {
            // SAFETY: the task is this launch's, and rank 0 is run here alone.
            unsafe { call::<K, G, F>(data, 0) }
        });
        drop(posted);
    }
}

/// Waits for the workers, whatever happens: the work is on the leader's stack.
struct Posted<'a> {
    device: &'a CpuDevice,
    workers: &'a [usize],
    flight: &'a Flight<'a>,
}

impl Drop for Posted<'_> {
    #[inline]
    fn drop(&mut self) {
        let CpuDevice {
            workers, looks, sleep, ..
        } = self.device;
        for &worker in self.workers {
            workers[worker]
                .mailbox
                .wait(*looks, *sleep, || self.flight.fail_if_late());
        }
    }
}

impl Drop for CpuDevice {
    fn drop(&mut self) {
        for worker in &self.workers {
            worker.mailbox.post_quit();
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
    fn start(index: usize, device: Number, core: Option<usize>, patience: Patience) -> std::io::Result<Self> {
        let mailbox = Arc::new(Mailbox::new());
        let thread = thread::Builder::new().name(format!("gridwise-{index}")).spawn({
            let mailbox = mailbox.clone();
            move || {
                if let Some(core) = core {
                    topology::pin(core);
                }
                nesting::inside(device, || {
                    while let Some(Job { run, data, rank }) = mailbox.take(patience) {
                        // SAFETY: the leader keeps what the job points to until this worker has finished; it chose this rank
                        // for this worker alone.
                        unsafe { run(data, rank) };
                        mailbox.finish();
                    }
                });
            }
        })?;
        Ok(Self {
            mailbox,
            thread: Some(thread),
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
}

impl<K, G: Copy> Work<'_, K, G> {
    fn acc<B: Block>(&self, rank: usize, block_index: usize, block: B) -> Cpu<'_, B, G> {
        let shared = if self.shared_bytes == 0 {
            std::ptr::without_provenance_mut(128)
        } else {
            // SAFETY: the scratch was prepared with an arena a team.
            let arena = unsafe { self.memory.arenas.add(rank / self.flight.threads) };
            // SAFETY: initialised, and not moved during the launch.
            unsafe { (*arena).start() }
        };
        let seat = self.flight.seat(rank);
        seat.start_block(block_index);
        Cpu {
            flight: &self.flight,
            seat,
            shared,
            block_index,
            blocks: self.flight.blocks,
            block,
            grid: self.grid,
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
    let tracks = acc.flight.tracks().map(|tracks| (tracks, acc.flight.rank(acc.seat)));
    if let Some((tracks, rank)) = tracks {
        tracks.begin_block(rank, acc.block_index);
    }
    // What a panic leaves half done is the launch's own memory, and the launch returns an error.
    if let Err(payload) = catch_unwind(AssertUnwindSafe(run)) {
        acc.flight.caught(payload, acc.block_index, acc.block.thread());
    }
    if let Some((tracks, rank)) = tracks {
        tracks.end_block(rank);
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
