//! Shared memory is aligned to 128 bytes.

use gridwise::prelude::*;

#[derive(Clone, Copy)]
#[repr(C, align(256))]
struct Wide([u8; 256]);

// SAFETY: bytes.
unsafe impl bytemuck::Zeroable for Wide {}
// SAFETY: bytes, without padding.
unsafe impl bytemuck::Pod for Wide {}

#[repr(C)]
struct Kernel256;

// SAFETY: it accesses nothing.
unsafe impl Kernel for Kernel256 {
    const NAME: &'static str = "kernel256";
    type Shared = SharedArray<Wide, 1>;

    fn run<A: Acc>(self, _: A, _: Self::Shared) {}
}

fn main() {
    let device = Device::open("cpu:blocks=1").unwrap();
    device.queue().launch(Blocks::Resident, Kernel256).unwrap();
}
