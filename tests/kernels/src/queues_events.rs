//! Kernels of the suite `queues_events`.

use gridwise::prelude::*;

/// `out[i] = a * in[i] + b`
#[repr(C)]
pub struct Scale<'a> {
    pub factor: u32,
    pub input: Span<'a, u32>,
    pub out: SpanMut<'a, u32>,
}

// SAFETY: each thread writes its own elements.
unsafe impl Kernel for Scale<'_> {
    const NAME: &'static str = "scale";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.out.len()) {
            self.out.set(acc, i, self.factor * self.input[i]);
        }
    }
}
