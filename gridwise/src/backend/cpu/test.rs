//! The pool of workers: what it costs while idle, how it ends, where its threads run.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, atomic::AtomicU64},
    thread,
    time::Duration,
};

use rustix::thread::{CpuSet, sched_getaffinity};

use crate::{
    backend::test_support::within_a_minute,
    host::device::{CoreLimit, CpuOptions, DeviceError},
    host::launch::LaunchError,
    kernel::Acc,
    prelude::*,
    sync::thread::yields,
};

/// Says to this test binary that it runs as a child, and so does the work itself.
const CHILD: &str = "GRIDWISE_TEST_CHILD";

/// Whether this is the child process in which a test does its work: alone, or under a limit that `limit`, a command of the
/// shell, sets. In the parent it runs the child, which has to succeed within a minute, and returns false.
fn in_child(test: &str, limit: &str) -> bool {
    if env::var_os(CHILD).is_some() {
        return true;
    }
    let binary = env::current_exe().unwrap();
    let output = Command::new("sh")
        .args(["-c", &format!("{limit} exec timeout 60 \"$0\" \"$@\"")])
        .arg(binary)
        .args(["--exact", "--nocapture", &format!("backend::cpu::test::{test}")])
        .env(CHILD, "1")
        .env_remove("GRIDWISE_DEVICE")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{}: {text}{}",
        output.status,
        String::from_utf8_lossy(&output.stderr)
    );
    false
}

/// Each block tells which cores it may run on.
struct WhereAmI<'a> {
    cores: &'a Mutex<Vec<(usize, u32)>>,
}

// SAFETY: the mutex orders the accesses. Not for a device with memory of its own.
unsafe impl Kernel for WhereAmI<'_> {
    const NAME: &'static str = "where_am_i";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let cores = sched_getaffinity(None).unwrap().count();
        self.cores.lock().unwrap().push((acc.block_index(), cores));
    }
}

/// Of each block, on how many cores it may run.
fn cores_of_blocks(device: &Device) -> Vec<u32> {
    let cores = Mutex::default();
    let blocks = device.most_resident_blocks();
    device
        .queue()
        .launch(Blocks::Exactly(blocks), WhereAmI { cores: &cores })
        .unwrap();
    let mut cores = cores.into_inner().unwrap();
    cores.sort();
    assert!(cores.iter().map(|(block, _)| *block).eq(0..blocks));
    cores.into_iter().map(|(_, cores)| cores).collect()
}

/// Nanoseconds that all threads of this process have run.
fn time_used() -> u64 {
    let tasks = fs::read_dir("/proc/self/task").unwrap();
    tasks
        .map(|task| fs::read_to_string(task.unwrap().path().join("schedstat")).unwrap())
        .map(|text| text.split(' ').next().unwrap().parse::<u64>().unwrap())
        .sum()
}

#[test]
fn an_idle_device_uses_no_time() {
    if !in_child("an_idle_device_uses_no_time", "") {
        return;
    }
    let devices = ["cpu:blocks=3", "cpu:blocks=3,wait=passive"].map(|name| Device::open(name).unwrap());
    for device in &devices {
        cores_of_blocks(device);
    }
    thread::sleep(Duration::from_millis(100));
    let before = time_used();
    thread::sleep(Duration::from_millis(300));
    let used = Duration::from_nanos(time_used() - before);
    assert!(used < Duration::from_millis(20), "{used:?}");
}

/// What threads wait for.
#[derive(Clone, Copy, Debug)]
enum For {
    GridBarrier,
    BlockBarrier,
    Word,
}

/// All wait for the first thread, which takes its time.
struct LongWait<'a> {
    what: For,
    pause: Duration,
    word: SpanMut<'a, u32>,
}

// SAFETY: the word is atomic.
unsafe impl GridKernel for LongWait<'_> {
    const NAME: &'static str = "long_wait";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let word = self.word.atomic(0);
        let is_first = acc.block_index() == 0 && acc.thread_index() == 0;
        if is_first {
            thread::sleep(self.pause);
        }
        match self.what {
            For::GridBarrier => acc.sync_grid(),
            For::BlockBarrier => acc.sync_block(),
            For::Word if is_first => word.store(acc, 1, Ordering::Release),
            For::Word => {
                word.wait_until(acc, Ordering::Acquire, |now| now == 1);
            }
        }
    }
}

