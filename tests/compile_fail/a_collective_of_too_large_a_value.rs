use gridwise::prelude::*;

#[repr(C)]
struct Large;

// SAFETY: it touches no memory.
unsafe impl Kernel for Large {
    const NAME: &'static str = "large";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        acc.broadcast(|| [0_u64; 9]);
    }
}

fn main() {
    let device = Device::open("cpu").unwrap();
    device.queue().launch(Blocks::Resident, Large).unwrap();
}
