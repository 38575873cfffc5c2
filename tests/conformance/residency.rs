//! Residency: the one source of a machine-sized grid, asked for each kernel and checked at each launch.

use gridwise::{
    host::{launch::Grid, queue::Queue, residency::LimitedBy},
    prelude::*,
};

use conformance_kernels::residency::{AddThree, Counts, Marks, MarksAlone};

use crate::support::{blocks_of, is_checking, options, queue, team};

/// Launches it and returns the blocks that it counted.
fn count(queue: &Queue, grid: impl Into<Grid>) -> Result<usize, LaunchError> {
    let mut blocks = queue.device().zeroed(1).unwrap();
    let kernel = Counts {
        shared_words: 0,
        blocks: blocks.span_mut(),
    };
    queue.launch_cooperative(grid, kernel)?;
    Ok(queue.download(&blocks).unwrap()[0] as usize)
}

fn assert_not_resident(result: Result<usize, LaunchError>, asked: usize, fits: usize, by: LimitedBy) {
    match result {
        Err(LaunchError::NotResident {
            kernel: "counts",
            requested,
            capacity,
            limited_by,
        }) => assert_eq!((requested, capacity, limited_by), (asked, fits, by)),
        other => panic!("{other:?}"),
    }
}

fn residency_of(device: &Device, shared_words: usize) -> gridwise::host::residency::Residency {
    let mut blocks = device.zeroed(1).unwrap();
    device.grid_residency(&Counts {
        shared_words,
        blocks: blocks.span_mut(),
    })
}

// fault A1.4, A1.14: refused with the same typed error on every back end, a CPU included; never a warning.
pub(crate) fn twice_the_residency_is_refused(device: &Device) {
    let fits = residency_of(device, 0).blocks();
    assert_not_resident(
        count(&queue(device), Blocks::Exactly(2 * fits)),
        2 * fits,
        fits,
        residency_of(device, 0).limited_by,
    );
}

// fault A1.1
pub(crate) fn one_block_too_many_is_refused(device: &Device) {
    let fits = residency_of(device, 0).blocks();
    assert_not_resident(
        count(&queue(device), Blocks::Exactly(fits + 1)),
        fits + 1,
        fits,
        residency_of(device, 0).limited_by,
    );
}

// fault A1.2, A1.3: the very number that the query reports is launched and meets, in debug builds too.
pub(crate) fn exactly_the_residency_runs(device: &Device) {
    let queue = queue(device);
    let residency = residency_of(device, 0);
    assert_eq!(residency.threads_per_block, device.properties().threads_per_block);
    assert_eq!(
        residency.blocks(),
        residency.multiprocessors * residency.blocks_per_multiprocessor
    );
    for blocks in 1..=residency.blocks() {
        assert_eq!(count(&queue, Blocks::Exactly(blocks)).unwrap(), blocks);
    }
    assert_eq!(count(&queue, Blocks::Resident).unwrap(), residency.blocks());
    assert_eq!(device.most_resident_blocks(), residency.blocks());
}

// fault A1.9: a refusal is an answer, after which another grid runs.
pub(crate) fn a_refusal_leaves_the_device_usable(device: &Device) {
    let queue = queue(device);
    for _ in 0..3 {
        let asked = 1000;
        let Err(LaunchError::NotResident { capacity, .. }) = count(&queue, Blocks::Exactly(asked)) else {
            panic!("it does not fit");
        };
        assert_eq!(count(&queue, Blocks::Exactly(capacity)).unwrap(), capacity);
    }
}

