//! Chunk counters and two-level queues: every index goes to one block, whatever the length, the policy and the grid.

use std::ops::Range;

use gridwise::prelude::*;

use conformance_kernels::chunks::{Hands, Insist, Note, Stuck, Visit};

use crate::support::{grids, lengths, queue};

const POLICIES: [Chunking; 7] = [
    Chunking::Fixed(1),
    Chunking::Fixed(8),
    Chunking::Fixed(13),
    Chunking::Guided { divisor: 2, minimum: 1 },
    Chunking::Guided { divisor: 1, minimum: 5 },
    Chunking::Factoring { minimum: 1 },
    Chunking::Factoring { minimum: 7 },
];

/// The ranges handed out to one thread each of three blocks, sorted, and checked to cover `0..len` exactly once.
fn noted<H: Hands>(device: &Device, len: usize, most: usize, hands: H) -> Vec<Range<u64>> {
    let queue = queue(device);
    let mut used = device.zeroed(1).unwrap();
    let mut ranges = device.zeroed(2 * most).unwrap();
    let mut threads = device.zeroed(1).unwrap();
    let kernel = Note {
        hands,
        used: used.span_mut(),
        ranges: ranges.span_mut(),
        threads: threads.span_mut(),
    };
    let team = device.properties().threads_per_block;
    queue.launch(Blocks::Exactly(3).threads(team), kernel).unwrap();
    let used = queue.download(&used).unwrap()[0] as usize;
    let all = queue.download(&ranges).unwrap();
    let mut ranges: Vec<_> = all.chunks(2).take(used).map(|pair| pair[0]..pair[1]).collect();
    ranges.sort_by_key(|range| range.start);
    let mut end = 0;
    for range in &ranges {
        assert_eq!(range.start, end, "of {len}");
        assert!(range.end > range.start);
        end = range.end;
    }
    assert_eq!(end, len as u64);
    let sum = ranges.iter().fold(0_u64, |sum, range| {
        sum.wrapping_add(range.start.wrapping_mul(31).wrapping_add(range.end))
    });
    assert_eq!(queue.download(&threads).unwrap()[0], sum.wrapping_mul(team as u64));
    ranges
}

pub(crate) fn every_policy_hands_out_every_index_once(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        for chunking in POLICIES {
            for len in lengths(13).into_iter().filter(|&len| len < 20_000) {
                let mut chunks = queue.chunks(len, chunking).unwrap();
                let mut visits = device.zeroed(len).unwrap();
                let kernel = Visit {
                    hands: chunks.fresh(&queue),
                    visits: visits.span_mut(),
                };
                queue.launch(grid, kernel).unwrap();
                assert_eq!(queue.download(&visits).unwrap(), vec![1; len], "{grid:?} {chunking:?}");
            }
        }
    }
}

pub(crate) fn ranges_above_32_bits_are_handed_out(device: &Device) {
    let queue = queue(device);
    for len in [(1_u64 << 33) as usize + 7, usize::MAX] {
        let part = len / 20 + 1;
        for chunking in [
            Chunking::Fixed(part),
            Chunking::Guided {
                divisor: 2,
                minimum: part / 4,
            },
            Chunking::Factoring { minimum: part / 4 },
            Chunking::Guided { divisor: 2, minimum: 1 },
        ] {
            let mut chunks = queue.chunks(len, chunking).unwrap();
            let count = chunks.count();
            let ranges = noted(device, len, count, chunks.fresh(&queue));
            assert_eq!(ranges.len(), count, "{chunking:?} of {len}");
        }
        let mut pieces = queue.pieces(len, 2, part / 3).unwrap();
        noted(device, len, 1000, pieces.fresh(&queue));
    }
}

pub(crate) fn only_the_last_chunk_is_short(device: &Device) {
    let queue = queue(device);
    let mut chunks = queue.chunks(1009, Chunking::Fixed(8)).unwrap();
    let ranges = noted(device, 1009, 200, chunks.fresh(&queue));
    assert_eq!(ranges.len(), 127);
    assert!(ranges[..126].iter().all(|range| range.end - range.start == 8));
}

