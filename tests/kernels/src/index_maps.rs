//! Kernels of the suite `index_maps`.

use core::ops::Range;

use gridwise::{
    kernel::domain::{Domain, Run},
    prelude::*,
};

/// A domain whose indices have a place in a table, and its frames. In fields of two compilers alike, which a range is not.
pub trait Table: Copy {
    type Domain: Domain;
    fn domain(self) -> Self::Domain;
    fn frame(self) -> <Self::Domain as Domain>::FrameSize;
    /// Row-major position of an index; panics outside the domain.
    fn position(self, index: <Self::Domain as Domain>::Index) -> usize;
    /// The indices of a run.
    fn of_run(run: <Self::Domain as Domain>::Run) -> impl Iterator<Item = <Self::Domain as Domain>::Index>;
}

/// Indices from a start to an end.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub start: usize,
    pub end: usize,
    pub frame: usize,
}

impl Table for Line {
    type Domain = Range<usize>;

    fn domain(self) -> Range<usize> {
        self.start..self.end
    }

    fn frame(self) -> usize {
        self.frame
    }

    fn position(self, index: usize) -> usize {
        assert!(self.start <= index && index < self.end, "an index outside the domain");
        index - self.start
    }

    fn of_run(run: Range<usize>) -> impl Iterator<Item = usize> {
        run
    }
}

/// Indices of several dimensions.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Space<const N: usize> {
    pub start: [usize; N],
    pub end: [usize; N],
    pub frame: [usize; N],
}

impl<const N: usize> Table for Space<N> {
    type Domain = [Range<usize>; N];

    fn domain(self) -> Self::Domain {
        core::array::from_fn(|axis| self.start[axis]..self.end[axis])
    }

    fn frame(self) -> [usize; N] {
        self.frame
    }

    fn position(self, index: [usize; N]) -> usize {
        (0..N).fold(0, |position, axis| {
            let (start, end) = (self.start[axis], self.end[axis]);
            assert!(start <= index[axis] && index[axis] < end, "an index outside the domain");
            position * (end - start) + (index[axis] - start)
        })
    }

    fn of_run(run: Run<N>) -> impl Iterator<Item = [usize; N]> {
        assert!(run.len > 0, "a run has an index");
        run.columns().map(move |column| {
            let mut index = run.start;
            index[N - 1] = column;
            index
        })
    }
}

/// Ways through a domain.
pub const WALKS: u32 = 8;

/// Counts the visits of each index, each way.
#[repr(C)]
pub struct Visit<'a, T> {
    pub table: T,
    pub walk: u32,
    pub visits: SpanMut<'a, u32>,
}

// SAFETY: all accesses are atomic, and there are no barriers.
unsafe impl<T: Table> Kernel for Visit<'_, T> {
    const NAME: &'static str = "visit";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let visit = |index| {
            self.visits
                .atomic(self.table.position(index))
                .fetch_add(acc, 1, Ordering::Relaxed);
        };
        let (domain, frame) = (self.table.domain(), self.table.frame());
        match self.walk {
            0 => acc.threads_in_grid(domain).for_each(visit),
            1 => acc.runs_in_grid(domain).flat_map(T::of_run).for_each(visit),
            2 => {
                for frame in acc.blocks_in_grid(domain, frame) {
                    acc.threads_in_block(frame).for_each(visit);
                }
            }
            3 => {
                for frame in acc.blocks_in_grid(domain, frame) {
                    acc.runs_in_block(frame).flat_map(T::of_run).for_each(visit);
                }
            }
            4 => {
                for frame in acc.warps_in_grid(domain, frame) {
                    acc.threads_in_warp(frame).for_each(visit);
                }
            }
            5 => {
                for index in acc.threads_in_grid(domain) {
                    visit(index);
                }
            }
            6 => {
                let mut walk = acc.threads_in_grid(domain);
                for index in walk.by_ref().take(3) {
                    visit(index);
                }
                walk.for_each(visit);
            }
            _ => {
                // A block's part of the first axis does not exist for a general domain: give each block the whole, in turn.
                if acc.block_index() == 0 {
                    for frame in acc.warps_in_block(domain, frame) {
                        acc.threads_in_warp(frame).for_each(visit);
                    }
                }
            }
        }
    }
}

