//! Launches: shapes of grids, refusals, and what reaches the kernel.

use std::{num::NonZeroU32, thread, time::Duration};

use gridwise::{
    host::{launch::Grid, queue::Queue},
    prelude::*,
};

use conformance_kernels::launches::{Beside, Empty, Fields, Iota, Meets, Nothing, Pair, Shape, Slices};

use crate::support::{grids, options, queue, survives_failures, team};

pub(crate) fn a_kernel_without_arguments_runs(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        queue.launch(grid, Nothing).unwrap();
    }
    queue.launch_cooperative(Blocks::Resident, Nothing).unwrap();
}

fn iota<const N: usize>(device: &Device, extents: [usize; N], frame: [usize; N]) {
    let queue = queue(device);
    let size = extents.iter().product::<usize>();
    let mut shapes = grids(device);
    shapes.push(Frames::of(extents, frame).into());
    for grid in shapes {
        let mut out = device.zeroed(size).unwrap();
        let kernel = Iota {
            extents,
            frame,
            out: out.span_mut(),
        };
        queue.launch(grid, kernel).unwrap();
        assert_eq!(
            queue.download(&out).unwrap(),
            (0..size as u32).collect::<Vec<_>>(),
            "{grid:?}"
        );
    }
}

pub(crate) fn iota_in_one_to_four_dimensions(device: &Device) {
    iota(device, [1013], [64]);
    iota(device, [31, 37], [4, 16]);
    iota(device, [7, 11, 13], [2, 3, 13]);
    iota(device, [3, 5, 7, 11], [1, 5, 2, 4]);
}

pub(crate) fn slices_of_a_space_count_with_atomics(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        let (mut in_slice, mut in_column) = (device.zeroed(5).unwrap(), device.zeroed(11).unwrap());
        let kernel = Slices {
            extents: [5, 7, 11],
            in_slice: in_slice.span_mut(),
            in_column: in_column.span_mut(),
        };
        queue.launch(grid, kernel).unwrap();
        assert_eq!(queue.download(&in_slice).unwrap(), [77; 5]);
        assert_eq!(queue.download(&in_column).unwrap(), [35; 11]);
    }
}

fn shape(device: &Device, grid: impl Into<Grid>) -> [usize; 3] {
    let queue = queue(device);
    let mut out = device.zeroed(3).unwrap();
    queue.launch(grid, Shape { out: out.span_mut() }).unwrap();
    let out = queue.download(&out).unwrap();
    std::array::from_fn(|i| out[i] as usize)
}

pub(crate) fn a_grid_by_frames_has_at_most_a_block_a_frame(device: &Device) {
    let own = device.properties().threads_per_block;
    for (len, frame) in [(1, 256), (256, 256), (257, 256), (10_000, 3), (7, 1), (usize::MAX, 1)] {
        let [blocks, threads, all] = shape(device, Frames::new(len, frame));
        assert!(
            blocks >= 1 && blocks <= len.div_ceil(frame),
            "{blocks} blocks for {len} by {frame}"
        );
        assert_eq!((threads, all), (own, blocks * own));
    }
    let [blocks, ..] = shape(device, Frames::of([3, 5], [2, 5]));
    assert!(blocks <= 2);
    let [_, threads, _] = shape(device, Frames::new(100, 1).threads(1));
    assert_eq!(threads, 1);
}

pub(crate) fn a_grid_by_exact_shape_has_that_shape(device: &Device) {
    for blocks in [1, 2, 3, 16, 101] {
        let own = device.properties().threads_per_block;
        assert_eq!(shape(device, Blocks::Exactly(blocks)), [blocks, own, blocks * own]);
        for threads in 1..=team(device, 5).unwrap_or(1) {
            let grid = Blocks::Exactly(blocks).threads(threads);
            assert_eq!(shape(device, grid), [blocks, threads, blocks * threads]);
        }
    }
    let own = device.properties().threads_per_block;
    let resident = device.most_resident_blocks();
    assert_eq!(shape(device, Blocks::Resident), [resident, own, resident * own]);
}

// fault A10.6, A10.7: no elements are no frames, no launch, and no error.
pub(crate) fn no_frames_are_no_launch(device: &Device) {
    let queue = queue(device);
    let mut out = device.zeroed(3).unwrap();
    let empty: [Grid; 4] = [
        Frames::new(0, 256).into(),
        Frames::new(0, usize::MAX).threads(1),
        Frames::of([5, 0], [1, 1]).into(),
        Frames::of([0, 0, 0], [1, 2, 3]).into(),
    ];
    for grid in empty {
        queue.launch(grid, Shape { out: out.span_mut() }).unwrap();
        queue.launch_cooperative(grid, Nothing).unwrap();
    }
    assert_eq!(queue.download(&out).unwrap(), [0; 3]);
}

