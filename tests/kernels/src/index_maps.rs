//! Kernels of the suite `index_maps`.

use gridwise::prelude::*;

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
        let thread = acc.block_index() * acc.thread_count() + acc.thread_index();
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

pub const HIGH: usize = 1 << 33;
pub const WIDE: usize = 1 << 30;

// SAFETY: each thread writes its own elements.
unsafe impl Kernel for FirstIndices<'_> {
    const NAME: &'static str = "first_indices";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let thread = acc.block_index() * acc.thread_count() + acc.thread_index();
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
