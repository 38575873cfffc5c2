//! One source, two structures: a kernel cut into phases, run as one resident grid or as one launch a phase.

use super::{
    GridKernel, Kernel,
    acc::{Acc, GridAcc},
    shared::SharedLayout,
    span::SpanMut,
};

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Phase {
    /// Which phase of the step, below [`Phased::PHASES`].
    pub index: usize,
    /// Which step, from 0.
    pub step: usize,
}

/// A kernel cut into phases: between two phases lies a synchronisation of the whole grid.
///
/// Run *persistent*, it is one cooperative launch: [`enter`](Self::enter) once, then step after step the phases with a grid
/// barrier after each, until [`proceed`](Self::proceed) says no, then [`leave`](Self::leave). Run by *relaunch*, every phase is
/// a launch of its own, with `enter` and `leave` around each. The grid has the same size in both, so both give the same bits if
/// the phases are deterministic.
///
/// ```
/// use gridwise::prelude::*;
///
/// /// Adds to each element its right neighbour, four times: a step is copying, then adding.
/// #[repr(C)]
/// struct Neighbours<'a> {
///     data: SpanMut<'a, u32>,
///     copy: SpanMut<'a, u32>,
/// }
///
/// // SAFETY: in a phase each thread writes its own elements of one array and reads the other.
/// unsafe impl Phased for Neighbours<'_> {
///     const NAME: &'static str = "neighbours";
///     type Shared = ();
///     const PHASES: usize = 2;
///
///     fn phase<A: Acc>(self, acc: A, _: (), at: Phase) {
///         let n = self.data.len();
///         for i in acc.threads_in_grid(0..n) {
///             match at.index {
///                 0 => self.copy.set(acc, i, self.data.get(acc, i)),
///                 _ => self.data.set(acc, i, self.copy.get(acc, i) + self.copy.get(acc, (i + 1) % n)),
///             }
///         }
///     }
///
///     fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
///         step + 1 < 4
///     }
/// }
///
/// let device = Device::open("cpu:blocks=2")?;
/// let queue = device.queue();
/// for strategy in [Strategy::Persistent, Strategy::Relaunch] {
///     let (mut data, mut copy) = (queue.upload(&[1; 100])?, device.zeroed(100)?);
///     let kernel = Neighbours { data: data.span_mut(), copy: copy.span_mut() };
///     let report = queue.run(kernel, strategy)?;
///     assert_eq!(report.steps, 4);
///     assert_eq!(queue.download(&data)?, [16; 100]);
/// }
/// # Ok::<(), gridwise::Error>(())
/// ```
///
/// # Safety
///
/// As for [`Kernel`], within a phase; accesses of different phases are ordered by the runtime. And:
///
/// * `proceed` gives the same answer in every thread, from device memory that the phases wrote; phase 0 of the next step does
///   not write what `proceed` reads (alternate by the parity of the step where it would);
/// * what is kept in shared memory between phases is loaded by `enter` and stored back by `leave`; a phase reads device memory
///   that another block's `leave` would store only through what that phase itself has stored.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no phases to run",
    label = "not `Phased`",
    note = "a `Kernel` goes to `launch`, a `GridKernel` to `launch_cooperative`, `Tasks` to `run_tasks`"
)]
pub unsafe trait Phased: Sized {
    /// Names the kernel in errors and reports.
    const NAME: &'static str;

    /// The shared memory that each block holds, as for [`Kernel::Shared`].
    type Shared: SharedLayout;

    /// Phases in a step, at least 1.
    const PHASES: usize;

    /// Elements in each [`DynamicShared`](super::DynamicShared) of [`Shared`](Self::Shared), for this run.
    fn dynamic_len(&self) -> usize {
        0
    }

    /// Loads what the block keeps on chip. A block barrier follows.
    fn enter<A: Acc>(self, _acc: A, _shared: Self::Shared) {}

    /// The work of one phase.
    fn phase<A: Acc>(self, acc: A, shared: Self::Shared, at: Phase);

    /// Stores back what the block keeps on chip. A block barrier precedes.
    fn leave<A: Acc>(self, _acc: A, _shared: Self::Shared) {}

    /// After the last phase of `step`: whether there is another step.
    fn proceed<A: Acc>(self, acc: A, step: usize) -> bool;
}

/// Another bitwise copy of a kernel, for a thread or for the next call on it.
///
/// # Safety
/// The kernel's trait lets the runtime copy it, and the kernel is not dropped through the copy.
#[inline(always)]
#[doc(hidden)]
pub unsafe fn duplicate<K>(kernel: &K) -> K {
    const {
        assert!(
            !core::mem::needs_drop::<K>(),
            "a kernel is plain data: it cannot own anything that is dropped"
        )
    };
    // SAFETY: by the caller; `K` has no destructor.
    unsafe { core::ptr::read(kernel) }
}

/// Every how many steps the clock is read: rarely enough to cost nothing.
const SAMPLE_EVERY: usize = 32;

