//! Start, errors, devices.

use super::api;
use crate::driver::driver;
use crate::error::Error;
use crate::pointer::{Out, put_text};
use ptx_sim::Shape;
use std::ffi::c_char;
use std::sync::atomic::Ordering;

api! {
    fn cuInit(flags: u32) {
        if flags != 0 {
            return Err(Error::INVALID_VALUE);
        }
        if driver().devices.is_empty() {
            return Err(Error::NO_DEVICE);
        }
        driver().initialised.store(true, Ordering::SeqCst);
        Ok(())
    }

    fn cuDriverGetVersion(version: Out<i32>) {
        version.set(driver().version)
    }

    fn cuGetErrorName(error: u32, text: Out<*const c_char>) {
        let Some((name, _)) = Error::describe(error) else {
            text.offer(std::ptr::null());
            return Err(Error::INVALID_VALUE);
        };
        text.set(name.as_ptr().cast())
    }

    fn cuGetErrorString(error: u32, text: Out<*const c_char>) {
        let Some((_, description)) = Error::describe(error) else {
            text.offer(std::ptr::null());
            return Err(Error::INVALID_VALUE);
        };
        text.set(description.as_ptr().cast())
    }

    fn cuDeviceGetCount(count: Out<i32>) {
        if !driver().initialised.load(Ordering::SeqCst) {
            return Err(Error::NOT_INITIALIZED);
        }
        count.set(driver().devices.len() as i32)
    }

    fn cuDeviceGet(device: Out<i32>, ordinal: i32) {
        driver().device(ordinal)?;
        device.set(ordinal)
    }

    fn cuDeviceGetName(name: Out<u8>, capacity: i32, device: i32) {
        driver().device(device)?;
        put_text(name, usize::try_from(capacity).unwrap_or(0), "PTX simulator")
    }

    fn cuDeviceTotalMem_v2(bytes: Out<usize>, device: i32) {
        bytes.set(driver().device(device)?.sim.memory.usage().0 as usize)
    }

    fn cuDeviceGetUuid(uuid: Out<[u8; 16]>, device: i32) {
        driver().device(device)?;
        let mut bytes = *b"ptx-simulator-00";
        bytes[15] += device as u8;
        uuid.set(bytes)
    }

    fn cuDeviceGetUuid_v2(uuid: Out<[u8; 16]>, device: i32) {
        driver().device(device)?;
        let mut bytes = *b"ptx-simulator-00";
        bytes[15] += device as u8;
        uuid.set(bytes)
    }

    fn cuDeviceGetPCIBusId(name: Out<u8>, capacity: i32, device: i32) {
        driver().device(device)?;
        put_text(name, usize::try_from(capacity).unwrap_or(0), &format!("0000:{:02x}:00.0", device + 1))
    }

    fn cuDeviceGetAttribute(value: Out<i32>, attribute: u32, device: i32) {
        let device = driver().device(device)?;
        value.set(attribute_of(&device.shape, device.index, attribute).ok_or(Error::INVALID_VALUE)?)
    }

    fn cuDeviceComputeCapability(major: Out<i32>, minor: Out<i32>, device: i32) {
        let capability = driver().device(device)?.shape.capability;
        major.set(capability.0 as i32)?;
        minor.set(capability.1 as i32)
    }

    fn cuDeviceCanAccessPeer(can: Out<i32>, device: i32, peer: i32) {
        driver().device(device)?;
        driver().device(peer)?;
        can.set(0)
    }
}

/// An attribute by the driver's number; what is not listed is nothing that the device has.
fn attribute_of(shape: &Shape, index: usize, attribute: u32) -> Option<i32> {
    let blocks = shape.blocks;
    let value: u32 = match attribute {
        // Sizes of blocks and grids.
        1..=3 => shape.threads,
        4 => 64,
        5 => i32::MAX as u32,
        6 | 7 => 65535,
        8 => shape.shared,
        // Constant memory, warp size, pitch, registers, clock rate in kHz.
        9 => 65536,
        10 => 32,
        11 => i32::MAX as u32,
        12 | 82 => 65536,
        13 => 1_000_000,
        14 => 512,
        16 => shape.multiprocessors,
        // Mapped host memory, concurrent kernels, unified addressing.
        19 | 31 | 41 => 1,
        33 => index as u32 + 1,
        36 => 1_000_000,
        37 => 128,
        38 => 4 << 20,
        39 => shape.multiprocessor_threads,
        40 => 1,
        75 => shape.capability.0,
        76 => shape.capability.1,
        // Stream priorities, caches.
        78..=80 => 1,
        81 => shape.shared_optin + blocks * 1024,
        // Managed memory is host memory here; atomics reach the host.
        83 | 86 | 89 | 90 | 91 => 1,
        87 => 2,
        95 => u32::from(shape.cooperative),
        97 => shape.shared_optin,
        106 => blocks,
        // Reserved shared memory a block, memory pools.
        111 => 1024,
        115 => 1,
        0 | 153.. => return None,
        _ => 0,
    };
    i32::try_from(value).ok()
}
