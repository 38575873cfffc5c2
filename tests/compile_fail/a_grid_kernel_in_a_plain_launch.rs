use gridwise::prelude::*;

#[repr(C)]
struct Meets;

// SAFETY: it touches no memory.
unsafe impl GridKernel for Meets {
    const NAME: &'static str = "meets";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        acc.sync_grid();
    }
}

fn main() {
    let device = Device::open("cpu").unwrap();
    device.queue().launch(Blocks::Resident, Meets).unwrap();
}
