//! Kernels: what is known of them, and how many fit.

use super::api;
use crate::driver::{FunctionState, driver, healthy};
use crate::error::{Answer, Error};
use crate::pointer::{Out, SharedOfBlock, shared_of_block};
use ptx_sim::Kernel;
use std::ffi::c_char;
use std::sync::atomic::Ordering;

impl FunctionState {
    pub(super) fn kernel(&self) -> Result<Kernel<'_>, Error> {
        self.module.loaded.module().kernel(&self.name).ok_or(Error::NOT_FOUND)
    }

    /// Threads of a block at most.
    pub(super) fn max_threads(&self) -> Result<u32, Error> {
        Ok(self
            .kernel()?
            .max_threads()
            .unwrap_or(u32::MAX)
            .min(self.device.shape.threads))
    }

    /// Bytes of dynamic shared memory at most, as was asked for, or without asking.
    pub(super) fn max_dynamic(&self) -> Result<u32, Error> {
        let static_shared = self.kernel()?.static_shared();
        Ok(match self.dynamic_shared.load(Ordering::Relaxed) {
            u32::MAX => self.device.shape.shared.saturating_sub(static_shared),
            bytes => bytes,
        })
    }

    /// Blocks that one multiprocessor holds.
    pub(super) fn resident(&self, threads: u32, dynamic: u32) -> Result<u32, Error> {
        if threads > self.max_threads()? {
            return Ok(0);
        }
        Ok(self
            .device
            .shape
            .resident(threads, self.kernel()?.static_shared().saturating_add(dynamic)))
    }
}

fn occupancy(blocks: Out<i32>, function: u64, threads: i32, dynamic: usize) -> Answer {
    healthy()?;
    let function = driver().functions.get(function)?;
    let threads = u32::try_from(threads)
        .ok()
        .filter(|&n| n != 0)
        .ok_or(Error::INVALID_VALUE)?;
    blocks.set(function.resident(threads, u32::try_from(dynamic).unwrap_or(u32::MAX))? as i32)
}

fn best_block(
    grid: Out<i32>,
    block: Out<i32>,
    function: u64,
    shared: SharedOfBlock,
    dynamic: usize,
    limit: i32,
) -> Answer {
    healthy()?;
    let function = driver().functions.get(function)?;
    let mut most = function.max_threads()?;
    if limit > 0 {
        most = most.min(limit as u32);
    }
    let (mut best, mut threads_of_best, mut blocks_of_best) = (0, 0, 0);
    for threads in (1..=most).filter(|n| n % 32 == 0 || *n == most) {
        let dynamic = shared.map_or(dynamic, |f| shared_of_block(f, threads as i32));
        let blocks = function.resident(threads, u32::try_from(dynamic).unwrap_or(u32::MAX))?;
        if threads * blocks >= best && blocks != 0 {
            (best, threads_of_best, blocks_of_best) = (threads * blocks, threads, blocks);
        }
    }
    grid.set((blocks_of_best * function.device.shape.multiprocessors) as i32)?;
    block.set(threads_of_best as i32)
}

api! {
    fn cuFuncGetAttribute(value: Out<i32>, attribute: u32, function: u64) {
        healthy()?;
        let function = driver().functions.get(function)?;
        let kernel = function.kernel()?;
        let (major, minor) = function.device.shape.capability;
        value.set(match attribute {
            0 => function.max_threads()? as i32,
            1 => kernel.static_shared() as i32,
            3 => kernel.local() as i32,
            // The text's registers are not the machine's; an assembler would need about so many.
            4 => kernel.registers().clamp(16, 64) as i32,
            5 => function.module.loaded.module().version().replace('.', "").parse().unwrap_or(0),
            6 => (major * 10 + minor) as i32,
            8 => function.max_dynamic()? as i32,
            2 | 7 | 9..=15 => 0,
            _ => return Err(Error::INVALID_VALUE),
        })
    }

    fn cuFuncSetAttribute(function: u64, attribute: u32, value: i32) {
        healthy()?;
        let function = driver().functions.get(function)?;
        match attribute {
            8 => {
                let bytes = u32::try_from(value).map_err(|_| Error::INVALID_VALUE)?;
                if bytes.saturating_add(function.kernel()?.static_shared()) > function.device.shape.shared_optin {
                    return Err(Error::INVALID_VALUE);
                }
                function.dynamic_shared.store(bytes, Ordering::Relaxed);
                Ok(())
            }
            9 => Ok(()),
            _ => Err(Error::INVALID_VALUE),
        }
    }

    fn cuFuncSetCacheConfig(function: u64, _config: u32) {
        healthy()?;
        driver().functions.get(function)?;
        Ok(())
    }

    fn cuFuncGetParamInfo(function: u64, index: usize, offset: Out<usize>, size: Out<usize>) {
        healthy()?;
        let function = driver().functions.get(function)?;
        let parameter = *function.kernel()?.parameters().get(index).ok_or(Error::INVALID_VALUE)?;
        offset.set(parameter.offset as usize)?;
        size.offer(parameter.size as usize);
        Ok(())
    }

    fn cuFuncGetName(name: Out<*const c_char>, function: u64) {
        // The function's own copy, which lives as long as its module is loaded.
        name.set(driver().functions.get(function)?.c_name.as_ptr().cast())
    }

    fn cuFuncGetModule(module: Out<u64>, function: u64) {
        module.set(driver().functions.get(function)?.module_handle)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessor(blocks: Out<i32>, function: u64, threads: i32, dynamic: usize) {
        occupancy(blocks, function, threads, dynamic)
    }

    fn cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks: Out<i32>, function: u64, threads: i32, dynamic: usize, flags: u32) {
        if flags > 1 {
            return Err(Error::INVALID_VALUE);
        }
        occupancy(blocks, function, threads, dynamic)
    }

    fn cuOccupancyMaxPotentialBlockSize(grid: Out<i32>, block: Out<i32>, function: u64, shared: SharedOfBlock, dynamic: usize, limit: i32) {
        best_block(grid, block, function, shared, dynamic, limit)
    }

    fn cuOccupancyMaxPotentialBlockSizeWithFlags(
        grid: Out<i32>, block: Out<i32>, function: u64, shared: SharedOfBlock, dynamic: usize, limit: i32, _flags: u32,
    ) {
        best_block(grid, block, function, shared, dynamic, limit)
    }

    fn cuOccupancyAvailableDynamicSMemPerBlock(bytes: Out<usize>, function: u64, blocks: i32, threads: i32) {
        healthy()?;
        let function = driver().functions.get(function)?;
        let (blocks, threads) = (u32::try_from(blocks).unwrap_or(0), u32::try_from(threads).unwrap_or(0));
        // The largest that still lets so many blocks in.
        let (mut least, mut most) = (0, function.device.shape.shared_optin);
        while least < most {
            let middle = (least + most).div_ceil(2);
            if function.resident(threads, middle)? >= blocks {
                least = middle;
            } else {
                most = middle - 1;
            }
        }
        bytes.set(least as usize)
    }
}