// fault A1.9: more blocks than fit run as one launch a phase instead.
pub(crate) fn a_refused_run_falls_back_to_relaunch(device: &Device) {
    let queue = queue(device);
    let grid = Blocks::Exactly(device.most_resident_blocks() + 1);
    let mut out = device.zeroed(100).unwrap();
    for strategy in [Strategy::Persistent, Strategy::Auto] {
        let options = gridwise::host::phases::RunOptions::default()
            .strategy(strategy)
            .grid(grid);
        match (strategy, queue.run(AddThree { out: out.span_mut() }, options)) {
            (Strategy::Persistent, Err(gridwise::Error::Launch(LaunchError::NotResident { .. }))) => {}
            (Strategy::Auto, Ok(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(queue.download(&out).unwrap(), [3; 100]);
}

// fault A1.7: the answer is for the kernel that is launched, with the shared memory it needs.
pub(crate) fn residency_is_asked_for_each_kernel(device: &Device) {
    let limit = device.properties().shared_bytes;
    let small = residency_of(device, 1);
    assert!(small.blocks() > 0 && small.shared_bytes >= 8, "{small:?}");
    for words in [limit / 8 + 1, usize::MAX / 8, usize::MAX] {
        let large = residency_of(device, words);
        assert_eq!(
            (large.blocks(), large.limited_by),
            (0, LimitedBy::SharedMemory),
            "{words} words"
        );
        let mut blocks = device.zeroed(1).unwrap();
        let kernel = Counts {
            shared_words: words,
            blocks: blocks.span_mut(),
        };
        match queue(device).launch_cooperative(Blocks::Resident, kernel) {
            Err(LaunchError::SharedMemory {
                kernel: "counts",
                requested,
                limit: most,
            }) => assert!(requested > most && most <= limit),
            other => panic!("{other:?}"),
        }
    }
}

// fault A1.7, A1.8, A1.15: an answer for one shape of block says nothing about another.
pub(crate) fn residency_is_checked_at_each_launch(device: &Device) {
    let Some(threads) = team(device, 8) else { return };
    if is_checking(device) || crate::support::is_gpu(device) {
        return; // its multiprocessors hold as many blocks of eight threads as of one
    }
    let queue = queue(device);
    let fits = blocks_of(device, threads);
    assert_eq!(count(&queue, Blocks::Resident.threads(threads)).unwrap(), fits);
    for _ in 0..2 {
        let single = count(&queue, Blocks::Resident.threads(1)).unwrap();
        assert!(single > fits, "{single} blocks of one thread, {fits} of {threads}");
        let result = count(&queue, Blocks::Exactly(single).threads(threads));
        assert_not_resident(result, single, fits, residency_of(device, 0).limited_by);
    }
}

// fault A1.8: refused alike whether asked directly or enqueued.
pub(crate) fn an_enqueued_launch_is_refused_alike(device: &Device) {
    let queue = queue(device);
    let fits = device.most_resident_blocks();
    let refused = queue.scope(|scope| {
        scope
            .enqueue(move |queue| Ok(count(queue, Blocks::Exactly(fits + 1))?))
            .wait()
    });
    match refused.unwrap() {
        Err(gridwise::Error::Launch(error)) => {
            assert_not_resident(Err(error), fits + 1, fits, residency_of(device, 0).limited_by)
        }
        other => panic!("{other:?}"),
    }
}

// fault A1.7: room for what runs beside.
pub(crate) fn headroom_is_kept(device: &Device) {
    let fits = device.most_resident_blocks();
    for headroom in 1..=fits + 1 {
        let queue = device.queue_with(options().headroom(headroom));
        let left = fits.saturating_sub(headroom);
        if left > 0 {
            assert_eq!(count(&queue, Blocks::Resident).unwrap(), left);
        } else {
            assert_not_resident(count(&queue, Blocks::Resident), 1, 0, LimitedBy::Headroom);
        }
        assert_not_resident(count(&queue, Blocks::Exactly(fits)), fits, left, LimitedBy::Headroom);
    }
}

// fault A1.12: the error names the constraint that fails.
pub(crate) fn each_constraint_is_named(device: &Device) {
    let queue = queue(device);
    let both = count(&queue, Blocks::Exactly(1000).threads(1 << 16));
    assert!(matches!(both, Err(LaunchError::ThreadsPerBlock { .. })), "{both:?}");
    let blocks = count(&queue, Blocks::Exactly(1000).threads(1));
    assert!(
        matches!(blocks, Err(LaunchError::NotResident { requested: 1000, .. })),
        "{blocks:?}"
    );
    let limited_by = residency_of(device, 0).limited_by.to_string();
    assert!(blocks.unwrap_err().to_string().contains(&limited_by));
}

// fault A1.10, A1.11: a grid made to fit skips nothing.
pub(crate) fn a_resident_grid_covers_any_problem(device: &Device) {
    let queue = queue(device);
    for len in [0, 1, 7, 1009] {
        let mut out = device.zeroed(len).unwrap();
        queue
            .launch_cooperative(Blocks::Resident, Marks { out: out.span_mut() })
            .unwrap();
        queue
            .launch_cooperative(Frames::new(len.max(1), 1), Marks { out: out.span_mut() })
            .unwrap();
        assert_eq!(queue.download(&out).unwrap(), vec![2; len]);
    }
}

// fault A1.17: without a barrier twice the residency finishes; with one it is refused.
pub(crate) fn without_a_barrier_any_grid_finishes(device: &Device) {
    let queue = queue(device);
    let blocks = Blocks::Exactly(2 * device.most_resident_blocks());
    let mut out = device.zeroed(101).unwrap();
    queue.launch(blocks, MarksAlone { out: out.span_mut() }).unwrap();
    assert_eq!(queue.download(&out).unwrap(), [1; 101]);
    let refused = queue.launch_cooperative(blocks, Marks { out: out.span_mut() });
    assert!(matches!(refused, Err(LaunchError::NotResident { .. })), "{refused:?}");
    assert_eq!(
        queue.download(&out).unwrap(),
        [1; 101],
        "a refused launch writes nothing"
    );
}

// fault A1.5, A1.6, A1.14: a grid is sized by the device it is launched on, not by another of the same kind.
pub(crate) fn each_device_answers_for_itself(device: &Device) {
    let other = Device::open("cpu:blocks=3").unwrap();
    for device in [device, &other, device] {
        let fits = device.most_resident_blocks();
        assert_eq!(count(&queue(device), Blocks::Resident).unwrap(), fits);
        assert!(count(&queue(device), Blocks::Exactly(fits + 1)).is_err());
    }
    assert_eq!(other.most_resident_blocks(), 3);
}