// fault A1.13, A10.3, A10.7: distinct typed errors, plain and cooperative alike.
pub(crate) fn each_bad_shape_has_an_error_of_its_own(device: &Device) {
    let queue = queue(device);
    type Launch<'a> = &'a dyn Fn(Grid) -> LaunchError;
    let plain: Launch<'_> = &|grid| queue.launch(grid, Nothing).expect_err("it is refused");
    let cooperative: Launch<'_> = &|grid| queue.launch_cooperative(grid, Nothing).expect_err("it is refused");
    for launch in [plain, cooperative] {
        let kernel = "nothing";
        let error = launch(Blocks::Exactly(0).into());
        assert!(
            matches!(error, LaunchError::ZeroBlocks { kernel: k } if k == kernel),
            "{error:?}"
        );
        for grid in [
            Blocks::Exactly(1).threads(0),
            Blocks::Resident.threads(0),
            Frames::new(9, 3).threads(0),
        ] {
            let error = launch(grid);
            assert!(
                matches!(error, LaunchError::ZeroThreads { kernel: k } if k == kernel),
                "{error:?}"
            );
        }
        for grid in [
            Frames::new(9, 0).into(),
            Frames::of([3, 3], [1, 0]).into(),
            Frames::new(0, 0).into(),
        ] {
            let error = launch(grid);
            assert!(
                matches!(error, LaunchError::ZeroFrame { kernel: k } if k == kernel),
                "{error:?}"
            );
        }
        match launch(Blocks::Exactly(usize::MAX).into()) {
            LaunchError::TooManyBlocks {
                kernel: k,
                requested: usize::MAX,
                limit,
            } => assert!(k == kernel && limit < usize::MAX),
            other => panic!("{other:?}"),
        }
        match launch(Blocks::Exactly(1).threads(1 << 20)) {
            LaunchError::ThreadsPerBlock {
                kernel: k,
                requested,
                limit,
            } => assert!(k == kernel && requested == 1 << 20 && limit < requested),
            other => panic!("{other:?}"),
        }
    }
}

// fault A10.3: more threads than a device numbers are a typed error with the limit, and the largest grid is one that it runs.
pub(crate) fn more_blocks_than_a_device_numbers_are_refused(device: &Device) {
    let queue = device.queue_with(options().timeout(Duration::from_millis(30)));
    for threads in [1, team(device, 4).unwrap_or(1)] {
        let launch = |blocks| queue.launch(Blocks::Exactly(blocks).threads(threads), Nothing);
        let limit = match launch(usize::MAX) {
            Err(LaunchError::TooManyBlocks { limit, .. }) => limit,
            other => panic!("{other:?}"),
        };
        assert!(limit.checked_mul(threads).is_some(), "{limit} blocks of {threads}");
        let too_many = [
            limit + 1,
            (1_u64 << 32) as usize,
            (1_u64 << 62) as usize,
            usize::MAX / threads,
        ];
        // Where addresses are short, some of these are not.
        for blocks in too_many.into_iter().filter(|&blocks| blocks > limit) {
            match launch(blocks) {
                Err(LaunchError::TooManyBlocks {
                    requested, limit: l, ..
                }) => assert_eq!((requested, l), (blocks, limit)),
                other => panic!("{other:?}"),
            }
        }
        if survives_failures(device) {
            let largest = launch(limit);
            assert!(matches!(largest, Err(LaunchError::TimedOut { .. })), "{largest:?}");
        }
    }
}

// fault A10.6, A10.8: no elements on a persistent grid with barriers; an empty buffer as an argument.
pub(crate) fn empty_buffers_run_through_barriers(device: &Device) {
    let queue = queue(device);
    let (input, mut out) = (queue.upload::<f32>(&[]).unwrap(), device.zeroed(0).unwrap());
    let kernel = Empty {
        input: input.span(),
        out: out.span_mut(),
    };
    queue.launch_cooperative(Blocks::Resident, kernel).unwrap();
    assert!(queue.download(&out).unwrap().is_empty());
}

// fault A10.8
pub(crate) fn an_empty_buffer_stands_beside_a_full_one(device: &Device) {
    let queue = queue(device);
    let data: Vec<u8> = (0..=200).collect();
    let (empty, input) = (device.zeroed(0).unwrap(), queue.upload(&data).unwrap());
    let (mut empty_out, mut out) = (device.zeroed(0).unwrap(), device.zeroed(data.len()).unwrap());
    let kernel = Beside {
        empty: empty.span(),
        input: input.span(),
        empty_out: empty_out.span_mut(),
        out: out.span_mut(),
    };
    queue.launch(Frames::new(data.len(), 10), kernel).unwrap();
    assert_eq!(queue.download(&out).unwrap(), data);
}

// fault A11.10: blocks of a plain launch may outnumber the workers.
pub(crate) fn more_blocks_than_workers_are_fine(device: &Device) {
    let threads = team(device, 2).unwrap_or(1);
    assert_eq!(shape(device, Blocks::Exactly(1000).threads(threads))[2], 1000 * threads);
}

/// Asks for a launch from inside.
#[repr(C)]
struct Nests<'a> {
    queue: &'a Queue,
    cooperative: bool,
}

