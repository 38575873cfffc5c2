//! What all tests share: the bound on their time, queues, grids to try, and small helpers.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    sync::{
        Mutex, OnceLock, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

pub(crate) use conformance_kernels::support::{Affine, affine, then};
use gridwise::{
    host::{
        launch::Grid,
        queue::{Queue, QueueOptions},
    },
    prelude::*,
};

/// How long a launch may run: far longer than any does, even on a busy machine.
const LAUNCH_LIMIT: Duration = Duration::from_secs(30);
/// How long a test may run.
const TEST_LIMIT: Duration = Duration::from_secs(100);

/// Runs a test on a device of its own; a test that hangs fails.
pub(crate) fn run(name: &'static str, test: fn(&Device)) {
    let test = move || test(&open(name));
    if name.starts_with("cuda") {
        run_on_gpu(test);
    } else {
        bounded(TEST_LIMIT, test);
    }
}

/// Runs a test that opens a GPU, if there may be one. One at a time: a kernel that fails takes along everything of this program
/// on its device.
pub(crate) fn run_on_gpu(test: impl FnOnce() + Send + 'static) {
    static ALONE: Mutex<()> = Mutex::new(());
    if std::env::var_os(PTX_VARIABLE).is_none() {
        return eprintln!("skipped: {PTX_VARIABLE} does not say where the compiled kernels are");
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    bounded(TEST_LIMIT, test);
}

/// Where the kernels of the suite are, compiled. Without it, tests on GPUs are left out; with it, a device that does not open
/// is a failure.
const PTX_VARIABLE: &str = "CONFORMANCE_PTX";

/// A device that knows the kernels of the suite.
pub(crate) fn open(name: &str) -> Device {
    static MODULE: OnceLock<gridwise::Module> = OnceLock::new();
    let device = Device::open(name).expect("the device opens");
    if is_gpu(&device) {
        let module = MODULE.get_or_init(|| {
            let ptx = std::env::var_os(PTX_VARIABLE)
                .and_then(|path| std::fs::read_to_string(path).ok())
                .expect("the compiled kernels are there")
                .leak();
            // SAFETY: who sets the variable has compiled the crate that the table is of.
            unsafe { gridwise::Module::new(ptx, &conformance_kernels::KERNELS) }
        });
        device.load(module).expect("the module loads");
    }
    device
}

/// Whether this is a GPU.
pub(crate) fn is_gpu(device: &Device) -> bool {
    device.properties().gpu.is_some()
}

/// Whether kernels may sleep, allocate, panic with a text, or use a queue. On a GPU there is nothing of that.
pub(crate) fn runs_host_kernels(device: &Device) -> bool {
    !is_gpu(device)
}

/// Whether threads that wait for each other for ever are found out. On a GPU a time limit ends them.
pub(crate) fn proves_deadlocks(device: &Device) -> bool {
    !is_gpu(device)
}

/// Whether device and buffers are there after a kernel has failed. A GPU is lost then; `gpu.rs` has its tests.
pub(crate) fn survives_failures(device: &Device) -> bool {
    !is_gpu(device)
}

/// Runs `work` on a thread of its own and panics if it takes too long, or if it panics.
pub(crate) fn bounded(limit: Duration, work: impl FnOnce() + Send + 'static) {
    let (done, end) = mpsc::channel();
    thread::spawn(move || {
        // Nobody listens any more if time is up.
        let _ = done.send(catch_unwind(AssertUnwindSafe(work)));
    });
    match end.recv_timeout(limit) {
        Ok(Ok(())) => {}
        Ok(Err(panic)) => resume_unwind(panic),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => panic!("still running after {limit:?}"),
    }
}

/// A queue whose launches end.
pub(crate) fn queue(device: &Device) -> Queue {
    device.queue_with(options())
}

/// The options of [`queue`].
pub(crate) fn options() -> QueueOptions {
    QueueOptions::default().timeout(LAUNCH_LIMIT)
}

/// Threads for a block that has several: `wanted` or fewer, `None` where a block can have only one.
pub(crate) fn team(device: &Device, wanted: usize) -> Option<usize> {
    let properties = device.properties();
    let threads = wanted.min(properties.workers.max(properties.threads_per_block));
    (threads > 1).then_some(threads)
}

/// How many blocks of that many threads are resident together.
pub(crate) fn blocks_of(device: &Device, threads: usize) -> usize {
    if is_checking(device) || is_gpu(device) {
        // Its multiprocessors hold as many blocks of any size that the tests use.
        device.most_resident_blocks()
    } else {
        device.properties().workers / threads
    }
}

/// Whether this is the checking device, which simulates one.
pub(crate) fn is_checking(device: &Device) -> bool {
    device.name().starts_with("check")
}

/// How many blocks are resident together, if several are.
pub(crate) fn several_blocks(device: &Device) -> Option<usize> {
    Some(device.most_resident_blocks()).filter(|&blocks| blocks > 1)
}

/// Grids for a plain launch: few and many blocks, the device's own threads and every number up to four that it can have.
pub(crate) fn grids(device: &Device) -> Vec<Grid> {
    let mut grids = vec![
        Blocks::Exactly(1).into(),
        Blocks::Exactly(2).into(),
        Blocks::Exactly(7).into(),
        Blocks::Resident.into(),
    ];
    for threads in 1..=4 {
        if team(device, threads) == Some(threads) || threads == 1 {
            grids.push(Blocks::Exactly(3).threads(threads));
        }
    }
    grids
}

/// Grids for a cooperative launch, as [`grids`].
pub(crate) fn cooperative_grids(device: &Device) -> Vec<Grid> {
    let mut grids = vec![Blocks::Exactly(1).into(), Blocks::Resident.into()];
    for threads in 1..=3 {
        if team(device, threads) == Some(threads) || threads == 1 {
            grids.push(Blocks::Resident.threads(threads));
        }
    }
    grids
}

/// Lengths about a tile: none, one, tile - 1, tile, tile + 1, two tiles and one, primes, and a large one.
pub(crate) fn lengths(tile: usize) -> Vec<usize> {
    vec![0, 1, 2, tile - 1, tile, tile + 1, 2 * tile + 1, 31, 1009, 20_011]
}

/// Numbers that look random, the same in every run.
pub(crate) fn random_numbers(len: usize) -> Vec<u64> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        })
        .collect()
}

/// Counts the allocations of each thread, to show that a kernel's loop makes none.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator, and a counter beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // A thread that ends has no counter any more, and does not matter.
        let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
        // SAFETY: by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: by the caller.
        unsafe { System.dealloc(memory, layout) }
    }
}

/// Allocations of the calling thread so far.
pub(crate) fn allocations() -> usize {
    ALLOCATIONS.get()
}
