//! Memory.

use super::api;
use crate::driver::{Context, current, driver, healthy, lock, stream};
use crate::error::{Answer, Error};
use crate::pointer::{Out, fetch};
use crate::stream::{Stream, submit};
use crate::work::Work;
use ptx_sim::{Kind, Memory};
use std::sync::Arc;

/// Refuses what would break a capture that forbids it.
pub(super) fn outside_capture(context: &Context) -> Answer {
    let streams = lock(&context.streams);
    for capture in streams.iter().filter_map(|s| s.capture()) {
        if capture.mode == 0 || capture.mode == 1 && capture.thread == std::thread::current().id() {
            capture.invalidate();
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
    }
    Ok(())
}

fn allocate(place: Out<u64>, bytes: usize, kind: Kind) -> Answer {
    let context = healthy()?;
    if bytes == 0 || place.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    outside_capture(&context)?;
    place.set(
        context
            .device
            .sim
            .memory
            .allocate(bytes as u64, kind)
            .ok_or(Error::OUT_OF_MEMORY)?,
    )
}

/// Waits for the device, as the driver does, and frees.
fn free(address: u64, kind: Kind) -> Answer {
    let context = healthy()?;
    outside_capture(&context)?;
    if address == 0 {
        return Ok(());
    }
    let memory = &context.device.sim.memory;
    if memory
        .find(address)
        .is_none_or(|range| range.start != address || range.kind != kind)
    {
        return Err(Error::INVALID_VALUE);
    }
    context.wait();
    context.check()?;
    if memory.free(address) {
        Ok(())
    } else {
        Err(Error::INVALID_VALUE)
    }
}

/// Device memory has to be there; what is no address of the device's is the host's, and its caller's business.
fn check_device(memory: &Memory, address: u64, bytes: usize) -> Answer {
    if memory.holds(address, bytes as u64) {
        Ok(())
    } else {
        Err(Error::INVALID_VALUE)
    }
}

fn check_any(memory: &Memory, address: u64, bytes: usize) -> Answer {
    if memory.find(address).is_some() {
        check_device(memory, address, bytes)
    } else {
        Ok(())
    }
}

/// On which side a copy's ends are known to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sides {
    HostToDevice,
    DeviceToHost,
    DeviceToDevice,
    Unknown,
}

/// A copy in stream order.
fn copy(context: &Context, stream: &Arc<Stream>, to: u64, from: u64, bytes: usize, sides: Sides) -> Answer {
    let memory = &context.device.sim.memory;
    if bytes == 0 {
        return Ok(());
    }
    if to == 0 || from == 0 {
        return Err(Error::INVALID_VALUE);
    }
    if matches!(sides, Sides::HostToDevice | Sides::DeviceToDevice) {
        check_device(memory, to, bytes)?;
    }
    if matches!(sides, Sides::DeviceToHost | Sides::DeviceToDevice) {
        check_device(memory, from, bytes)?;
    }
    check_any(memory, to, bytes)?;
    check_any(memory, from, bytes)?;
    // From pageable memory the driver copies at once; to it, it waits. With memory of its own it does neither, and who is too early sees it.
    let captured = stream.capture().is_some();
    if memory.find(from).is_none() && !captured {
        submit(context, stream, Work::Put(to, fetch(from, bytes).into()))?;
    } else {
        let point = submit(context, stream, Work::Copy(to, from, bytes))?;
        if memory.find(to).is_none() && !captured {
            stream.wait_for(point);
            context.check()?;
        }
    }
    Ok(())
}

/// A copy that is done when it returns.
fn copy_now(to: u64, from: u64, bytes: usize, sides: Sides) -> Answer {
    let context = healthy()?;
    outside_capture(&context)?;
    copy(&context, &context.legacy, to, from, bytes, sides)?;
    context.legacy.wait();
    context.check()
}

fn copy_later(to: u64, from: u64, bytes: usize, handle: u64, sides: Sides) -> Answer {
    let (context, stream) = stream(handle)?;
    copy(&context, &stream, to, from, bytes, sides)
}

fn set(to: u64, value: u32, width: usize, count: usize, handle: u64, wait: bool) -> Answer {
    let (context, stream) = stream(handle)?;
    if wait {
        outside_capture(&context)?;
    }
    if count == 0 {
        return Ok(());
    }
    if !to.is_multiple_of(width as u64) {
        return Err(Error::INVALID_VALUE);
    }
    check_device(
        &context.device.sim.memory,
        to,
        count.checked_mul(width).ok_or(Error::INVALID_VALUE)?,
    )?;
    let point = submit(&context, &stream, Work::Fill(to, value, width, count))?;
    if wait {
        stream.wait_for(point);
        context.check()?;
    }
    Ok(())
}

