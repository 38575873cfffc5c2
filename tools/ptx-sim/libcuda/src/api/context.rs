//! Contexts.

use super::api;
use crate::driver::{current, driver, healthy, with_current};
use crate::error::Error;
use crate::pointer::{Out, put_text};
use std::ffi::c_void;
use std::sync::atomic::Ordering;

fn set_current(handle: u64) {
    with_current(|stack| match stack.last_mut() {
        Some(top) => *top = handle,
        None => stack.push(handle),
    });
}

fn create(context: Out<u64>, device: i32) -> Result<(), Error> {
    if context.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let handle = driver().create_context(driver().device(device)?);
    with_current(|stack| stack.push(handle));
    context.set(handle)
}

api! {
    fn cuDevicePrimaryCtxRetain(context: Out<u64>, device: i32) {
        if context.is_null() {
            return Err(Error::INVALID_VALUE);
        }
        context.set(driver().retain(driver().device(device)?))
    }

    fn cuDevicePrimaryCtxRelease_v2(device: i32) {
        driver().release(driver().device(device)?)
    }

    fn cuDevicePrimaryCtxReset_v2(device: i32) {
        driver().reset(driver().device(device)?)
    }

    fn cuDevicePrimaryCtxGetState(device: i32, flags: Out<u32>, active: Out<i32>) {
        let device = driver().device(device)?;
        flags.set(device.flags.load(Ordering::Relaxed))?;
        active.set(driver().primary_is_active(device).into())
    }

    fn cuDevicePrimaryCtxSetFlags_v2(device: i32, flags: u32) {
        driver().device(device)?.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    fn cuCtxCreate_v2(context: Out<u64>, _flags: u32, device: i32) {
        create(context, device)
    }

    fn cuCtxCreate_v3(context: Out<u64>, _affinity: *const c_void, _count: i32, _flags: u32, device: i32) {
        create(context, device)
    }

    fn cuCtxCreate_v4(context: Out<u64>, _parameters: *const c_void, _flags: u32, device: i32) {
        create(context, device)
    }

    fn cuCtxDestroy_v2(context: u64) {
        driver().destroy_context(context)?;
        with_current(|stack| if stack.last() == Some(&context) { stack.pop(); });
        Ok(())
    }

    fn cuCtxSetCurrent(context: u64) {
        if context == 0 {
            with_current(Vec::pop);
            return Ok(());
        }
        driver().contexts.get(context).map_err(|_| Error::INVALID_CONTEXT)?;
        set_current(context);
        Ok(())
    }

    fn cuCtxGetCurrent(context: Out<u64>) {
        if !driver().initialised.load(Ordering::SeqCst) {
            return Err(Error::NOT_INITIALIZED);
        }
        context.set(with_current(|stack| stack.last().copied().unwrap_or(0)))
    }

    fn cuCtxPushCurrent_v2(context: u64) {
        driver().contexts.get(context).map_err(|_| Error::INVALID_CONTEXT)?;
        with_current(|stack| stack.push(context));
        Ok(())
    }

    fn cuCtxPopCurrent_v2(context: Out<u64>) {
        let handle = with_current(Vec::pop).ok_or(Error::INVALID_CONTEXT)?;
        context.offer(handle);
        Ok(())
    }

    fn cuCtxGetDevice(device: Out<i32>) {
        device.set(current()?.device.index as i32)
    }

    fn cuCtxSynchronize() {
        let context = healthy()?;
        context.wait();
        context.check()
    }

    fn cuCtxGetApiVersion(_context: u64, version: Out<u32>) {
        version.set(3020)
    }

    fn cuCtxGetFlags(flags: Out<u32>) {
        flags.set(current()?.device.flags.load(Ordering::Relaxed))
    }

    fn cuCtxSetFlags(flags: u32) {
        current()?.device.flags.store(flags, Ordering::Relaxed);
        Ok(())
    }

    fn cuCtxGetLimit(value: Out<usize>, limit: u32) {
        healthy()?;
        value.set(match limit {
            0 => 1024,
            1 => 1 << 20,
            2 => 8 << 20,
            _ => return Err(Error::UNSUPPORTED_LIMIT),
        })
    }

    fn cuCtxSetLimit(limit: u32, _value: usize) {
        healthy()?;
        if limit > 2 { Err(Error::UNSUPPORTED_LIMIT) } else { Ok(()) }
    }

    fn cuCtxGetCacheConfig(config: Out<u32>) {
        healthy()?;
        config.set(0)
    }

    fn cuCtxSetCacheConfig(_config: u32) {
        healthy()?;
        Ok(())
    }

    fn cuCtxGetStreamPriorityRange(least: Out<i32>, greatest: Out<i32>) {
        healthy()?;
        least.offer(0);
        greatest.offer(-5);
        Ok(())
    }

    fn cuCtxEnablePeerAccess(_peer: u64, _flags: u32) {
        Err(Error(217))
    }
}

/// The words for what went wrong last in the current context, for programs that know that they run here: at most so many bytes, with a zero byte at
/// the end.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn ptxSimLastReport(text: Out<u8>, capacity: usize) -> u32 {
    super::code(current().and_then(|context| put_text(text, capacity, &context.last_report())))
}
