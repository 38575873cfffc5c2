//! Execution: a grid of blocks on a device.
//!
//! A warp's threads have a program counter each. Those that stand at the same instruction are run together, lowest instruction first, so that they
//! meet again behind a branch; now and then a group is drawn at random instead, so that no thread waits for ever for another of its warp. Warps take
//! turns of random length in random order. One launch is run by one thread of the host; memory is accessed in pieces of the size of the access, so
//! other launches and the host may look on.

mod access;
mod barrier;
mod block;
mod collective;
mod execute;
mod report;
mod warp;

use crate::decode::code::{Constant, FunctionCode, Module};
use crate::device::{Device, Grid, Loaded, Statistics};
use crate::fault::{Fault, FaultKind, LaunchError};
use crate::memory::Range;
use block::Block;
use execute::Event;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The address of a function: recognisable, and no memory.
pub(crate) fn function_address(index: u32) -> u64 {
    FUNCTIONS + u64::from(index) * 16
}

const FUNCTIONS: u64 = 4 << 60;

/// Places for looked up allocations; a power of two.
const RANGES: usize = 256;

/// xorshift64*: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    fn below(&mut self, n: usize) -> usize {
        ((u64::from(self.next()) * n as u64) >> 32) as usize
    }
}

/// A function's constants with this launch's addresses.
#[derive(Default)]
struct Image {
    values: Vec<(u32, u64)>,
    /// Rows that hold places in the frame.
    frame: Vec<(u32, u32)>,
}

/// What stays the same during a launch.
struct Launch<'a> {
    device: &'a Device,
    module: &'a Module,
    kernel: &'a FunctionCode,
    kernel_index: u32,
    images: Vec<Image>,
    grid: Grid,
    parameters: &'a [u8],
    shared: u32,
}

/// What changes during a launch, outside of its blocks.
struct State {
    random: Random,
    /// The allocations that accesses fell into last, at the low bits of the instruction's number.
    ranges: [Range; RANGES],
    generation: u64,
    /// Raised when memory changes: what was seen before may be different now.
    epoch: u64,
    /// Looks at memory since then, and whether one went to memory that the host may change.
    polls: u64,
    polled_host: bool,
    /// Memory has changed since the last look from outside.
    moved: bool,
    /// Nobody was seen to compute; to be seen once more.
    suspected: bool,
    statistics: Statistics,
    started: Instant,
    changed: Instant,
}

impl State {
    /// Memory has changed: whoever polls may find what they wait for.
    #[inline(always)]
    fn progress(&mut self) {
        self.epoch += 1;
        self.polls = 0;
        self.moved = true;
    }
}

pub(crate) fn launch(
    device: &Device,
    loaded: &Loaded,
    name: &str,
    grid: Grid,
    parameters: &[u8],
) -> Result<Statistics, LaunchError> {
    let module: &Module = &loaded.module;
    let Some(&kernel_index) = module.kernels.get(name) else {
        return Err(LaunchError::NoSuchKernel(name.to_owned()));
    };
    let kernel = &module.functions[kernel_index as usize];
    let (blocks, threads, shared) = check(device, kernel, grid)?;
    if parameters.len() != kernel.param_bytes as usize {
        return Err(LaunchError::ParameterSize(
            parameters.len(),
            kernel.param_bytes as usize,
        ));
    }
    let resident = u64::from(device.shape.resident(threads, shared)) * u64::from(device.shape.multiprocessors);
    if resident == 0 || grid.cooperative && !device.shape.cooperative {
        return Err(LaunchError::InvalidSize("combination of threads and shared memory"));
    }
    if grid.cooperative && blocks > resident {
        return Err(LaunchError::NotResident(blocks, resident));
    }
    let images = module
        .functions
        .iter()
        .map(|f| image(f, loaded, kernel.shared))
        .collect();
    let launch = Launch {
        device,
        module,
        kernel,
        kernel_index,
        images,
        grid,
        parameters,
        shared,
    };
    device.running.fetch_add(1, Ordering::SeqCst);
    let result = run(
        &launch,
        blocks,
        usize::try_from(resident.min(blocks)).unwrap_or(usize::MAX),
    );
    device.running.fetch_sub(1, Ordering::SeqCst);
    result
}