api! {
    fn cuMemAlloc_v2(place: Out<u64>, bytes: usize) {
        allocate(place, bytes, Kind::Device)
    }

    fn cuMemAllocManaged(place: Out<u64>, bytes: usize, _flags: u32) {
        allocate(place, bytes, Kind::Host)
    }

    fn cuMemFree_v2(address: u64) {
        free(address, Kind::Device).or_else(|error| if error == Error::INVALID_VALUE { free(address, Kind::Host) } else { Err(error) })
    }

    fn cuMemAllocAsync(place: Out<u64>, bytes: usize, handle: u64) {
        let (context, stream) = stream(handle)?;
        if stream.capture().is_some() {
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        if bytes == 0 || place.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        place.set(context.device.sim.memory.allocate(bytes as u64, Kind::Device).ok_or(Error::OUT_OF_MEMORY)?)
    }

    fn cuMemFreeAsync(address: u64, handle: u64) {
        let (context, stream) = stream(handle)?;
        if stream.capture().is_some() {
            return Err(Error::STREAM_CAPTURE_UNSUPPORTED);
        }
        if context.device.sim.memory.find(address).is_none_or(|range| range.start != address || range.kind != Kind::Device) {
            return Err(Error::INVALID_VALUE);
        }
        submit(&context, &stream, Work::Free(address))?;
        Ok(())
    }

    fn cuMemHostAlloc(place: Out<u64>, bytes: usize, _flags: u32) {
        allocate(place, bytes, Kind::Host)
    }

    fn cuMemAllocHost_v2(place: Out<u64>, bytes: usize) {
        allocate(place, bytes, Kind::Host)
    }

    fn cuMemFreeHost(address: u64) {
        free(address, Kind::Host)
    }

    fn cuMemHostGetDevicePointer_v2(place: Out<u64>, address: u64, flags: u32) {
        let context = healthy()?;
        if flags != 0 || context.device.sim.memory.find(address).is_none_or(|range| range.kind != Kind::Host) {
            return Err(Error::INVALID_VALUE);
        }
        place.set(address)
    }

    fn cuMemHostGetFlags(flags: Out<u32>, address: u64) {
        let context = healthy()?;
        context.device.sim.memory.find(address).filter(|range| range.kind == Kind::Host).ok_or(Error::INVALID_VALUE)?;
        flags.set(3)
    }

    fn cuMemHostRegister_v2(_address: u64, _bytes: usize, _flags: u32) {
        Err(Error::NOT_SUPPORTED)
    }

    fn cuMemHostUnregister(_address: u64) {
        Err(Error::HOST_MEMORY_NOT_REGISTERED)
    }

    fn cuMemcpy(to: u64, from: u64, bytes: usize) {
        copy_now(to, from, bytes, Sides::Unknown)
    }

    fn cuMemcpyHtoD_v2(to: u64, from: u64, bytes: usize) {
        copy_now(to, from, bytes, Sides::HostToDevice)
    }

    fn cuMemcpyDtoH_v2(to: u64, from: u64, bytes: usize) {
        copy_now(to, from, bytes, Sides::DeviceToHost)
    }

    fn cuMemcpyDtoD_v2(to: u64, from: u64, bytes: usize) {
        copy_now(to, from, bytes, Sides::DeviceToDevice)
    }

    fn cuMemcpyAsync(to: u64, from: u64, bytes: usize, handle: u64) {
        copy_later(to, from, bytes, handle, Sides::Unknown)
    }

    fn cuMemcpyHtoDAsync_v2(to: u64, from: u64, bytes: usize, handle: u64) {
        copy_later(to, from, bytes, handle, Sides::HostToDevice)
    }

    fn cuMemcpyDtoHAsync_v2(to: u64, from: u64, bytes: usize, handle: u64) {
        copy_later(to, from, bytes, handle, Sides::DeviceToHost)
    }

    fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, bytes: usize, handle: u64) {
        copy_later(to, from, bytes, handle, Sides::DeviceToDevice)
    }

    fn cuMemcpyPeerAsync(to: u64, _to_context: u64, from: u64, _from_context: u64, bytes: usize, handle: u64) {
        copy_later(to, from, bytes, handle, Sides::Unknown)
    }

    fn cuMemsetD8_v2(to: u64, value: u8, count: usize) {
        set(to, value.into(), 1, count, 0, true)
    }

    fn cuMemsetD16_v2(to: u64, value: u16, count: usize) {
        set(to, value.into(), 2, count, 0, true)
    }

    fn cuMemsetD32_v2(to: u64, value: u32, count: usize) {
        set(to, value, 4, count, 0, true)
    }

    fn cuMemsetD8Async(to: u64, value: u8, count: usize, handle: u64) {
        set(to, value.into(), 1, count, handle, false)
    }

    fn cuMemsetD16Async(to: u64, value: u16, count: usize, handle: u64) {
        set(to, value.into(), 2, count, handle, false)
    }

    fn cuMemsetD32Async(to: u64, value: u32, count: usize, handle: u64) {
        set(to, value, 4, count, handle, false)
    }

    fn cuMemGetInfo_v2(free: Out<usize>, total: Out<usize>) {
        let (all, used) = healthy()?.device.sim.memory.usage();
        free.set((all - used) as usize)?;
        total.set(all as usize)
    }

    fn cuMemGetAddressRange_v2(base: Out<u64>, size: Out<usize>, address: u64) {
        let range = healthy()?.device.sim.memory.find(address).ok_or(Error::NOT_FOUND)?;
        base.offer(range.start);
        size.offer((range.end - range.start) as usize);
        Ok(())
    }

    fn cuPointerGetAttribute(data: Out<u64>, attribute: u32, address: u64) {
        let context = current()?;
        let range = context.device.sim.memory.find(address).ok_or(Error::INVALID_VALUE)?;
        match attribute {
            2 => data.cast::<u32>().set(if range.kind == Kind::Host { 1 } else { 2 }),
            3 => data.set(address),
            4 if range.kind == Kind::Host => data.set(address),
            7 => data.set(range.start),
            8 => data.cast::<u8>().set(0),
            9 => data.cast::<i32>().set(context.device.index as i32),
            11 => data.set(range.start),
            12 => data.cast::<usize>().set((range.end - range.start) as usize),
            13 => data.cast::<u8>().set(1),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cuDeviceGetDefaultMemPool(pool: Out<u64>, device: i32) {
        driver().device(device)?;
        pool.set(1)
    }

    fn cuDeviceGetMemPool(pool: Out<u64>, device: i32) {
        driver().device(device)?;
        pool.set(1)
    }

    fn cuMemPoolTrimTo(_pool: u64, _keep: usize) {
        Ok(())
    }

    fn cuMemPoolSetAttribute(_pool: u64, _attribute: u32, _value: u64) {
        Ok(())
    }
}
