//! A resident block: its warps, its shared memory, its barriers.

use super::Launch;
use super::barrier::Barrier;
use super::warp::Warp;

pub(super) struct Block {
    /// Its index along each axis.
    pub(super) index: [u32; 3],
    pub(super) multiprocessor: u32,
    pub(super) warps: Vec<Warp>,
    pub(super) shared: Vec<u8>,
    pub(super) barriers: [Barrier; 16],
    pub(super) ended: bool,
}

impl Block {
    pub(super) fn new(launch: &Launch<'_>, index: u64, multiprocessor: u32) -> Block {
        let threads: u32 = launch.grid.threads.iter().product();
        let [x, y, _] = launch.grid.blocks.map(u64::from);
        let warps = (0..threads.div_ceil(32))
            .map(|warp| {
                let lanes = (threads - warp * 32).min(32);
                Warp::new(launch, warp, if lanes == 32 { u32::MAX } else { (1 << lanes) - 1 })
            })
            .collect();
        Block {
            index: [(index % x) as u32, (index / x % y) as u32, (index / (x * y)) as u32],
            multiprocessor,
            warps,
            // Nobody may rely on what is in it.
            shared: vec![0xff; launch.shared as usize],
            barriers: Default::default(),
            ended: false,
        }
    }

    /// A thread's index along each axis.
    pub(super) fn thread(launch: &Launch<'_>, warp: u32, lane: usize) -> [u32; 3] {
        let linear = warp * 32 + lane as u32;
        let [x, y, _] = launch.grid.threads;
        [linear % x, linear / x % y, linear / (x * y)]
    }
}
