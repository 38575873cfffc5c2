//! What an exhibit is, and what the files of the gallery share.

pub(super) use crate::{
    check::{BlockOrder, Kind, Model},
    host::launch::{Grid, LaunchError},
    prelude::*,
};
use crate::{
    check::{Builder, Report},
    kernel::atomic::scope::IsScope,
};

/// Elements of the two buffers that every exhibit has, zero at first.
pub(super) const LEN: usize = 32;

/// A known bug of kernels that synchronise, and its corrected twin.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Exhibit {
    /// One word or a few, joined by underscores.
    pub name: &'static str,
    /// The class of the fault catalogue: `A4.2`.
    pub class: &'static str,
    /// What goes wrong, in a sentence.
    pub about: &'static str,
    /// Kinds of findings, any of which names the bug.
    pub kinds: &'static [Kind],
    /// Random schedules within which it is found.
    pub schedules: usize,
    pub(super) model: fn(&mut Model),
    pub(super) bug: fn(&Device) -> Result<(), LaunchError>,
    pub(super) twin: fn(&Device) -> Result<(), LaunchError>,
}

impl Exhibit {
    fn builder(&self, schedules: usize) -> Builder {
        // Four multiprocessors, so that grids of up to four blocks are resident.
        let mut model = Model::small();
        model.multiprocessors = 4;
        model.step_budget = 200_000;
        (self.model)(&mut model);
        Builder::new().model(model).schedules(schedules)
    }

    /// Looks for the bug, in at most [`schedules`](Self::schedules) schedules.
    pub fn find(&self) -> Report {
        self.builder(self.schedules).run(|device| {
            // The findings are in the report.
            let _ = (self.bug)(device);
        })
    }

    /// Whether a report names the bug.
    pub fn is_found(&self, report: &Report) -> bool {
        report.findings.iter().any(|finding| self.kinds.contains(&finding.kind))
    }

    /// Runs the twin, in ten times as many schedules.
    pub fn check_twin(&self) -> Report {
        self.builder(10 * self.schedules).run(|device| {
            if let Err(error) = (self.twin)(device) {
                // Findings are in the report; this is for what is none.
                panic!("the twin failed: {error}");
            }
        })
    }
}

/// Makes the kernel, the twin and the entry of an exhibit, around a function `kernel(acc, fixed, data, words, shared)`.
macro_rules! exhibit {
    (
        $name:literal, $class:literal, $about:literal,
        finds $kinds:expr,
        $trait:ident on $grid:expr,
        shared $shared:ty
        $(, launches $launches:expr)?
        $(, between $between:expr)?
        $(, schedules $schedules:expr)?
        $(, model $model:expr)?
        $(,)?
    ) => {
        #[repr(C)]
        struct Kern<'a, const FIXED: bool> {
            data: SpanMut<'a, u32>,
            words: SpanMut<'a, u32>,
        }

        // SAFETY: the twin keeps the promise; the bug breaks it, and runs on the checking device alone.
        unsafe impl<const FIXED: bool> $trait for Kern<'_, FIXED> {
            const NAME: &'static str = $name;
            type Shared = $shared;

            $crate::check::gallery::exhibit::exhibit!(@run $trait);
        }

        fn launch<const FIXED: bool>(device: &Device) -> Result<(), LaunchError> {
            let queue = device.queue();
            let allocate = || device.zeroed(LEN).expect("a few words");
            let (mut data, mut words) = (allocate(), allocate());
            #[allow(unused_mut, unused_assignments)]
            let mut launches = 1;
            $(launches = $launches;)?
            let grid: fn(bool) -> Grid = $grid;
            for _ in 0..launches {
                let kernel = Kern::<FIXED> {
                    data: data.span_mut(),
                    words: words.span_mut(),
                };
                $crate::check::gallery::exhibit::exhibit!(@launch $trait, queue, grid(FIXED), kernel)?;
                $(
                    let between: fn(&Device) = $between;
                    between(device);
                )?
            }
            Ok(())
        }

        pub(super) const EXHIBIT: Exhibit = {
            use Kind::*;
            #[allow(unused_mut, unused_assignments)]
            let mut exhibit = Exhibit {
                name: $name,
                class: $class,
                about: $about,
                kinds: &$kinds,
                schedules: 20,
                model: |_| {},
                bug: launch::<false>,
                twin: launch::<true>,
            };
            $(exhibit.schedules = $schedules;)?
            $(exhibit.model = $model;)?
            exhibit
        };
    };
    (@run Kernel) => {
        fn run<A: Acc>(self, acc: A, shared: Self::Shared) {
            kernel(acc, FIXED, &self.data, &self.words, shared);
        }
    };
    (@run GridKernel) => {
        fn run<A: GridAcc>(self, acc: A, shared: Self::Shared) {
            kernel(acc, FIXED, &self.data, &self.words, shared);
        }
    };
    (@launch Kernel, $queue:ident, $grid:expr, $kernel:ident) => {
        $queue.launch($grid, $kernel)
    };
    (@launch GridKernel, $queue:ident, $grid:expr, $kernel:ident) => {
        $queue.launch_cooperative($grid, $kernel)
    };
}
pub(super) use exhibit;