// fault A11.4: a wait without end in its spinning takes every core for as long as it lasts.
#[test]
fn threads_that_wait_long_in_a_kernel_use_no_time() {
    if !in_child("threads_that_wait_long_in_a_kernel_use_no_time", "") {
        return;
    }
    let pause = Duration::from_millis(600);
    for wait in ["adaptive", "passive"] {
        let device = Device::open(&format!("cpu:blocks=2,threads=8,wait={wait}")).unwrap();
        for what in [For::GridBarrier, For::BlockBarrier, For::Word] {
            let mut word = device.zeroed(1).unwrap();
            let kernel = LongWait {
                what,
                pause,
                word: word.span_mut(),
            };
            let before = time_used();
            device.queue().launch_cooperative(Blocks::Resident, kernel).unwrap();
            let used = Duration::from_nanos(time_used() - before);
            assert!(used < pause / 2, "{wait}, {what:?}: {used:?}");
        }
    }
}

/// Each thread waits for nothing but itself to yield, or to have looked very often. Notes the most looks.
struct LooksBeforeYield<'a> {
    word: SpanMut<'a, u32>,
    most: &'a AtomicU64,
}

// SAFETY: nobody stores to the word; the other is atomic. Not for a device with memory of its own.
unsafe impl GridKernel for LooksBeforeYield<'_> {
    const NAME: &'static str = "looks_before_yield";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        const TOO_MANY: u64 = 1_000_000;
        let (mut looks, before) = (0, yields());
        self.word.atomic(0).wait_until(acc, Ordering::Relaxed, |_| {
            looks += 1;
            yields() > before || looks == TOO_MANY
        });
        self.most.fetch_max(looks, Ordering::Relaxed);
    }
}

// fault A11.6: with as many workers as cores, a waiting thread spins as if nobody else could want its core.
#[test]
fn a_thread_that_waits_on_a_pool_of_all_cores_soon_offers_its_core_to_others() {
    for name in ["cpu", "cpu:wait=active", "cpu:wait=passive", "cpu:pin=off"] {
        let device = Device::open(name).unwrap();
        for threads in [1, device.properties().workers] {
            let (mut word, most) = (device.zeroed(1).unwrap(), AtomicU64::new(0));
            let kernel = LooksBeforeYield {
                word: word.span_mut(),
                most: &most,
            };
            let grid = Blocks::Resident.threads(threads);
            device.queue().launch_cooperative(grid, kernel).unwrap();
            // Some microseconds.
            assert!(most.into_inner() < 2000, "{name}, {threads} threads");
        }
    }
}

#[test]
fn a_device_is_dropped_right_after_it_was_opened() {
    within_a_minute(|| {
        for _ in 0..50 {
            drop(Device::open("cpu:blocks=4").unwrap());
        }
    });
}

#[test]
fn a_device_is_dropped_while_its_workers_sleep() {
    within_a_minute(|| {
        let device = Device::open("cpu:blocks=4,wait=passive").unwrap();
        cores_of_blocks(&device);
        thread::sleep(Duration::from_millis(50));
        drop(device);
    });
}

#[test]
fn many_devices_live_side_by_side() {
    within_a_minute(|| {
        let devices: Vec<_> = (0..20).map(|_| Device::open("cpu:blocks=3").unwrap()).collect();
        for device in &devices {
            assert_eq!(cores_of_blocks(device).len(), 3);
        }
    });
}

#[test]
fn every_way_of_waiting_runs_launch_after_launch() {
    within_a_minute(|| {
        for wait in ["active", "adaptive", "passive"] {
            let device = Device::open(&format!("cpu:blocks=3,wait={wait}")).unwrap();
            for _ in 0..20 {
                assert_eq!(cores_of_blocks(&device).len(), 3);
            }
        }
    });
}

#[test]
fn a_process_on_one_core_has_one_block() {
    if !in_child(
        "a_process_on_one_core_has_one_block",
        "taskset -cp \"$(taskset -cp $$ | sed 's/.*[^0-9]\\([0-9]*\\)$/\\1/')\" $$ > /dev/null &&",
    ) {
        return;
    }
    assert_eq!(sched_getaffinity(None).unwrap().count(), 1, "the limit works");
    let device = Device::from_env().unwrap();
    assert_eq!(device.most_resident_blocks(), 1);
    assert_eq!(device.properties().cores, 1);
}

/// A cgroup of its own, with a quota of one core's time; goes away with its value. `None` where none may be made.
struct OneCoreQuota(PathBuf);

