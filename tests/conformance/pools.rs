//! CPU devices of every size, whatever the back ends of the suite: blocks that do not divide the pool, and options.

use std::{
    cell::Cell,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize},
    },
    thread,
    time::Duration,
};

use gridwise::{host::device::DeviceError, kernel::grid_barrier::BarrierShape, prelude::*};

use crate::support::{bounded, options, queue};

/// Scans the block's threads, and counts the grid's.
#[repr(C)]
struct TeamScan<'a> {
    out: SpanMut<'a, u64>,
}

impl TeamScan<'_> {
    fn scan<A: Acc>(&self, acc: A) {
        let (thread, threads) = (acc.thread_index(), acc.thread_count());
        let (sum, total) = acc.inclusive_scan_block(thread as u64 + 1, |a, b| a + b);
        assert_eq!(total as usize, threads * (threads + 1) / 2);
        self.out.set(acc, acc.thread_index_in_grid(), sum);
    }
}

// SAFETY: each thread writes its own element.
unsafe impl Kernel for TeamScan<'_> {
    const NAME: &'static str = "team_scan";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.scan(acc);
    }
}

// SAFETY: as above.
unsafe impl GridKernel for TeamScan<'_> {
    const NAME: &'static str = "team_scan";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        self.scan(acc);
        let all = acc.reduce_grid(1_u64, |a, b| a + b);
        assert_eq!(all as usize, acc.thread_count_in_grid());
    }
}

// fault A11.3, A11.2, A11.4: workers that are left over belong to no block; pools larger than the machine make progress.
#[test]
fn blocks_need_not_divide_the_pool() {
    bounded(Duration::from_secs(100), || {
        for workers in 1..=8 {
            let device = Device::open(&format!("cpu:blocks={workers}")).unwrap();
            let queue = queue(&device);
            for threads in 1..=workers {
                let resident = workers / threads;
                let scans = |blocks: usize| -> Vec<u64> {
                    (0..blocks)
                        .flat_map(|_| (1..=threads as u64).map(|i| i * (i + 1) / 2))
                        .collect()
                };
                for blocks in [resident, resident + 1, 2 * resident + 1] {
                    let mut out = device.zeroed(blocks * threads).unwrap();
                    let grid = Blocks::Exactly(blocks).threads(threads);
                    queue.launch(grid, TeamScan { out: out.span_mut() }).unwrap();
                    assert_eq!(queue.download(&out).unwrap(), scans(blocks), "{threads} of {workers}");
                    let met = queue.launch_cooperative(grid, TeamScan { out: out.span_mut() });
                    assert_eq!(
                        met.is_ok(),
                        blocks == resident,
                        "{blocks} blocks of {threads} on {workers}"
                    );
                }
            }
        }
    });
}

/// Until it is dropped, a thread that computes without pause.
struct BusyCore {
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl BusyCore {
    fn new() -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let thread = thread::spawn({
            let stop = stop.clone();
            move || {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for BusyCore {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

// fault A11.6: as many workers as cores, and somebody else on one of them: a worker that waits gives its core away.
#[test]
fn a_pool_of_all_cores_runs_beside_other_work() {
    bounded(Duration::from_secs(100), || {
        let _busy = BusyCore::new();
        for name in ["cpu", "cpu:wait=active", "cpu:pin=off"] {
            let device = Device::open(name).unwrap();
            let queue = queue(&device);
            let workers = device.properties().workers;
            let mut out = device.zeroed(workers).unwrap();
            for threads in [1, workers] {
                for _ in 0..10 {
                    let grid = Blocks::Resident.threads(threads);
                    let scan = TeamScan { out: out.span_mut() };
                    queue.launch_cooperative(grid, scan).unwrap();
                }
            }
        }
    });
}

/// Waits until the host says so.
struct UntilTold<'a> {
    begun: &'a AtomicUsize,
    told: &'a AtomicBool,
}

// SAFETY: the words are atomic. Not for a device with memory of its own.
unsafe impl Kernel for UntilTold<'_> {
    const NAME: &'static str = "until_told";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {
        self.begun.fetch_add(1, Ordering::Release);
        while !self.told.load(Ordering::Acquire) {
            thread::sleep(Duration::from_micros(100));
        }
    }
}

/// A block barrier, and whether the others had ended when it began.
struct MeetsAfter<'a> {
    told: &'a AtomicBool,
    too_early: &'a AtomicBool,
}

// SAFETY: as above.
unsafe impl Kernel for MeetsAfter<'_> {
    const NAME: &'static str = "meets_after";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        if !self.told.load(Ordering::Acquire) {
            self.too_early.store(true, Ordering::Relaxed);
        }
        acc.sync_block();
    }
}