/// Words that each block writes in [`PersistentForm::record`].
#[doc(hidden)]
pub const RECORD_WORDS: usize = 16;
/// Word of a block's record: steps done.
#[doc(hidden)]
pub const RECORD_STEPS: usize = 0;
/// Word of a block's record: steps that were timed.
#[doc(hidden)]
pub const RECORD_SAMPLES: usize = 1;
/// Word of a block's record: nanoseconds in phases, over the timed steps.
#[doc(hidden)]
pub const RECORD_PHASES: usize = 2;
/// Word of a block's record: nanoseconds in barriers, over the timed steps.
#[doc(hidden)]
pub const RECORD_BARRIERS: usize = 3;

/// The persistent form.
#[repr(C)]
#[doc(hidden)]
pub struct PersistentForm<'a, P> {
    /// The phases.
    pub(crate) phases: P,
    /// [`RECORD_WORDS`] words a block.
    pub(crate) record: SpanMut<'a, u64>,
}

// SAFETY: the phases keep their promise between two barriers, and there is a barrier after each; each block's first thread
// writes its own record. `proceed` is the same everywhere, so all blocks meet the same barriers.
unsafe impl<P: Phased> GridKernel for PersistentForm<'_, P> {
    const NAME: &'static str = P::NAME;
    type Shared = P::Shared;

    fn dynamic_len(&self) -> usize {
        self.phases.dynamic_len()
    }

    #[inline(always)]
    fn run<A: GridAcc>(self, acc: A, shared: P::Shared) {
        // SAFETY: `Phased` allows copies.
        let phases = || unsafe { duplicate(&self.phases) };
        phases().enter(acc, shared);
        acc.sync_block();
        let (mut in_phases, mut in_barriers, mut samples) = (0, 0, 0);
        let mut step = 0;
        loop {
            // One loop for both: a second copy of the phases would double the registers that a GPU needs.
            let timed = step % SAMPLE_EVERY == SAMPLE_EVERY - 1;
            let clock = || if timed { acc.clock() } else { 0 };
            for index in 0..P::PHASES {
                let start = clock();
                phases().phase(acc, shared, Phase { index, step });
                let worked = clock();
                acc.sync_grid();
                in_phases += worked - start;
                in_barriers += clock() - worked;
            }
            samples += u64::from(timed);
            let more = phases().proceed(acc, step);
            step += 1;
            if !more {
                break;
            }
        }
        acc.sync_block();
        phases().leave(acc, shared);
        if acc.thread() == 0 {
            let record = self
                .record
                .slice(acc, acc.block() * RECORD_WORDS..(acc.block() + 1) * RECORD_WORDS);
            record.set(acc, RECORD_STEPS, step as u64);
            record.set(acc, RECORD_SAMPLES, samples);
            record.set(acc, RECORD_PHASES, in_phases);
            record.set(acc, RECORD_BARRIERS, in_barriers);
        }
    }
}

/// One launch of the relaunch form.
///
/// The launch of phase 0 first decides whether its step is to be done at all, so that `proceed` costs no launch of its own. Two
/// words alternate by the parity of the step: 0 while the run goes on, else the number of steps done. Blocks read the word of
/// the step before while the first block writes the word of this one.
#[repr(C)]
#[doc(hidden)]
pub struct RelaunchForm<'a, P> {
    /// The phases.
    pub(crate) phases: P,
    /// Which phase this launch does, its step counted from the word [`RELAUNCH_BASE`].
    pub(crate) at: Phase,
    /// [`RELAUNCH_WORDS`] words, all 0 at the start: two that say in turn after how many steps the run has stopped, then one
    /// that the host alone writes, and which lets it repeat launches that were recorded once.
    pub(crate) words: SpanMut<'a, u64>,
}

/// Words of [`RelaunchForm::words`].
#[doc(hidden)]
pub const RELAUNCH_WORDS: usize = 3;
/// Word of [`RelaunchForm::words`]: the step that others are counted from.
#[doc(hidden)]
pub const RELAUNCH_BASE: usize = 2;

// SAFETY: within a phase the author's promise holds; phases are ordered by the launches. One thread writes a word that nobody
// else reads in the same launch.
unsafe impl<P: Phased> Kernel for RelaunchForm<'_, P> {
    const NAME: &'static str = P::NAME;
    type Shared = P::Shared;

    fn dynamic_len(&self) -> usize {
        self.phases.dynamic_len()
    }

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, shared: P::Shared) {
        // SAFETY: `Phased` allows copies.
        let phases = || unsafe { duplicate(&self.phases) };
        let step = self.words.get(acc, RELAUNCH_BASE) as usize + self.at.step;
        let at = Phase { step, ..self.at };
        let stopped = if at.index > 0 || step == 0 {
            self.words.get(acc, step % 2)
        } else {
            let before = self.words.get(acc, (step + 1) % 2);
            let now = if before != 0 || phases().proceed(acc, step - 1) {
                before
            } else {
                step as u64
            };
            if acc.block() == 0 && acc.thread() == 0 {
                self.words.set(acc, step % 2, now);
            }
            now
        };
        if stopped != 0 {
            return;
        }
        phases().enter(acc, shared);
        acc.sync_block();
        acc.phase_begins();
        phases().phase(acc, shared, at);
        acc.sync_block();
        phases().leave(acc, shared);
    }
}