/// Blocks, threads of a block, and bytes of shared memory of one.
fn check(device: &Device, kernel: &FunctionCode, grid: Grid) -> Result<(u64, u32, u32), LaunchError> {
    let product = |axes: [u32; 3]| axes.iter().try_fold(1_u64, |p, &n| p.checked_mul(n.into()));
    let Some(blocks) = product(grid.blocks).filter(|&n| n != 0) else {
        return Err(LaunchError::InvalidSize("grid"));
    };
    if grid.blocks[0] > i32::MAX as u32 || grid.blocks[1] > 65535 || grid.blocks[2] > 65535 {
        return Err(LaunchError::InvalidSize("grid"));
    }
    let most = kernel.max_threads.unwrap_or(u32::MAX).min(device.shape.threads);
    let threads = product(grid.threads).filter(|&n| n != 0 && n <= most.into() && grid.threads[2] <= 64);
    let Some(threads) = threads else {
        return Err(LaunchError::InvalidSize("block"));
    };
    match kernel
        .shared
        .checked_add(grid.shared)
        .filter(|&n| n <= device.shape.shared_optin)
    {
        Some(shared) => Ok((blocks, threads as u32, shared)),
        None => Err(LaunchError::InvalidSize("shared memory")),
    }
}

fn image(function: &FunctionCode, loaded: &Loaded, static_shared: u32) -> Image {
    let mut image = Image {
        values: Vec::new(),
        frame: Vec::new(),
    };
    for &(row, constant) in &function.constants {
        match constant {
            Constant::Value(value) => image.values.push((row, value)),
            Constant::Variable(index) => image.values.push((row, loaded.addresses[index as usize])),
            Constant::Function(index) => image.values.push((row, function_address(index))),
            // Behind the static shared memory of the kernel, whatever function asks.
            Constant::DynamicShared(offset) => image
                .values
                .push((row, u64::from(static_shared.next_multiple_of(16) + offset))),
            Constant::Frame(offset) => image.frame.push((row, offset)),
        }
    }
    image
}

fn run(launch: &Launch<'_>, blocks: u64, resident: usize) -> Result<Statistics, LaunchError> {
    let shape = &launch.device.shape;
    let now = Instant::now();
    let mut state = State {
        random: Random(shape.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1),
        ranges: [Range::EMPTY; RANGES],
        generation: launch.device.memory.generation(),
        epoch: 0,
        polls: 0,
        polled_host: false,
        moved: false,
        suspected: false,
        statistics: Statistics::default(),
        started: now,
        changed: now,
    };
    let mut order = Order::new(blocks, shape.seed, &mut state.random);
    let mut slots: Vec<Block> = Vec::new();
    // Warps with something to run: slot and number.
    let mut runnable: Vec<(u32, u32)> = Vec::new();
    for slot in 0..resident {
        if let Some(index) = order.take() {
            slots.push(Block::new(launch, index, slot as u32 % shape.multiprocessors));
            enqueue(&mut slots, slot, &mut runnable);
        }
    }
    let fault = |fault| LaunchError::Fault(Box::new(fault));
    let mut turns = 0_u32;
    while !runnable.is_empty() {
        let at = state.random.below(runnable.len());
        let (slot, warp) = runnable[at];
        let (slot, warp) = (slot as usize, warp as usize);
        let block = &mut slots[slot];
        if block.warps[warp].turns_to_skip != 0 {
            block.warps[warp].turns_to_skip -= 1;
            continue;
        }
        let budget = 1 + (state.random.next() & 127);
        let event = execute::run(launch, &mut state, block, warp, budget).map_err(fault)?;
        if let Event::Barrier { pc, lanes } = event {
            barrier::arrive(launch, &mut state, block, warp, pc, lanes).map_err(fault)?;
        }
        if block.warps[warp].ready == 0 {
            block.warps[warp].queued = false;
            runnable.swap_remove(at);
        }
        if block.warps.iter().all(|w| w.live == 0) {
            // The block has ended; another takes its place.
            let place = block.multiprocessor;
            state.progress();
            if let Some(index) = order.take() {
                slots[slot] = Block::new(launch, index, place);
                enqueue(&mut slots, slot, &mut runnable);
            } else {
                slots[slot].ended = true;
            }
        } else if matches!(event, Event::Barrier { .. }) {
            enqueue(&mut slots, slot, &mut runnable);
        }
        turns = turns.wrapping_add(1);
        if turns & 0xff == 0 {
            watch(launch, &mut state, &slots, order.left()).map_err(fault)?;
        }
    }
    if slots.iter().any(|b| !b.ended) {
        return Err(fault(report::stuck(launch, &slots, order.left())));
    }
    Ok(state.statistics)
}

