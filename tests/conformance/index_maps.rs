//! Index maps: every index once, whatever the grid, and no overflow.

use std::ops::Range;

use gridwise::{kernel::domain::Domain, prelude::*};

use conformance_kernels::index_maps::{
    BadMap, FirstIndices, FrameEnds, HALF, Line, SameFrames, Shares, Space, Table, Visit, WALKS,
};

use crate::support::{grids, queue, team};

fn check<T: Table + std::fmt::Debug>(device: &Device, table: T) {
    let queue = queue(device);
    let size = table.domain().size();
    for walk in 0..WALKS {
        for grid in grids(device) {
            let mut visits = device.zeroed(size).unwrap();
            let kernel = Visit {
                table,
                walk,
                visits: visits.span_mut(),
            };
            queue.launch(grid, kernel).unwrap();
            let visits = queue.download(&visits).unwrap();
            assert_eq!(visits, vec![1; size], "walk {walk} of {table:?} on {grid:?}");
        }
    }
}

fn check_line(device: &Device, range: Range<usize>, frames: &[usize]) {
    for &frame in frames {
        let (start, end) = (range.start, range.end);
        check(device, Line { start, end, frame });
    }
}

fn check_space<const N: usize>(device: &Device, ranges: [Range<usize>; N], frames: &[[usize; N]]) {
    let (start, end) = (
        ranges.each_ref().map(|range| range.start),
        ranges.map(|range| range.end),
    );
    for &frame in frames {
        check(device, Space { start, end, frame });
    }
}

pub(crate) fn every_walk_of_a_line_visits_each_index_once(device: &Device) {
    for domain in [0..0, 3..3, 0..1, 0..2, 0..7, 5..36, 100..231] {
        check_line(device, domain, &[1, 4, 13, 1000]);
    }
    // An end before the start is empty, as it is for a range.
    #[allow(clippy::reversed_empty_ranges)]
    check_line(device, 5..3, &[1, 2]);
}

pub(crate) fn every_walk_of_a_plane_visits_each_index_once(device: &Device) {
    check_space(device, [0..13, 0..29], &[[1, 1], [2, 29], [5, 7], [13, 1], [100, 100]]);
    check_space(device, [3..5, 7..18], &[[1, 3], [2, 4]]);
    check_space(device, [0..3, 4..4], &[[1, 1]]);
}

pub(crate) fn every_walk_of_a_space_visits_each_index_once(device: &Device) {
    check_space(device, [0..5, 0..7, 0..11], &[[1, 1, 11], [2, 3, 4], [5, 7, 11]]);
    check_space(device, [1..4, 2..3, 10..15], &[[2, 2, 2]]);
    check_space(device, [0..3, 0..0, 0..2], &[[1, 1, 1]]);
}

pub(crate) fn every_walk_of_four_dimensions_visits_each_index_once(device: &Device) {
    check_space(
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
    check_line(device, usize::MAX - 7..usize::MAX, &[1, 3, usize::MAX]);
    let rows = (1 << 31) - 2..(1 << 31) + 3;
    let columns = usize::MAX - 3..usize::MAX;
    check_space(device, [rows, columns], &[[1, 1], [2, 2], [usize::MAX, usize::MAX]]);
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
    let (half, most) = (HALF as u64, usize::MAX as u64);
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
