//! Runs the kernels on the device that `GRIDWISE_DEVICE` names: `cuda:0`, `cpu`, `check`.

use gridwise::{Module, prelude::*};
use kernels::{Axpy, KERNELS, Rotate};

/// The kernels as the build script has compiled them.
// SAFETY: the build script has compiled the crate that the table is of.
static MODULE: Module = unsafe { Module::new(include_str!(env!("KERNELS_PTX")), &KERNELS) };

fn main() -> Result<(), gridwise::Error> {
    let device = Device::from_env()?;
    device.load(&MODULE)?;
    let queue = device.queue();

    let x = queue.upload(&[1.0_f32; 1000])?;
    let mut y = queue.upload(&[2.0_f32; 1000])?;
    let axpy = Axpy { a: 3.0, x: x.span(), y: y.span_mut() };
    queue.launch(Frames::new(1000, 256), axpy)?;
    assert_eq!(queue.download(&y)?, [5.0; 1000]);

    let (mut a, mut b) = (queue.upload(&[0_u32; 1000])?, device.zeroed(1000)?);
    let rotate = Rotate { arrays: [a.span_mut(), b.span_mut()], rounds: 10 };
    let resident = device.grid_residency(&rotate);
    queue.launch_cooperative(Blocks::Resident, rotate)?;
    assert_eq!(queue.download(&a)?, [10; 1000]);

    println!(
        "{}: {} blocks of {} threads resident, limited by {}",
        device.name(),
        resident.blocks(),
        resident.threads_per_block,
        resident.limited_by
    );
    Ok(())
}
