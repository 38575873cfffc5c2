use gridwise::prelude::*;

#[repr(C)]
struct Pair<'a> {
    outs: [SpanMut<'a, u32>; 2],
}

// SAFETY: the two do not overlap, because a mutable span is made once.
unsafe impl Kernel for Pair<'_> {
    const NAME: &'static str = "pair";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.outs[0].len()) {
            self.outs[0].set(acc, i, 1);
            self.outs[1].set(acc, i, 2);
        }
    }
}

fn main() {
    let device = Device::open("cpu").unwrap();
    let mut buffer = device.zeroed::<u32>(4).unwrap();
    let out = buffer.span_mut();
    device.queue().launch(Blocks::Resident, Pair { outs: [out, out] }).unwrap();
}
