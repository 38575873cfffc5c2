//! The length of a line, and the extents of a plane, where index maps want ranges.

use gridwise::prelude::*;

#[repr(C)]
struct Fill<'a> {
    line: SpanMut<'a, u32>,
}

// SAFETY: each element is written by the one thread that owns it.
unsafe impl Kernel for Fill<'_> {
    const NAME: &'static str = "fill";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(self.line.len()) {
            self.line.set(acc, i, 1);
        }
        for [row, column] in acc.threads_in_grid([4, 4]) {
            self.line.set(acc, 4 * row + column, 1);
        }
    }
}

fn main() {}