// fault A11.1: two of four workers are busy with another launch. A block of two threads has both at once and meets; one of four
// starts when there are four workers for it, and not before.
#[test]
fn a_block_that_meets_waits_until_there_is_a_worker_for_each_thread() {
    bounded(Duration::from_secs(100), || {
        for wait in ["adaptive", "passive"] {
            let device = Device::open(&format!("cpu:blocks=4,wait={wait}")).unwrap();
            let (begun, told, too_early) = (AtomicUsize::new(0), AtomicBool::new(false), AtomicBool::new(false));
            let (begun, told, too_early) = (&begun, &told, &too_early);
            thread::scope(|scope| {
                scope.spawn(|| queue(&device).launch(Blocks::Exactly(2).threads(1), UntilTold { begun, told }));
                while begun.load(Ordering::Acquire) < 2 {
                    thread::yield_now();
                }
                let meets = |threads| {
                    queue(&device).launch(Blocks::Exactly(3).threads(threads), MeetsAfter { told, too_early })
                };
                meets(2).unwrap();
                assert!(
                    too_early.swap(false, Ordering::Relaxed),
                    "it ran beside the other launch"
                );
                let all = scope.spawn(move || meets(4));
                thread::sleep(Duration::from_millis(20));
                told.store(true, Ordering::Release);
                all.join().unwrap().unwrap();
                assert!(
                    !too_early.load(Ordering::Relaxed),
                    "a block began without a worker for each thread"
                );
            });
        }
    });
}

thread_local! {
    /// Whether this thread is inside a kernel, or in a closure of a scope.
    static BUSY: Cell<bool> = const { Cell::new(false) };
}

/// Fails if this thread does something else already.
fn alone_on_this_thread(work: impl FnOnce()) {
    assert!(!BUSY.replace(true), "a thread that waited was given other work");
    work();
    BUSY.set(false);
}

/// Meets at block barriers, one thread much later than the others.
struct Waits;

// SAFETY: touches no memory.
unsafe impl Kernel for Waits {
    const NAME: &'static str = "waits";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        alone_on_this_thread(|| {
            for round in 0..4 {
                if acc.thread_index() == round % acc.thread_count() {
                    thread::sleep(Duration::from_millis(3));
                }
                acc.sync_block();
            }
        });
    }
}

// fault A11.9: a thread that waits, at a barrier or for its launch to end, is not given other work: it may hold a lock that the
// other work takes.
#[test]
fn a_thread_that_waits_does_nothing_else_meanwhile() {
    bounded(Duration::from_secs(100), || {
        for wait in ["active", "adaptive", "passive"] {
            let device = Device::open(&format!("cpu:blocks=4,wait={wait}")).unwrap();
            thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        for _ in 0..5 {
                            queue(&device).launch(Blocks::Exactly(2).threads(2), Waits).unwrap();
                        }
                    });
                    scope.spawn(|| {
                        let (queue, other) = (queue(&device), queue(&device));
                        let ran = queue.scope(|pieces| {
                            for _ in 0..5 {
                                let _ = pieces.enqueue(|queue| Ok(queue.launch(Blocks::Exactly(2).threads(2), Waits)?));
                                let _ = pieces.enqueue(|_| {
                                    alone_on_this_thread(|| thread::sleep(Duration::from_millis(1)));
                                    Ok(())
                                });
                            }
                            other.launch(Blocks::Exactly(1).threads(3), Waits)
                        });
                        ran.unwrap().unwrap();
                    });
                }
            });
        }
    });
}

/// Meets round after round, in the block and in the grid.
struct Rounds {
    rounds: usize,
}

// SAFETY: touches no memory.
unsafe impl GridKernel for Rounds {
    const NAME: &'static str = "rounds";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        for _ in 0..self.rounds {
            acc.sync_block();
            acc.sync_grid();
        }
    }
}