/// Puts the warps that have something to run, and are not there yet, among those that take turns.
fn enqueue(slots: &mut [Block], slot: usize, runnable: &mut Vec<(u32, u32)>) {
    for (index, warp) in slots[slot].warps.iter_mut().enumerate() {
        if warp.ready != 0 && !warp.queued {
            warp.queued = true;
            runnable.push((slot as u32, index as u32));
        }
    }
}

/// Looks now and then whether the launch has to be ended.
fn watch(launch: &Launch<'_>, state: &mut State, slots: &[Block], waiting: u64) -> Result<(), Fault> {
    let device = launch.device;
    if device.stop.load(Ordering::Relaxed) {
        return Err(report::anywhere(launch, slots, FaultKind::Stopped));
    }
    if state.statistics.warp_instructions > device.shape.steps {
        return Err(report::anywhere(launch, slots, FaultKind::StepLimit));
    }
    if std::mem::take(&mut state.moved) {
        state.changed = Instant::now();
        state.polled_host = false;
        state.suspected = false;
    }
    if state.polls < device.shape.polls {
        return Ok(());
    }
    // Somebody who computes is not waiting.
    let computes = |b: &Block| b.warps.iter().any(|w| w.computes(state.epoch));
    if slots.iter().any(|b| !b.ended && computes(b)) {
        return Ok(());
    }
    // Who looked and then began to compute is seen by a second count, which starts afresh.
    if !state.suspected {
        state.suspected = true;
        state.epoch += 1;
        state.polls = 0;
        return Ok(());
    }
    let from_outside = state.polled_host || device.running.load(Ordering::SeqCst) > 1;
    if from_outside && state.changed.elapsed().as_millis() < u128::from(device.shape.patience) {
        std::thread::yield_now();
        return Ok(());
    }
    Err(report::spinning(launch, slots, waiting))
}

/// The order in which blocks start.
struct Order {
    next: u64,
    count: u64,
    shuffled: Vec<u32>,
}

impl Order {
    fn new(count: u64, seed: u64, random: &mut Random) -> Order {
        let mut shuffled = Vec::new();
        if seed != 0 && count <= 1 << 20 {
            shuffled = (0..count as u32).collect();
            for i in (1..shuffled.len()).rev() {
                shuffled.swap(i, random.below(i + 1));
            }
        }
        Order {
            next: 0,
            count,
            shuffled,
        }
    }

    fn take(&mut self) -> Option<u64> {
        if self.next == self.count {
            return None;
        }
        let index = self.shuffled.get(self.next as usize).map_or(self.next, |&i| i.into());
        self.next += 1;
        Some(index)
    }

    fn left(&self) -> u64 {
        self.count - self.next
    }
}
