//! CPU devices of every size, whatever the back ends of the suite: blocks that do not divide the pool, and options.

use std::{
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use gridwise::{host::device::DeviceError, prelude::*};

use crate::support::{bounded, queue};

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
        self.out.set(acc, acc.block_index() * threads + thread, sum);
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
        assert_eq!(all as usize, acc.block_count() * acc.thread_count());
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
