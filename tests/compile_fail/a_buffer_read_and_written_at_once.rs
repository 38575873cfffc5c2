use gridwise::prelude::*;

#[repr(C)]
struct Copies<'a> {
    input: Span<'a, u32>,
    out: SpanMut<'a, u32>,
}

// SAFETY: each thread writes its own elements.
unsafe impl Kernel for Copies<'_> {
    const NAME: &'static str = "copies";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..self.out.len()) {
            self.out.set(acc, i, self.input[i]);
        }
    }
}

fn main() {
    let device = Device::open("cpu").unwrap();
    let mut buffer = device.zeroed::<u32>(4).unwrap();
    let kernel = Copies {
        input: buffer.span(),
        out: buffer.span_mut(),
    };
    device.queue().launch(Blocks::Resident, kernel).unwrap();
}
