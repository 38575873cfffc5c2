//! Index maps: every index once, whatever the grid, and no overflow.

use std::ops::Range;

use gridwise::{kernel::domain::Domain, prelude::*};

use conformance_kernels::index_maps::{BadMap, FirstIndices, FrameEnds, HALF, SameFrames, Shares};

use crate::support::{grids, queue, team};

/// Ways through a domain.
const WALKS: u32 = 6;

/// Counts the visits of each index, each way.
#[repr(C)]
struct Visit<'a, D: Domain> {
    domain: D,
    frame: D::FrameSize,
    walk: u32,
    visits: SpanMut<'a, u32>,
}

/// A domain whose indices have a place in a table.
trait Tabled: Domain {
    /// Row-major position of an index; panics outside the domain.
    fn position(&self, index: Self::Index) -> usize;
    /// The indices of a run.
    fn of_run(run: Self::Run) -> impl Iterator<Item = Self::Index>;
}

impl Tabled for Range<usize> {
    fn position(&self, index: usize) -> usize {
        assert!(self.contains(&index), "{index} is outside {self:?}");
        index - self.start
    }

    fn of_run(run: Range<usize>) -> impl Iterator<Item = usize> {
        run
    }
}

impl<const N: usize> Tabled for [Range<usize>; N] {
    fn position(&self, index: [usize; N]) -> usize {
        (0..N).fold(0, |position, axis| {
            position * self[axis].len() + self[axis].position(index[axis])
        })
    }

    fn of_run(run: Self::Run) -> impl Iterator<Item = [usize; N]> {
        assert!(run.len > 0, "a run has an index");
        run.columns().map(move |column| {
            let mut index = run.start;
            index[N - 1] = column;
            index
        })
    }
}

// SAFETY: all accesses are atomic, and there are no barriers.
unsafe impl<D: Tabled> Kernel for Visit<'_, D> {
    const NAME: &'static str = "visit";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let visit = |index: D::Index| {
            self.visits
                .atomic(self.domain.position(index))
                .fetch_add(acc, 1, Ordering::Relaxed);
        };
        let domain = self.domain.clone();
        match self.walk {
            0 => acc.threads_in_grid(domain).for_each(visit),
            1 => acc.runs_in_grid(domain).flat_map(D::of_run).for_each(visit),
            2 => {
                for frame in acc.blocks_in_grid(domain, self.frame) {
                    acc.threads_in_block(frame).for_each(visit);
                }
            }
            3 => {
                for frame in acc.blocks_in_grid(domain, self.frame) {
                    acc.runs_in_block(frame).flat_map(D::of_run).for_each(visit);
                }
            }
            4 => {
                for frame in acc.warps_in_grid(domain, self.frame) {
                    acc.threads_in_warp(frame).for_each(visit);
                }
            }
            _ => {
                // A block's part of the first axis does not exist for a general domain: give each block the whole, in turn.
                if acc.block_index() == 0 {
                    for frame in acc.warps_in_block(domain, self.frame) {
                        acc.threads_in_warp(frame).for_each(visit);
                    }
                }
            }
        }
    }
}

fn check<D: Tabled + std::fmt::Debug>(device: &Device, domain: D, frames: &[D::FrameSize]) {
    let queue = queue(device);
    let size = domain.size();
    for &frame in frames {
        for walk in 0..WALKS {
            for grid in grids(device) {
                let mut visits = device.zeroed(size).unwrap();
                let kernel = Visit {
                    domain: domain.clone(),
                    frame,
                    walk,
                    visits: visits.span_mut(),
                };
                queue.launch(grid, kernel).unwrap();
                let visits = queue.download(&visits).unwrap();
                assert_eq!(visits, vec![1; size], "walk {walk} of {domain:?} on {grid:?}");
            }
        }
    }
}

pub(crate) fn every_walk_of_a_line_visits_each_index_once(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    for domain in [0..0, 3..3, 0..1, 0..2, 0..7, 5..36, 100..231] {
        check(device, domain, &[1, 4, 13, 1000]);
    }
    // An end before the start is empty, as it is for a range.
    #[allow(clippy::reversed_empty_ranges)]
    check(device, 5..3, &[1, 2]);
}

pub(crate) fn every_walk_of_a_plane_visits_each_index_once(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    check(device, [0..13, 0..29], &[[1, 1], [2, 29], [5, 7], [13, 1], [100, 100]]);
    check(device, [3..5, 7..18], &[[1, 3], [2, 4]]);
    check(device, [0..3, 4..4], &[[1, 1]]);
}