// SAFETY: a queue may be shared by threads, and nothing else is touched.
unsafe impl Kernel for Nests<'_> {
    const NAME: &'static str = "nests";
    type Shared = ();

    fn run<A: Acc>(self, _: A, _: ()) {
        let result = if self.cooperative {
            self.queue.launch_cooperative(Blocks::Exactly(1), Nothing)
        } else {
            self.queue.launch(Blocks::Exactly(1), Nothing)
        };
        assert!(
            matches!(result, Err(LaunchError::Nested { kernel: "nothing" })),
            "{result:?}"
        );
    }
}

// fault A11.10: a launch from inside a kernel would wait for itself. Kernels on a GPU cannot hold a queue at all.
pub(crate) fn a_launch_from_inside_a_kernel_is_refused(device: &Device) {
    if device.name().starts_with("cuda") {
        return;
    }
    let (outer, inner) = (queue(device), queue(device));
    for cooperative in [false, true] {
        for queue in [&inner, &outer] {
            outer.launch(Blocks::Resident, Nests { queue, cooperative }).unwrap();
        }
    }
    inner.launch(Blocks::Resident, Nothing).unwrap();
}

// fault A11.1, A11.9: many threads of other pools launch kernels with block barriers on one device, which is never large
// enough for all of them at once.
pub(crate) fn threads_of_another_pool_may_launch(device: &Device) {
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let queue = queue(device);
                let threads = device.properties().workers.min(8);
                for _ in 0..20 {
                    let mut out = device.zeroed(3 * threads).unwrap();
                    let kernel = Meets { out: out.span_mut() };
                    queue.launch(Blocks::Exactly(3).threads(threads), kernel).unwrap();
                    assert_eq!(queue.download(&out).unwrap(), vec![threads as u32; 3 * threads]);
                }
            });
        }
    });
}

// fault A11.1: a block needs all its threads at once; what cannot run is refused, never run wrongly or in part.
pub(crate) fn more_threads_than_run_together_are_refused(device: &Device) {
    let queue = queue(device);
    let mut out = device.zeroed(1).unwrap();
    let refused = queue.launch(Blocks::Exactly(1).threads(1 << 16), Meets { out: out.span_mut() });
    let Err(LaunchError::ThreadsPerBlock { limit, .. }) = refused else {
        panic!("{refused:?}");
    };
    let refused = queue.launch(Blocks::Exactly(1).threads(limit + 1), Meets { out: out.span_mut() });
    assert!(
        matches!(refused, Err(LaunchError::ThreadsPerBlock { .. })),
        "{refused:?}"
    );
    let mut out = device.zeroed(limit).unwrap();
    queue
        .launch(Blocks::Exactly(1).threads(limit), Meets { out: out.span_mut() })
        .unwrap();
    assert_eq!(queue.download(&out).unwrap(), vec![limit as u32; limit]);
}

/// Holds fields whose layout a compiler chooses: nothing for a kernel that two of them compile.
struct Loose<'a> {
    range: std::ops::Range<usize>,
    pair: (u32, i64),
    maybe: Option<u32>,
    out: SpanMut<'a, f64>,
}

// SAFETY: one thread writes.
unsafe impl Kernel for Loose<'_> {
    const NAME: &'static str = "loose";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for i in acc.threads_in_grid(0..1) {
            let sum = self.range.clone().map(|x| x as f64).sum::<f64>()
                + f64::from(self.pair.0)
                + self.pair.1 as f64
                + f64::from(self.maybe.unwrap_or(0));
            self.out.set(acc, i, sum);
        }
    }
}

pub(crate) fn fields_of_unspecified_layout_reach_the_kernel(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    let queue = queue(device);
    for grid in grids(device) {
        let mut out = device.zeroed(1).unwrap();
        let kernel = Loose {
            range: 1..4,
            pair: (7, -3),
            maybe: Some(9),
            out: out.span_mut(),
        };
        queue.launch(grid, kernel).unwrap();
        assert_eq!(queue.download(&out).unwrap(), [6.0 + 7.0 - 3.0 + 9.0]);
    }
}

pub(crate) fn fields_of_every_kind_reach_the_kernel(device: &Device) {
    let queue = queue(device);
    let (a, b) = (
        queue.upload(&[100_u32, 200]).unwrap(),
        queue.upload(&[4000_u32]).unwrap(),
    );
    for grid in grids(device) {
        let mut out = device.zeroed(1).unwrap();
        let kernel = Fields {
            byte: 1,
            double: 0.5,
            flag: true,
            numbers: [-10, -20, -30],
            spans: [a.span(), b.span()],
            pair: Pair { small: 7, large: -3 },
            maybe: NonZeroU32::new(9),
            none: None,
            out: out.span_mut(),
        };
        queue.launch(grid, kernel).unwrap();
        assert_eq!(
            queue.download(&out).unwrap(),
            [1.0 + 0.5 + 1.0 - 60.0 + 4300.0 + 7.0 - 3.0 + 9.0]
        );
    }
}