pub(crate) fn a_counter_that_is_used_up_stays_so(device: &Device) {
    let queue = queue(device);
    for len in [0, 1, 5] {
        let mut chunks = queue.chunks(len, Chunking::Fixed(2)).unwrap();
        let mut got = device.zeroed(1).unwrap();
        let kernel = Insist {
            counter: chunks.fresh(&queue),
            got: got.span_mut(),
        };
        queue.launch(Blocks::Exactly(3), kernel).unwrap();
        assert_eq!(queue.download(&got).unwrap(), [len.div_ceil(2) as u32]);
    }
}

// fault A9.1: a counter belongs to one launch, which starts with a cleared one. No kernel can reset it.
pub(crate) fn each_launch_starts_with_a_fresh_counter(device: &Device) {
    let queue = queue(device);
    let mut chunks = queue.chunks(1009, Chunking::Fixed(10)).unwrap();
    let mut pieces = queue.pieces(1009, 2, 10).unwrap();
    for _ in 0..3 {
        let mut visits = device.zeroed(1009).unwrap();
        let hands = chunks.fresh(&queue);
        let visit = Visit {
            hands,
            visits: visits.span_mut(),
        };
        queue.launch(Blocks::Exactly(2), visit).unwrap();
        let hands = pieces.fresh(&queue);
        let visit = Visit {
            hands,
            visits: visits.span_mut(),
        };
        queue.launch(Blocks::Exactly(2), visit).unwrap();
        assert_eq!(queue.download(&visits).unwrap(), vec![2; 1009]);
    }
}

// fault A9.10: more blocks than there is work: those without any finish nothing.
pub(crate) fn more_blocks_than_chunks_are_fine(device: &Device) {
    let queue = queue(device);
    for len in [0, 1, 2, 3] {
        let mut chunks = queue.chunks(len, Chunking::Fixed(1)).unwrap();
        let mut pieces = queue.pieces(len, 4, 1).unwrap();
        let mut visits = device.zeroed(len).unwrap();
        let hands = chunks.fresh(&queue);
        let visit = Visit {
            hands,
            visits: visits.span_mut(),
        };
        queue.launch(Blocks::Exactly(len + 1), visit).unwrap();
        let hands = pieces.fresh(&queue);
        let visit = Visit {
            hands,
            visits: visits.span_mut(),
        };
        queue.launch(Blocks::Exactly(len + 1), visit).unwrap();
        assert_eq!(queue.download(&visits).unwrap(), vec![2; len]);
    }
}

pub(crate) fn a_two_level_queue_hands_out_every_index_once(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        for (per_block, small) in [(0, 0), (2, 3), (4, 16), (3, 5000)] {
            for len in lengths(13).into_iter().filter(|&len| len < 2000) {
                let mut pieces = queue.pieces(len, per_block, small).unwrap();
                let mut visits = device.zeroed(len).unwrap();
                let kernel = Visit {
                    hands: pieces.fresh(&queue),
                    visits: visits.span_mut(),
                };
                queue.launch(grid, kernel).unwrap();
                assert_eq!(
                    queue.download(&visits).unwrap(),
                    vec![1; len],
                    "{grid:?} {per_block} {small}"
                );
            }
        }
    }
}

pub(crate) fn blocks_that_run_dry_help_with_the_pieces_of_others(device: &Device) {
    if device.most_resident_blocks() < 2 {
        return;
    }
    let queue = queue(device);
    let mut pieces = queue.pieces(100, 1, 1).unwrap();
    let mut done = device.zeroed(1).unwrap();
    let kernel = Stuck {
        queue: pieces.fresh(&queue),
        len: 100,
        done: done.span_mut(),
    };
    queue.launch_cooperative(Blocks::Resident, kernel).unwrap();
    assert_eq!(queue.download(&done).unwrap(), [100]);
}
