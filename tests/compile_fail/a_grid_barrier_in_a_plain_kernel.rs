use gridwise::prelude::*;

#[repr(C)]
struct Plain;

// SAFETY: it touches no memory.
unsafe impl Kernel for Plain {
    const NAME: &'static str = "plain";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        acc.sync_grid();
    }
}

fn main() {}
