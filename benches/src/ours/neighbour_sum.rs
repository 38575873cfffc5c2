//! The neighbour sum, written in the ways that the guide compares.

use super::device;
use gridwise::host::{buffer::Buffer, device::WaitPolicy};
use gridwise::prelude::*;
use std::time::{Duration, Instant};

/// Elements of a chunk, as the shared memory has them.
pub const CHUNK: usize = 256;

/// How the kernel is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Slices first, the element that wraps around outside the loop.
    Slices,
    /// Slices first, the neighbour by a remainder.
    SlicesRemainder,
    /// Bare indices into the whole arrays, the element that wraps around outside the loop.
    Indices,
    /// Bare indices into the whole arrays, the neighbour by a choice in the loop.
    IndicesRemainder,
    /// No accelerator in the inner loop: plain slices of Rust, what the others are to be measured by.
    Raw,
}

/// `FORM` is a [`Form`]: a kernel each, so that the compiler sees one at a time, as a program would have it.
const SLICES: usize = Form::Slices as usize;
const SLICES_REMAINDER: usize = Form::SlicesRemainder as usize;
const INDICES: usize = Form::Indices as usize;
const INDICES_REMAINDER: usize = Form::IndicesRemainder as usize;
const RAW: usize = Form::Raw as usize;

#[repr(C)]
struct NeighbourSum<'a, const FORM: usize> {
    input: Span<'a, i32>,
    out: SpanMut<'a, i32>,
}

// SAFETY: each frame belongs to one block, and in it each element to one thread; the chunk is written and read in phases separated
// by block barriers. The raw form is for blocks of one thread, as the bench launches it.
unsafe impl<const FORM: usize> Kernel for NeighbourSum<'_, FORM> {
    const NAME: &'static str = "bench_neighbour_sum";
    type Shared = SharedArray<i32, CHUNK>;

    fn run<A: Acc>(self, acc: A, chunk: Self::Shared) {
        match FORM {
            SLICES => self.slices(acc, chunk),
            SLICES_REMAINDER => self.slices_remainder(acc, chunk),
            INDICES => self.indices(acc, chunk),
            INDICES_REMAINDER => self.indices_remainder(acc, chunk),
            _ => self.raw(acc),
        }
    }
}

impl<const FORM: usize> NeighbourSum<'_, FORM> {
    #[inline(always)]
    fn slices<A: Acc>(&self, acc: A, chunk: SharedArray<i32, CHUNK>) {
        for frame in acc.blocks_in_grid(0..self.out.len(), CHUNK) {
            let (input, out) = (&self.input[frame.clone()], self.out.slice(acc, frame));
            let n = input.len();
            let chunk = chunk.prefix(n);
            for i in acc.threads_in_block(0..n) {
                chunk.set(acc, i, input[i]);
            }
            acc.sync_block();
            for i in acc.threads_in_block(0..n - 1) {
                out.set(acc, i, chunk.get(acc, i).wrapping_add(chunk.get(acc, i + 1)));
            }
            if acc.thread_index() == 0 {
                out.set(acc, n - 1, chunk.get(acc, n - 1).wrapping_add(chunk.get(acc, 0)));
            }
            acc.sync_block();
        }
    }

    #[inline(always)]
    fn slices_remainder<A: Acc>(&self, acc: A, chunk: SharedArray<i32, CHUNK>) {
        for frame in acc.blocks_in_grid(0..self.out.len(), CHUNK) {
            let (input, out) = (&self.input[frame.clone()], self.out.slice(acc, frame));
            let n = input.len();
            let chunk = chunk.prefix(n);
            for i in acc.threads_in_block(0..n) {
                chunk.set(acc, i, input[i]);
            }
            acc.sync_block();
            for i in acc.threads_in_block(0..n) {
                let next = if i + 1 < n { i + 1 } else { 0 };
                out.set(acc, i, chunk.get(acc, i).wrapping_add(chunk.get(acc, next)));
            }
            acc.sync_block();
        }
    }

    #[inline(always)]
    fn indices<A: Acc>(&self, acc: A, chunk: SharedArray<i32, CHUNK>) {
        for frame in acc.blocks_in_grid(0..self.out.len(), CHUNK) {
            let (start, last) = (frame.start, frame.end - 1);
            for i in acc.threads_in_block(frame) {
                chunk.set(acc, i - start, self.input[i]);
            }
            acc.sync_block();
            for i in acc.threads_in_block(start..last) {
                let sum = chunk.get(acc, i - start).wrapping_add(chunk.get(acc, i + 1 - start));
                self.out.set(acc, i, sum);
            }
            if acc.thread_index() == 0 {
                let sum = chunk.get(acc, last - start).wrapping_add(chunk.get(acc, 0));
                self.out.set(acc, last, sum);
            }
            acc.sync_block();
        }
    }

    #[inline(always)]
    fn indices_remainder<A: Acc>(&self, acc: A, chunk: SharedArray<i32, CHUNK>) {
        for frame in acc.blocks_in_grid(0..self.out.len(), CHUNK) {
            for i in acc.threads_in_block(frame.clone()) {
                chunk.set(acc, i - frame.start, self.input[i]);
            }
            acc.sync_block();
            for i in acc.threads_in_block(frame.clone()) {
                let own = i - frame.start;
                let next = if own + 1 < frame.len() { own + 1 } else { 0 };
                self.out
                    .set(acc, i, chunk.get(acc, own).wrapping_add(chunk.get(acc, next)));
            }
            acc.sync_block();
        }
    }

    #[inline(always)]
    fn raw<A: Acc>(&self, acc: A) {
        for frame in acc.blocks_in_grid(0..self.out.len(), CHUNK) {
            let input = &self.input[frame.clone()];
            let out = self.out.slice(acc, frame);
            let n = input.len();
            let next = &input[1..];
            for i in 0..n - 1 {
                out.set(acc, i, input[i].wrapping_add(next[i]));
            }
            out.set(acc, n - 1, input[n - 1].wrapping_add(input[0]));
        }
    }
}

