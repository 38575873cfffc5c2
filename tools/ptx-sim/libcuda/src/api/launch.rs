//! Launches.

use super::api;
use crate::driver::{FunctionState, driver, stream};
use crate::error::{Answer, Error};
use crate::pointer::{HostFunction, Out, fetch};
use crate::stream::submit;
use crate::work::Work;
use ptx_sim::Grid;
use std::sync::Arc;

/// The driver's `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Config {
    grid: [u32; 3],
    block: [u32; 3],
    shared: u32,
    stream: u64,
    attributes: u64,
    attribute_count: u32,
}

/// The driver's `CUlaunchAttribute`: a number, and 64 bytes whose meaning it says.
#[repr(C)]
#[derive(Clone, Copy)]
struct Attribute {
    id: u32,
    pad: u32,
    value: [i32; 16],
}

const COOPERATIVE: u32 = 2;

/// The bytes of all parameters, from an array of pointers, or from one buffer.
fn parameters(function: &FunctionState, pointers: Out<u64>, extra: Out<u64>) -> Result<Arc<[u8]>, Error> {
    let kernel = function.kernel()?;
    let wanted = kernel.parameter_bytes() as usize;
    if !extra.is_null() {
        if !pointers.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        return from_buffer(extra, wanted);
    }
    let mut bytes = vec![0; wanted];
    for (index, parameter) in kernel.parameters().iter().enumerate() {
        let from = pointers.at(index);
        let from = if pointers.is_null() { 0 } else { from.get()? };
        if from == 0 {
            return Err(Error::INVALID_VALUE);
        }
        let (start, size) = (parameter.offset as usize, parameter.size as usize);
        bytes[start..start + size].copy_from_slice(&fetch(from, size));
    }
    Ok(bytes.into())
}

/// Pairs of a number and a pointer up to a zero: 1, the buffer; 2, where its size is.
fn from_buffer(extra: Out<u64>, wanted: usize) -> Result<Arc<[u8]>, Error> {
    let (mut buffer, mut size) = (0, 0);
    let mut at = 0;
    loop {
        match extra.at(at).get()? {
            0 => break,
            1 => buffer = extra.at(at + 1).get()?,
            2 => size = usize::from_le_bytes(fetch(extra.at(at + 1).get()?, 8).try_into().unwrap_or_default()),
            _ => return Err(Error::INVALID_VALUE),
        }
        at += 2;
    }
    if buffer == 0 && wanted != 0 || size < wanted {
        return Err(Error::INVALID_VALUE);
    }
    Ok(fetch(buffer, wanted).into())
}

fn launch(function: u64, grid: Grid, handle: u64, pointers: Out<u64>, extra: Out<u64>) -> Answer {
    let (context, stream) = stream(handle)?;
    let function = driver().functions.get(function)?;
    let shape = &context.device.shape;
    let product = |axes: [u32; 3]| {
        axes.iter()
            .try_fold(1_u64, |p, &n| p.checked_mul(n.into()))
            .filter(|&n| n != 0)
    };
    let blocks = product(grid.blocks).ok_or(Error::INVALID_VALUE)?;
    let threads = product(grid.threads).ok_or(Error::INVALID_VALUE)?;
    if grid.blocks[0] > i32::MAX as u32 || grid.blocks[1] > 65535 || grid.blocks[2] > 65535 || grid.threads[2] > 64 {
        return Err(Error::INVALID_VALUE);
    }
    if threads > function.max_threads()?.into() || grid.shared > function.max_dynamic()? {
        return Err(Error::INVALID_VALUE);
    }
    let resident = function.resident(threads as u32, grid.shared)?;
    if resident == 0 {
        return Err(Error::LAUNCH_OUT_OF_RESOURCES);
    }
    if grid.cooperative {
        if !shape.cooperative {
            return Err(Error::NOT_SUPPORTED);
        }
        if blocks > u64::from(resident) * u64::from(shape.multiprocessors) {
            return Err(Error::COOPERATIVE_LAUNCH_TOO_LARGE);
        }
    }
    let parameters = parameters(&function, pointers, extra)?;
    submit(&context, &stream, Work::Launch(function, grid, parameters))?;
    Ok(())
}

api! {
    fn cuLaunchKernel(
        function: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, handle: u64, pointers: Out<u64>, extra: Out<u64>,
    ) {
        launch(function, Grid { blocks: [gx, gy, gz], threads: [bx, by, bz], shared, cooperative: false }, handle, pointers, extra)
    }

    fn cuLaunchCooperativeKernel(
        function: u64, gx: u32, gy: u32, gz: u32, bx: u32, by: u32, bz: u32, shared: u32, handle: u64, pointers: Out<u64>,
    ) {
        let grid = Grid { blocks: [gx, gy, gz], threads: [bx, by, bz], shared, cooperative: true };
        launch(function, grid, handle, pointers, Out::NULL)
    }

    fn cuLaunchKernelEx(config: Out<Config>, function: u64, pointers: Out<u64>, extra: Out<u64>) {
        let config = config.get()?;
        let mut cooperative = false;
        for index in 0..config.attribute_count as usize {
            let attribute = Out::<Attribute>::from_address(config.attributes).at(index).get()?;
            match attribute.id {
                COOPERATIVE => cooperative = attribute.value[0] != 0,
                // A cluster of one block is no cluster.
                4 if attribute.value[..3].iter().all(|&n| n <= 1) => {}
                4 => return Err(Error::NOT_SUPPORTED),
                _ => {}
            }
        }
        let grid = Grid { blocks: config.grid, threads: config.block, shared: config.shared, cooperative };
        launch(function, grid, config.stream, pointers, extra)
    }

    fn cuLaunchHostFunc(handle: u64, function: HostFunction, data: u64) {
        let (context, stream) = stream(handle)?;
        submit(&context, &stream, Work::Host(function.ok_or(Error::INVALID_VALUE)?, data))?;
        Ok(())
    }
}
