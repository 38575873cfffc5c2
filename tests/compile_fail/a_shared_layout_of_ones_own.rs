//! What shared memory a kernel has is added up before the launch: layouts are the library's.

use gridwise::kernel::{
    hardware::Sealed,
    shared::{SharedCursor, SharedLayout},
};

#[derive(Clone, Copy)]
struct Own;

impl Sealed for Own {}

impl SharedLayout for Own {
    fn place(_: &mut SharedCursor) -> Self {
        Own
    }
}

fn main() {}
