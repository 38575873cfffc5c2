//! What launches are refused, from the outside: the rules themselves, as a few lines say them.

use gridwise::{host::launch::Grid, prelude::*};
use proptest::prelude::*;
use proptest::strategy::Strategy;

/// Tells its shape.
#[repr(C)]
struct Shape<'a> {
    shared_words: usize,
    shape: SpanMut<'a, u64>,
}

// SAFETY: the shape is atomic.
unsafe impl GridKernel for Shape<'_> {
    const NAME: &'static str = "shape";
    type Shared = DynamicShared<u64>;

    fn dynamic_len(&self) -> usize {
        self.shared_words
    }

    fn run<A: GridAcc>(self, acc: A, _: Self::Shared) {
        self.shape
            .atomic(0)
            .fetch_max(acc, acc.block_count() as u64, Ordering::Relaxed);
        self.shape.atomic(1).fetch_add(acc, 1, Ordering::Relaxed);
    }
}

const WORKERS: usize = 4;
const SHARED_BYTES: usize = 4096;

/// Blocks of a grid that is launched, or why it is not.
#[derive(Debug, PartialEq)]
enum Outcome {
    Blocks(usize),
    Zero,
    Threads,
    Shared,
    NotResident,
    TooMany,
}

fn expected(blocks: Option<usize>, threads: usize, words: usize) -> Outcome {
    let shared = words.saturating_mul(8);
    // A block of several threads has a slot for each warp, for its collectives.
    let reserved = if threads > 1 { threads.saturating_mul(64) } else { 0 };
    let fits = WORKERS.checked_div(threads).unwrap_or(0);
    match blocks {
        _ if threads == 0 => Outcome::Zero,
        _ if threads > WORKERS => Outcome::Threads,
        _ if shared.saturating_add(reserved) > SHARED_BYTES => Outcome::Shared,
        None => Outcome::Blocks(fits),
        Some(0) => Outcome::Zero,
        Some(blocks) if blocks >= 1 << 31 => Outcome::TooMany,
        Some(blocks) if blocks > fits => Outcome::NotResident,
        Some(blocks) => Outcome::Blocks(blocks),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn a_cooperative_launch_runs_as_asked_or_says_why_not(
        blocks in prop_oneof![Just(None), (0_usize..7).prop_map(Some), any::<usize>().prop_map(Some)],
        threads in prop_oneof![0_usize..7, any::<usize>()],
        words in prop_oneof![3 => 0_usize..4, 1 => 400_usize..520, 1 => any::<usize>()],
    ) {
        let device = Device::open(&format!("cpu:blocks={WORKERS},shared={SHARED_BYTES},wait=passive")).unwrap();
        let queue = device.queue();
        let mut shape = device.zeroed(2).unwrap();
        let kernel = Shape { shared_words: words, shape: shape.span_mut() };
        let grid: Grid = blocks.map_or(Blocks::Resident, Blocks::Exactly).threads(threads);
        let outcome = match queue.launch_cooperative(grid, kernel) {
            Ok(()) => {
                let shape = queue.download(&shape).unwrap();
                prop_assert_eq!(shape[1], shape[0] * threads as u64);
                Outcome::Blocks(shape[0] as usize)
            }
            Err(LaunchError::ZeroBlocks { .. } | LaunchError::ZeroThreads { .. }) => Outcome::Zero,
            Err(LaunchError::ThreadsPerBlock { .. }) => Outcome::Threads,
            Err(LaunchError::SharedMemory { .. }) => Outcome::Shared,
            Err(LaunchError::NotResident { .. }) => Outcome::NotResident,
            Err(LaunchError::TooManyBlocks { .. }) => Outcome::TooMany,
            Err(other) => panic!("{other}"),
        };
        prop_assert_eq!(outcome, expected(blocks, threads, words));
    }

    #[test]
    fn a_grid_by_frames_fits_the_frames_and_the_device(
        extents in [0_usize..9, 0..9], frame in [0_usize..4, 0..4], threads in 1..=WORKERS,
    ) {
        let device = Device::open(&format!("cpu:blocks={WORKERS},wait=passive")).unwrap();
        let queue = device.queue();
        let mut shape = device.zeroed(2).unwrap();
        let kernel = Shape { shared_words: 0, shape: shape.span_mut() };
        let launched = queue.launch_cooperative(Frames::of(extents, frame).threads(threads), kernel);
        if frame.contains(&0) {
            let refused = matches!(launched, Err(LaunchError::ZeroFrame { .. }));
            prop_assert!(refused, "{:?}", launched);
        } else {
            prop_assert!(launched.is_ok(), "{:?}", launched);
            let frames = extents[0].div_ceil(frame[0]) * extents[1].div_ceil(frame[1]);
            prop_assert_eq!(queue.download(&shape).unwrap()[0] as usize, frames.min(WORKERS / threads));
        }
    }
}
