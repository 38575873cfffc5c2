//! Kernels of the suite `residency`.

use gridwise::prelude::*;

/// Counts its blocks past a grid barrier; may hold shared memory.
#[repr(C)]
pub struct Counts<'a> {
    pub shared_words: usize,
    pub blocks: SpanMut<'a, u32>,
}

// SAFETY: the count is atomic.
unsafe impl GridKernel for Counts<'_> {
    const NAME: &'static str = "counts";
    type Shared = DynamicShared<u64>;

    fn dynamic_len(&self) -> usize {
        self.shared_words
    }

    fn run<A: GridAcc>(self, acc: A, _: Self::Shared) {
        acc.sync_grid();
        if acc.thread_index() == 0 {
            self.blocks.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
        }
        acc.sync_grid();
    }
}

/// Adds one to everything, three times.
#[repr(C)]
pub struct AddThree<'a> {
    pub out: SpanMut<'a, u32>,
}

// SAFETY: each thread accesses its own elements.
unsafe impl Phased for AddThree<'_> {
    const NAME: &'static str = "add_three";
    type Shared = ();
    const PHASES: usize = 1;

    fn phase<A: Acc>(self, acc: A, _: (), _: Phase) {
        for i in acc.threads_in_grid(0..self.out.len()) {
            self.out.set(acc, i, self.out.get(acc, i) + 1);
        }
    }

    fn proceed<A: Acc>(self, _: A, step: usize) -> bool {
        step < 2
    }
}

/// Marks each element, on whatever grid there is.
#[repr(C)]
pub struct Marks<'a> {
    pub out: SpanMut<'a, u32>,
}

// SAFETY: each thread writes its own elements.
unsafe impl GridKernel for Marks<'_> {
    const NAME: &'static str = "marks";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.out.len()) {
            self.out.set(acc, i, self.out.get(acc, i) + 1);
        }
        acc.sync_grid();
    }
}

/// The same without a barrier.
#[repr(C)]
pub struct MarksAlone<'a> {
    pub out: SpanMut<'a, u32>,
}

// SAFETY: each thread writes its own elements.
unsafe impl Kernel for MarksAlone<'_> {
    const NAME: &'static str = "marks_alone";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.out.len()) {
            self.out.set(acc, i, self.out.get(acc, i) + 1);
        }
    }
}