/// Counts what each thread of the grid gets.
#[repr(C)]
pub struct Shares<'a> {
    pub len: usize,
    pub shares: SpanMut<'a, u64>,
}

// SAFETY: each thread writes its own element.
unsafe impl Kernel for Shares<'_> {
    const NAME: &'static str = "shares";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let thread = acc.thread_index_in_grid();
        let (mut share, mut last) = (0, None);
        for index in acc.threads_in_grid(0..self.len) {
            assert!(last < Some(index), "indices ascend");
            last = Some(index);
            share += 1;
        }
        self.shares.set(acc, thread, share);
    }
}

/// Shows that all threads of a block get the same frames, as barriers inside a loop over frames need.
#[repr(C)]
pub struct SameFrames<'a> {
    pub same: SpanMut<'a, u32>,
}

// SAFETY: `same` is written by each block's first thread in its own element; all threads of a block get the same frames, which
// is what is tested, else the launch ends with an error.
unsafe impl Kernel for SameFrames<'_> {
    const NAME: &'static str = "same_frames";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let (mut same, mut frames) = (true, 0);
        for frame in acc.blocks_in_grid([0..7, 0..11], [2, 3]) {
            let first = acc.broadcast(|| [frame[0].start, frame[1].start]);
            same &= acc.sync_block_all(first == [frame[0].start, frame[1].start]);
            frames += 1;
        }
        if acc.thread_index() == 0 {
            self.same.set(acc, acc.block_index(), if same { frames } else { 0 });
        }
    }
}

/// The first indices of each thread in a domain that nobody could walk to its end.
#[repr(C)]
pub struct FirstIndices<'a> {
    pub line: SpanMut<'a, u64>,
    pub plane: SpanMut<'a, u64>,
}

pub const HIGH: usize = 1 << (usize::BITS / 2 + 1);
pub const WIDE: usize = 1 << (usize::BITS / 2 - 2);

// SAFETY: each thread writes its own elements.
unsafe impl Kernel for FirstIndices<'_> {
    const NAME: &'static str = "first_indices";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let thread = acc.thread_index_in_grid();
        for (i, index) in acc.threads_in_grid(0..usize::MAX).take(2).enumerate() {
            self.line.set(acc, 2 * thread + i, index as u64);
        }
        for (i, [row, column]) in acc.threads_in_grid([0..HIGH, 0..WIDE]).take(2).enumerate() {
            assert!(row < HIGH && column < WIDE);
            self.plane.set(acc, 2 * thread + i, (row * WIDE + column) as u64);
        }
        let run = acc.runs_in_grid(0..usize::MAX).next();
        assert!(run.is_some_and(|run| run.start < run.end), "a run has an index");
        let run = acc.runs_in_grid([0..HIGH, 0..WIDE]).next();
        assert!(
            run.is_some_and(|run| run.len >= 1 && run.columns().end <= WIDE),
            "a run stays in its row"
        );
    }
}

/// Start and end of the frames of a block.
#[repr(C)]
pub struct FrameEnds<'a> {
    pub ends: SpanMut<'a, u64>,
}

pub const HALF: usize = usize::MAX / 2;

// SAFETY: each frame belongs to one block, whose first thread writes it.
unsafe impl Kernel for FrameEnds<'_> {
    const NAME: &'static str = "frame_ends";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for frame in acc.blocks_in_grid(0..usize::MAX, HALF) {
            if acc.thread_index() == 0 {
                let number = frame.start / HALF;
                self.ends.set(acc, 2 * number, frame.start as u64);
                self.ends.set(acc, 2 * number + 1, frame.end as u64);
            }
        }
    }
}

/// Asks for a map that cannot be.
#[repr(C)]
pub struct BadMap {
    pub zero_frame: bool,
}

// SAFETY: it touches no memory.
unsafe impl Kernel for BadMap {
    const NAME: &'static str = "bad_map";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        if self.zero_frame {
            let _ = acc.blocks_in_grid([0..4, 0..4], [1, 0]);
        } else {
            let _ = acc.threads_in_grid([0..usize::MAX, 0..2]);
        }
    }
}