// fault A11.2, A11.4: four and eight times as many threads as cores meet, however they wait, and whatever kind of barrier it is.
#[test]
fn many_more_threads_than_cores_meet() {
    bounded(Duration::from_secs(100), || {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        for wait in ["active", "adaptive", "passive"] {
            for (blocks, threads) in [(4 * cores, 1), (cores, 8)] {
                let device = Device::open(&format!("cpu:blocks={blocks},threads={threads},wait={wait}")).unwrap();
                let rounds = Rounds { rounds: 2000 };
                queue(&device).launch_cooperative(Blocks::Resident, rounds).unwrap();
            }
        }
    });
}

/// Each block reads in each round what all have written before the barrier.
struct Gathers<'a> {
    written: [SpanMut<'a, u32>; 2],
    wrong: SpanMut<'a, u32>,
}

// SAFETY: an array is written in every second round, and read in between.
unsafe impl GridKernel for Gathers<'_> {
    const NAME: &'static str = "gathers";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        for round in 0..6_u32 {
            let written = &self.written[round as usize % 2];
            written.set(acc, acc.block_index(), round + 1);
            acc.sync_grid();
            let wrong = (0..acc.block_count()).filter(|&block| written.get(acc, block) != round + 1);
            self.wrong
                .atomic(0)
                .fetch_add(acc, wrong.count() as u32, Ordering::Relaxed);
        }
    }
}

// fault A11.5: trees of one level to four, about every number of members that fills one, and the other barriers beside them.
#[test]
fn many_blocks_meet_at_barriers_of_every_shape() {
    bounded(Duration::from_secs(100), || {
        let shapes = [BarrierShape::Flip, BarrierShape::Counter, BarrierShape::Tree].map(Some);
        for name in ["cpu:blocks=65", "check:mps=65,blocks=1,order=random"] {
            let device = Device::open(name).unwrap();
            for shape in shapes.into_iter().chain([None]) {
                let queue = device.queue_with(shape.map_or(options(), |shape| options().barrier(shape)));
                for blocks in [15, 16, 17, 20, 21, 31, 32, 33, 63, 64, 65] {
                    let (mut even, mut odd) = (device.zeroed(blocks).unwrap(), device.zeroed(blocks).unwrap());
                    let mut wrong = device.zeroed(1).unwrap();
                    let kernel = Gathers {
                        written: [even.span_mut(), odd.span_mut()],
                        wrong: wrong.span_mut(),
                    };
                    queue
                        .launch_cooperative(Blocks::Exactly(blocks).threads(1), kernel)
                        .unwrap();
                    assert_eq!(
                        queue.download(&wrong).unwrap(),
                        [0],
                        "{shape:?}, {blocks} blocks on {name}"
                    );
                }
            }
        }
    });
}

// fault A11.1: sixteen threads on four workers.
#[test]
fn a_block_larger_than_the_pool_is_refused() {
    let device = Device::open("cpu:blocks=4").unwrap();
    let mut out = device.zeroed(16).unwrap();
    let refused = queue(&device).launch(Blocks::Exactly(1).threads(16), TeamScan { out: out.span_mut() });
    match refused {
        Err(LaunchError::ThreadsPerBlock {
            requested: 16,
            limit: 4,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_device_that_cannot_be_is_a_typed_error() {
    for name in [
        "gpu",
        "",
        "cpu:blocks",
        "cpu:blocks=two",
        "cpu:colour=red",
        "cpu:wait=often",
    ] {
        let error = Device::open(name).expect_err(name);
        assert!(
            matches!(error, DeviceError::Unknown { .. } | DeviceError::Setting { .. }),
            "{error:?}"
        );
    }
    let most = usize::MAX;
    for name in [
        "cpu:blocks=0".to_owned(),
        "cpu:threads=0".to_owned(),
        "cpu:shared=0".to_owned(),
        "cpu:blocks=5000".to_owned(),
        format!("cpu:blocks={most}"),
        format!("cpu:blocks=3,threads={most}"),
        "cpu:blocks=100,threads=100".to_owned(),
    ] {
        let error = Device::open(&name).expect_err(&name);
        assert!(matches!(error, DeviceError::Range { .. }), "{error:?}");
    }
    let device = Device::open("cpu:blocks=2,threads=2,shared=4096,wait=passive,pin=off").unwrap();
    assert!(device.name().starts_with("cpu:blocks=2,threads=2"), "{}", device.name());
    assert_eq!(Device::open(&device.name()).unwrap().properties(), device.properties());
    assert_eq!(
        (device.properties().workers, device.properties().shared_bytes),
        (4, 4096)
    );
}