pub(crate) fn every_walk_of_a_space_visits_each_index_once(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    check(device, [0..5, 0..7, 0..11], &[[1, 1, 11], [2, 3, 4], [5, 7, 11]]);
    check(device, [1..4, 2..3, 10..15], &[[2, 2, 2]]);
    check(device, [0..3, 0..0, 0..2], &[[1, 1, 1]]);
}

pub(crate) fn every_walk_of_four_dimensions_visits_each_index_once(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    check(
        device,
        [0..3, 0..5, 0..2, 0..7],
        &[[1, 1, 1, 1], [2, 3, 2, 4], [9, 9, 9, 9]],
    );
}

pub(crate) fn parts_of_a_line_differ_by_at_most_one(device: &Device) {
    let queue = queue(device);
    let threads = team(device, 3).unwrap_or(1);
    for blocks in [1, 2, 5] {
        for len in [0, 1, 2, 14, 15, 16, 1009] {
            let mut shares = device.zeroed(blocks * threads).unwrap();
            let kernel = Shares {
                len,
                shares: shares.span_mut(),
            };
            queue.launch(Blocks::Exactly(blocks).threads(threads), kernel).unwrap();
            let shares = queue.download(&shares).unwrap();
            let even = (len / shares.len()) as u64;
            assert!(
                shares.iter().all(|&share| share == even || share == even + 1),
                "{shares:?} of {len}"
            );
            assert_eq!(shares.iter().sum::<u64>(), len as u64);
        }
    }
}

pub(crate) fn threads_of_a_block_get_the_same_frames(device: &Device) {
    let queue = queue(device);
    let threads = team(device, 4).unwrap_or(1);
    let mut same = device.zeroed(3).unwrap();
    let kernel = SameFrames { same: same.span_mut() };
    queue.launch(Blocks::Exactly(3).threads(threads), kernel).unwrap();
    let same = queue.download(&same).unwrap();
    assert_eq!(same.iter().sum::<u32>(), 16, "{same:?}");
    assert!(same.iter().all(|&frames| frames > 0), "{same:?}");
}

// fault A10.1, A10.2: an index or a stride passes the largest that its type can hold.
pub(crate) fn indices_near_the_largest_are_visited_once(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    check(device, usize::MAX - 7..usize::MAX, &[1, 3, usize::MAX]);
    let rows = (1 << 31) - 2..(1 << 31) + 3;
    let columns = usize::MAX - 3..usize::MAX;
    check(device, [rows, columns], &[[1, 1], [2, 2], [usize::MAX, usize::MAX]]);
}

// fault A10.1
pub(crate) fn maps_over_every_index_there_is_do_not_overflow(device: &Device) {
    let queue = queue(device);
    let threads = team(device, 2).unwrap_or(1);
    for blocks in [1, 3, 1000] {
        let mut line = device.zeroed(2 * blocks * threads).unwrap();
        let mut plane = device.zeroed(2 * blocks * threads).unwrap();
        let kernel = FirstIndices {
            line: line.span_mut(),
            plane: plane.span_mut(),
        };
        queue.launch(Blocks::Exactly(blocks).threads(threads), kernel).unwrap();
        for indices in [queue.download(&line).unwrap(), queue.download(&plane).unwrap()] {
            let mut sorted = indices.clone();
            sorted.sort_unstable();
            sorted.dedup();
            assert_eq!(sorted.len(), indices.len(), "an index was given out twice");
            assert_eq!(sorted[0], 0, "the first index was left out");
        }
    }
}

// fault A10.1
pub(crate) fn frames_of_every_index_there_is_do_not_overflow(device: &Device) {
    let queue = queue(device);
    let (half, most) = (HALF as u64, u64::MAX);
    for grid in grids(device) {
        let mut ends = device.zeroed(6).unwrap();
        queue.launch(grid, FrameEnds { ends: ends.span_mut() }).unwrap();
        assert_eq!(
            queue.download(&ends).unwrap(),
            [0, half, half, most - 1, most - 1, most]
        );
    }
}

fn message_of(device: &Device, zero_frame: bool) -> String {
    match queue(device).launch(Blocks::Exactly(1).threads(1), BadMap { zero_frame }) {
        Err(LaunchError::Panicked { message, .. }) => message,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn more_indices_than_can_be_counted_are_an_error(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    assert!(message_of(device, false).contains("more indices than usize can count"));
}

pub(crate) fn a_frame_without_extent_is_an_error(device: &Device) {
    if !crate::support::runs_host_kernels(device) {
        return;
    }
    assert!(message_of(device, true).contains("a frame has at least one index"));
}
