//! What a GPU alone has: modules to load, and a device that is lost when a kernel fails.

use std::{env, process::Command, thread, time::Duration};

use conformance_kernels::{
    KERNELS,
    copies::Double,
    failures::{Endless, EndlessInTheBlock, Fails, Meanwhile, PastTheEnd},
    grid_barrier::{FailsBetween, Residuals},
    phases::Log,
    tasks::Endless as EndlessTask,
};
use gridwise::{
    Module,
    host::{
        buffer::AllocationError,
        cuda,
        device::DeviceError,
        driver::DriverError,
        load::LoadError,
        phases::Structure,
        queue::QueueOptions,
        report::HangCause,
        residency::LimitedBy,
        tasks::{Cancellation, TaskFailure},
    },
    prelude::*,
};

use crate::support::{open, queue};

const DEVICE: &str = "cuda:0";

/// Every call says that the device is lost, and which kernel did it.
fn assert_lost(device: &Device, by: &str) {
    let is_lost = |error: &DriverError| matches!(error, DriverError::Lost { kernel, .. } if *kernel == by);
    match queue(device).launch(Blocks::Exactly(1), Unknown) {
        Err(LaunchError::Driver { source, .. }) => assert!(is_lost(&source), "{source}"),
        other => panic!("{other:?}"),
    }
    match device.zeroed::<u32>(1) {
        Err(AllocationError {
            driver: Some(error), ..
        }) => assert!(is_lost(&error), "{error}"),
        other => panic!("{other:?}"),
    }
    // As long as anything of it is there.
    match Device::open(DEVICE) {
        Err(DeviceError::Driver(error)) => assert!(is_lost(&error), "{error}"),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn an_index_out_of_bounds_names_block_thread_and_place() {
    let device = open(DEVICE);
    let mut out = device.zeroed(5).unwrap();
    let kernel = PastTheEnd {
        store: true,
        out: out.span_mut(),
    };
    match queue(&device).launch(Blocks::Exactly(1).threads(1), kernel) {
        Err(LaunchError::Panicked {
            kernel: "past_the_end",
            block: 0,
            thread: 0,
            message,
        }) => {
            assert!(
                message.starts_with("index 5 is out of bounds of a span of 5, at "),
                "{message}"
            );
            assert!(message.contains("failures.rs:"), "{message}");
        }
        other => panic!("{other:?}"),
    }
    assert_lost(&device, "past_the_end");
}

/// A device of its own for each failure: whatever the others do meanwhile, the one that panicked is named, and where it did.
pub(crate) fn a_panic_names_block_thread_and_place() {
    let cases = [
        (Meanwhile::Nothing, false),
        (Meanwhile::BlockBarrier, false),
        (Meanwhile::Wait, false),
        (Meanwhile::GridBarrier, true),
        (Meanwhile::Wait, true),
    ];
    for (meanwhile, cooperative) in cases {
        let device = open(DEVICE);
        let mut word = device.zeroed(1).unwrap();
        let kernel = Fails {
            block: 1,
            thread: 35,
            pause: 2,
            meanwhile,
            word: word.span_mut(),
        };
        let grid = Blocks::Exactly(3).threads(40);
        let failed = if cooperative {
            queue(&device).launch_cooperative(grid, kernel)
        } else {
            queue(&device).launch(grid, kernel)
        };
        match failed {
            Err(LaunchError::Panicked {
                block: 1,
                thread: 35,
                message,
                ..
            }) => assert!(
                message.starts_with("it panicked, at ") && message.contains("failures.rs:"),
                "{message}"
            ),
            other => panic!("{meanwhile:?}: {other:?}"),
        }
    }
}

pub(crate) fn a_time_limit_ends_a_block_without_end() {
    let device = open(DEVICE);
    let queue = device.queue_with(QueueOptions::default().timeout(Duration::from_millis(100)));
    let result = queue.launch(Blocks::Exactly(1).threads(64), EndlessInTheBlock);
    assert!(matches!(result, Err(LaunchError::TimedOut { .. })), "{result:?}");
}

pub(crate) fn a_panic_beside_blocks_that_wait_is_reported() {
    let device = open(DEVICE);
    match queue(&device).launch_cooperative(
        Blocks::Exactly(4).threads(32),
        FailsBetween {
            rounds: 3,
            failing_block: 2,
        },
    ) {
        Err(LaunchError::Panicked {
            kernel: "fails_between",
            message,
            ..
        }) => assert!(message.contains("grid_barrier.rs:"), "{message}"),
        other => panic!("{other:?}"),
    }
    assert_lost(&device, "fails_between");
}

pub(crate) fn a_lost_device_is_opened_anew_once_all_of_it_is_dropped() {
    for _ in 0..3 {
        let device = open(DEVICE);
        let mut kept = queue(&device).upload(&[1_u32, 2, 3]).unwrap();
        let double = Double { out: kept.span_mut() };
        queue(&device).launch(Blocks::Resident, double).unwrap();
        assert_eq!(queue(&device).download(&kept).unwrap(), [2, 4, 6]);
        queue(&device)
            .launch_cooperative(
                Blocks::Exactly(2),
                FailsBetween {
                    rounds: 0,
                    failing_block: 0,
                },
            )
            .unwrap_err();
        drop(device);
        assert!(Device::open(DEVICE).is_err(), "the buffer is of the lost device");
    }
}

pub(crate) fn a_time_limit_ends_rounds_without_end() {
    let device = open(DEVICE);
    let limit = Duration::from_millis(200);
    let queue = device.queue_with(QueueOptions::default().timeout(limit));
    match queue.launch_cooperative(Blocks::Exactly(2).threads(2), Endless) {
        Err(LaunchError::TimedOut { after, report, .. }) => {
            assert_eq!((after, report.cause()), (limit, HangCause::NotTold));
        }
        other => panic!("{other:?}"),
    }
}

/// In no module.
#[repr(C)]
struct Unknown;

// SAFETY: it does nothing.
unsafe impl Kernel for Unknown {
    const NAME: &'static str = "unknown";
    type Shared = ();

    fn run<A: Acc>(self, _: A, (): ()) {}
}

pub(crate) fn a_kernel_that_no_module_has_is_named_with_its_type() {
    let device = open(DEVICE);
    match queue(&device).launch(Blocks::Exactly(1), Unknown) {
        Err(LaunchError::NotExported {
            kernel: "unknown",
            type_name,
            device,
        }) => assert!(type_name.ends_with("gpu::Unknown") && device == DEVICE, "{type_name}"),
        other => panic!("{other:?}"),
    }
    let residency = device.residency(&Unknown);
    assert_eq!((residency.blocks(), residency.limited_by), (0, LimitedBy::NotLoaded));
    queue(&device).fill(device.zeroed::<u32>(4).unwrap().span_mut(), 1);
}

pub(crate) fn a_module_that_the_driver_refuses_says_why() {
    let device = open(DEVICE);
    let load = |ptx| {
        // SAFETY: neither text has an entry, so there is nothing in it to be run.
        let module = unsafe { Module::new(ptx, &KERNELS) };
        device.load(&module)
    };
    match load("this is no module") {
        Err(LoadError::Refused { log, .. }) => assert!(!log.is_empty()),
        other => panic!("{other:?}"),
    }
    match load(".version 7.8\n.target sm_70\n.address_size 64\n") {
        Err(LoadError::Missing { .. }) => {}
        other => panic!("{other:?}"),
    }
}

/// Runs a test of this file in a process of its own, whose simulated GPU is like that. In that process it returns true; on a real GPU,
/// which is what it is, nothing is run.
fn on_a_gpu_like(test: &str, settings: &str) -> bool {
    const CHILD: &str = "GRIDWISE_TEST_CHILD";
    if env::var_os(CHILD).is_some() {
        return true;
    }
    let gpu = open(DEVICE).properties().gpu.expect("it is one");
    if !gpu.model.contains("simulator") {
        return false;
    }
    let mut child = Command::new(env::current_exe().expect("this program has a path"));
    child.args(["--exact", "--nocapture", &format!("cuda_alone::{test}")]);
    let output = child
        .env(CHILD, "1")
        .env("PTX_SIM", settings)
        .output()
        .expect("it runs again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{settings}: {text}"
    );
    false
}

// fault A5.9: lanes of a warp that wait for each other need a GPU on which each goes on by itself.
pub(crate) fn a_gpu_whose_lanes_wait_for_each_other_is_refused() {
    if !on_a_gpu_like("a_gpu_whose_lanes_wait_for_each_other_is_refused", "cc=6.2") {
        return;
    }
    match Device::open(DEVICE) {
        Err(DeviceError::CudaDeviceTooOld {
            ordinal: 0,
            found: (6, 2),
            needed: (7, 0),
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
}

// fault A1.15: a share of the multiprocessors is what a process sees: the grid is as large as that, and no larger.
pub(crate) fn a_grid_is_as_large_as_the_share_of_the_gpu() {
    if !on_a_gpu_like("a_grid_is_as_large_as_the_share_of_the_gpu", "mps=3,blocks=1") {
        return;
    }
    let device = open("cuda:0,threads=32");
    let fits = device.most_resident_blocks();
    assert_eq!(fits, 3);
    let launch = |blocks| {
        let mut steps = device.zeroed(blocks).unwrap();
        let kernel = Residuals {
            together: true,
            steps: steps.span_mut(),
        };
        queue(&device).launch_cooperative(Blocks::Exactly(blocks), kernel)
    };
    launch(fits).unwrap();
    match launch(fits + 1) {
        Err(LaunchError::NotResident {
            requested, capacity, ..
        }) => assert_eq!((requested, capacity), (4, 3)),
        other => panic!("{other:?}"),
    }
}

// fault A1.3: what is asked for a residency and what is launched give one answer; the phases of a kernel run as launches instead.
pub(crate) fn a_gpu_without_cooperative_launches_says_so_beforehand() {
    if !on_a_gpu_like("a_gpu_without_cooperative_launches_says_so_beforehand", "coop=0") {
        return;
    }
    let device = open("cuda:0,threads=32");
    let mut steps = device.zeroed(1).unwrap();
    let steps = steps.span_mut();
    let kernel = Residuals { together: true, steps };
    let residency = device.grid_residency(&kernel);
    assert_eq!(
        (residency.blocks(), residency.limited_by),
        (0, LimitedBy::NoCooperativeLaunch)
    );
    match queue(&device).launch_cooperative(Blocks::Exactly(1), kernel) {
        Err(LaunchError::NotResident {
            capacity: 0,
            limited_by: LimitedBy::NoCooperativeLaunch,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    let (mut next, mut log) = (device.zeroed(1).unwrap(), device.zeroed(30).unwrap());
    let kernel = Log {
        steps: 3,
        next: next.span_mut(),
        log: log.span_mut(),
    };
    let report = queue(&device).run(kernel, Strategy::Auto).unwrap();
    assert_eq!((report.structure, report.steps), (Structure::Relaunch, 3));
}

pub(crate) fn devices_opened_twice_reach_each_others_buffers() {
    let (first, second) = (open(DEVICE), open("cuda:0,threads=32"));
    let from = queue(&first).upload(&[1_u64, 2, 3]).unwrap();
    let mut to = second.zeroed(3).unwrap();
    queue(&second).copy(from.span(), to.span_mut()).unwrap();
    assert_eq!(queue(&first).download(&to).unwrap(), [1, 2, 3]);
    let on_host = Device::open("cpu:blocks=1").unwrap();
    let mut back = on_host.zeroed(3).unwrap();
    queue(&second).copy(to.span(), back.span_mut()).unwrap();
    assert_eq!(back.span()[..], [1, 2, 3]);
}

pub(crate) fn there_is_one_among_all_devices() {
    assert!(cuda::device_count().unwrap() > 0);
    let all = Device::all().unwrap();
    let gpu = all.iter().find(|device| device.name() == DEVICE).unwrap();
    let properties = gpu.properties().gpu.unwrap();
    assert!(properties.multiprocessors > 0 && !properties.model.is_empty());
}

/// A GPU does not reach the word of a cancellation: the host looks before each launch.
pub(crate) fn a_run_by_generations_is_cancelled_between_launches() {
    let device = open(DEVICE);
    let cancellation = Cancellation::default();
    let error = thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(20));
            cancellation.cancel();
        });
        let options = TaskOptions::from(Strategy::Relaunch).cancelled_by(&cancellation);
        queue(&device).run_tasks(EndlessTask, &[[5; 3], [6; 3]], options)
    });
    let error = error.unwrap_err();
    assert!(matches!(*error.cause, TaskFailure::Cancelled), "{error}");
    let mut rest = error.unfinished;
    rest.sort();
    assert_eq!(rest, [[5; 3], [6; 3]]);
}
