//! An atomic borrows the span it is of: a kernel cannot get both.

use gridwise::prelude::*;

struct Both<'a> {
    counter: Atomic<'a, u32>,
    out: SpanMut<'a, u32>,
}

fn main() {
    let device = Device::open("cpu:blocks=1").unwrap();
    let mut buffer = device.zeroed::<u32>(8).unwrap();
    let out = buffer.span_mut();
    let counter = out.atomic(0);
    let both = Both { counter, out };
    drop(both);
}