/// Input and output on a device, kept from sample to sample.
#[derive(Debug)]
pub struct Arrays {
    input: Buffer<i32>,
    out: Buffer<i32>,
}

impl Arrays {
    /// Copies the input.
    ///
    /// # Panics
    ///
    /// If there is no memory.
    pub fn new(input: &[i32]) -> Self {
        let queue = device(1, WaitPolicy::Passive).queue();
        let upload = || queue.upload(input).expect("there is memory");
        Self {
            input: upload(),
            out: upload(),
        }
    }

    /// What the last pass computed.
    pub fn out(&self) -> &[i32] {
        self.out.span().as_slice()
    }

    /// The time of `passes` passes, a launch each.
    ///
    /// # Panics
    ///
    /// If a launch fails.
    pub fn run(&mut self, form: Form, workers: usize, passes: u64) -> Duration {
        match form {
            Form::Slices => self.run_form::<SLICES>(workers, passes),
            Form::SlicesRemainder => self.run_form::<SLICES_REMAINDER>(workers, passes),
            Form::Indices => self.run_form::<INDICES>(workers, passes),
            Form::IndicesRemainder => self.run_form::<INDICES_REMAINDER>(workers, passes),
            Form::Raw => self.run_form::<RAW>(workers, passes),
        }
    }

    fn run_form<const FORM: usize>(&mut self, workers: usize, passes: u64) -> Duration {
        let queue = device(workers, WaitPolicy::Active).queue();
        let frames = Frames::new(self.out.len(), CHUNK);
        let start = Instant::now();
        for _ in 0..passes {
            let kernel = NeighbourSum::<FORM> {
                input: self.input.span(),
                out: self.out.span_mut(),
            };
            queue.launch(frames, kernel).expect("nothing can fail");
        }
        start.elapsed()
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::peers::neighbour_sum::{input, serial};

    #[test]
    fn every_form_gives_the_sums_of_the_serial_loop() {
        for n in [1, 255, 256, 257, 10_007] {
            let input = input(n);
            let mut expected = vec![0; n];
            serial(&input, &mut expected, CHUNK, 1);
            for form in [
                Form::Slices,
                Form::SlicesRemainder,
                Form::Indices,
                Form::IndicesRemainder,
                Form::Raw,
            ] {
                let mut arrays = Arrays::new(&input);
                arrays.run(form, 2, 1);
                assert_eq!(arrays.out(), expected, "{form:?}, {n}");
            }
        }
    }
}