/// A view of the exhibit's words.
pub(super) type Words<'a> = SpanMut<'a, u32>;

/// A sound barrier among `members` single threads, on `words[first]` and the word after it.
#[track_caller]
pub(super) fn sound_barrier<A: Acc>(acc: A, words: &Words<'_>, first: usize, members: u32) {
    let (arrived, generation) = (words.atomic(first), words.atomic(first + 1));
    let round = generation.load(acc, Ordering::Relaxed);
    if arrived.fetch_add(acc, 1, Ordering::AcqRel) + 1 == members {
        arrived.store(acc, 0, Ordering::Relaxed);
        generation.store(acc, round + 1, Ordering::Release);
    } else {
        generation.wait_until(acc, Ordering::Acquire, |now| now != round);
    }
}

/// Takes a lock: a word that is 1 while somebody has it.
#[track_caller]
pub(super) fn lock_word<A: Acc, S: IsScope>(acc: A, word: Atomic<'_, u32, S>) {
    while word
        .compare_exchange(acc, 0, 1, Ordering::Acquire, Ordering::Relaxed)
        .is_err()
    {
        word.wait_until(acc, Ordering::Relaxed, |now| now == 0);
    }
}

/// Gives a lock back.
#[track_caller]
pub(super) fn unlock_word<A: Acc, S: IsScope>(acc: A, word: Atomic<'_, u32, S>) {
    word.store(acc, 0, Ordering::Release);
}

/// A stack of free nodes: word 0 is the head, and the word of a node is the node below it. 0 is none.
pub(super) struct FreeList<'w, 'a> {
    pub(super) words: &'w Words<'a>,
    /// Values that the tag of the head has, at most 2^24. Pops change it.
    pub(super) tags: u32,
}

impl FreeList<'_, '_> {
    /// Takes the top node, or 0.
    #[track_caller]
    pub(super) fn pop<A: Acc>(&self, acc: A) -> u32 {
        self.replace(acc, |top| {
            let node = top & 255;
            let below = match node {
                0 => 0,
                node => self.words.atomic(node as usize).load(acc, Ordering::Relaxed),
            };
            (node, below | ((((top >> 8) + 1) % self.tags) << 8))
        })
    }

    #[track_caller]
    pub(super) fn push<A: Acc>(&self, acc: A, node: u32) {
        self.replace(acc, |top| {
            let below = self.words.atomic(node as usize);
            below.store(acc, top & 255, Ordering::Relaxed);
            (node, node | (top & !255))
        });
    }

    /// Replaces the head by what `new` makes of it, and returns the node that it is about.
    #[track_caller]
    fn replace<A: Acc>(&self, acc: A, new: impl Fn(u32) -> (u32, u32)) -> u32 {
        let head = self.words.atomic(0);
        loop {
            let top = head.load(acc, Ordering::Acquire);
            let (node, new) = new(top);
            if head
                .compare_exchange(acc, top, new, Ordering::AcqRel, Ordering::Relaxed)
                .is_ok()
            {
                return node;
            }
        }
    }
}
