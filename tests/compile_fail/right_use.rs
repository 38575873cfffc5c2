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
    let queue = device.queue();
    let input = queue.upload(&[1, 2, 3]).unwrap();
    let mut out = device.zeroed(3).unwrap();
    let kernel = Copies {
        input: input.span(),
        out: out.span_mut(),
    };
    queue.launch(Blocks::Resident, kernel).unwrap();
    assert_eq!(queue.download(&out).unwrap(), [1, 2, 3]);
}