impl OneCoreQuota {
    fn new() -> Option<Self> {
        // Version 1 has a hierarchy for processor time, version 2 one for everything.
        let kinds = [
            ("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "100000"),
            ("/sys/fs/cgroup", "cpu.max", "100000 100000"),
        ];
        kinds.into_iter().find_map(|(hierarchy, file, quota)| {
            let folder = Path::new(hierarchy).join(format!("gridwise-test-{}", std::process::id()));
            fs::create_dir(&folder).ok()?;
            let group = Self(folder);
            let set = group.0.join(file);
            (set.exists() && fs::write(set, quota).is_ok()).then_some(group)
        })
    }
}

impl Drop for OneCoreQuota {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

#[test]
fn a_process_with_a_quota_of_one_core_has_one_block() {
    let test = "a_process_with_a_quota_of_one_core_has_one_block";
    if env::var_os(CHILD).is_none() {
        match OneCoreQuota::new() {
            Some(group) => {
                in_child(test, &format!("echo $$ > {}/cgroup.procs &&", group.0.display()));
            }
            None => eprintln!("skipped: no cgroup may be made here"),
        }
        return;
    }
    let device = Device::from_env().unwrap();
    assert_eq!(device.most_resident_blocks(), 1);
    let properties = device.properties();
    assert_eq!(properties.cores, 1);
    let allowed = sched_getaffinity(None).unwrap().count();
    if allowed > 1 {
        assert_eq!(properties.limited_by, CoreLimit::Quota);
    }
    // Even where there is a worker a core that the mask allows: the scheduler should be free to move them.
    let wide = Device::open(&format!("cpu:blocks={allowed}")).unwrap();
    if allowed > 1 {
        assert!(cores_of_blocks(&wide).into_iter().all(|cores| cores == allowed));
    }
}

#[test]
fn workers_stay_on_a_core_each_where_there_are_enough() {
    let allowed: CpuSet = sched_getaffinity(None).unwrap();
    let device = Device::cpu(CpuOptions::default()).unwrap();
    let blocks = device.most_resident_blocks();
    let quota = blocks < allowed.count() as usize;
    // The first block runs on this thread, which is not ours to pin.
    for cores in &cores_of_blocks(&device)[1..] {
        assert_eq!(*cores, if quota { allowed.count() } else { 1 });
    }

    let crowded = Device::open(&format!("cpu:blocks={}", blocks + 1)).unwrap();
    let free = Device::open(&format!("cpu:blocks={blocks},pin=off")).unwrap();
    for device in [crowded, free] {
        for cores in cores_of_blocks(&device) {
            assert_eq!(cores, allowed.count());
        }
    }
    assert_eq!(
        sched_getaffinity(None).unwrap().count(),
        allowed.count(),
        "the caller's own"
    );
}

#[test]
fn threads_that_cannot_be_started_are_an_error() {
    // No room for the stacks of so many threads.
    if !in_child("threads_that_cannot_be_started_are_an_error", "ulimit -v 600000 &&") {
        return;
    }
    match Device::open("cpu:blocks=1000") {
        Err(DeviceError::Threads { started, wanted, .. }) => {
            assert_eq!(wanted, 1000);
            assert!(started < wanted);
        }
        other => panic!("{other:?}"),
    }
    // Those that were started have ended, and left room.
    drop(Device::open("cpu:blocks=4").unwrap());
}

/// Panics with something that panics again when it is dropped.
struct Bomb;

struct Throws;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
}

// SAFETY: touches no memory.
unsafe impl Kernel for Throws {
    const NAME: &'static str = "throws";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        if acc.block_index() == 1 {
            std::panic::panic_any(Bomb);
        }
    }
}

/// Iterates until a residual is small, and it is none any more.
#[repr(C)]
struct Lost {
    scans: bool,
}

// SAFETY: it touches no memory.
unsafe impl Kernel for Lost {
    const NAME: &'static str = "lost";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let total = || {
            if self.scans {
                acc.inclusive_scan_block(f32::NAN, |a, b| a + b).1
            } else {
                acc.reduce_block(f32::NAN, |a, b| a + b)
            }
        };
        while total().is_nan() {}
    }
}

#[test]
fn blocks_of_one_thread_that_never_agree_on_an_end_are_given_up() {
    for scans in [false, true] {
        let result = within_a_minute(move || {
            let device = Device::open("cpu:blocks=2,threads=1").unwrap();
            let options = QueueOptions::default().timeout(Duration::from_millis(20));
            device.queue_with(options).launch(Blocks::Resident, Lost { scans })
        });
        assert!(matches!(result, Err(LaunchError::TimedOut { .. })), "{result:?}");
    }
}

#[test]
fn a_panic_whose_payload_panics_is_an_error_like_any_other() {
    within_a_minute(|| {
        let device = Device::open("cpu:blocks=2").unwrap();
        let error = device.queue().launch(Blocks::Exactly(2), Throws).unwrap_err();
        assert!(matches!(error, LaunchError::Panicked { block: 1, .. }), "{error}");
        assert_eq!(cores_of_blocks(&device).len(), 2);
    });
}
