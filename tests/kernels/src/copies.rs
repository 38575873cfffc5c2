//! Kernels of the suite `copies`.

use gridwise::prelude::*;

/// Doubles every element.
#[repr(C)]
pub struct Double<'a> {
    pub out: SpanMut<'a, u32>,
}

// SAFETY: each thread accesses its own elements.
unsafe impl Kernel for Double<'_> {
    const NAME: &'static str = "double";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.out.len()) {
            self.out.set(acc, i, 2 * self.out.get(acc, i));
        }
    }
}
