use gridwise::prelude::*;

struct Owns {
    numbers: Vec<u32>,
}

// SAFETY: it only reads.
unsafe impl Kernel for Owns {
    const NAME: &'static str = "owns";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {
        assert!(self.numbers.is_empty());
    }
}

fn main() {
    let device = Device::open("cpu").unwrap();
    let kernel = Owns { numbers: Vec::new() };
    device.queue().launch(Blocks::Resident, kernel).unwrap();
}
