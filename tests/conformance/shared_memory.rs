//! Shared memory: written, met at a barrier, read; reused; apart from that of other blocks.

use gridwise::prelude::*;

use conformance_kernels::shared_memory::{
    BINS, Histogram, Items, Neighbours, OwnIndex, PastTheEnd, Reverse, Several, Slices, TILE,
};

use crate::support::{grids, lengths, queue, random_numbers, team};

pub(crate) fn what_one_thread_writes_all_read_after_a_barrier(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        let mut out = device.zeroed(1000).unwrap();
        queue.launch(grid, Reverse { out: out.span_mut() }).unwrap();
        let indices: Vec<u32> = (0..1000).collect();
        let expected: Vec<u32> = indices
            .chunks(TILE)
            .flat_map(|chunk| chunk.iter().rev().copied())
            .collect();
        assert_eq!(queue.download(&out).unwrap(), expected, "{grid:?}");
    }
}

fn neighbours(device: &Device, len: usize, repeats: usize, skew: usize) {
    let queue = queue(device);
    let input: Vec<i32> = random_numbers(len).iter().map(|&x| (x % 1000) as i32).collect();
    let mut expected = vec![0_i32; len];
    for (input, out) in input.chunks(TILE).zip(expected.chunks_mut(TILE)) {
        for repeat in 0..repeats as i32 {
            for (i, out) in out.iter_mut().enumerate() {
                let sum = input[i] + input[(i + 1) % input.len()] + 2 * repeat;
                *out = out.wrapping_mul(3).wrapping_add(sum);
            }
        }
    }
    let input = queue.upload(&input).unwrap();
    for threads in [None, team(device, 3)] {
        let mut out = device.zeroed(len).unwrap();
        let kernel = Neighbours {
            input: input.span(),
            out: out.span_mut(),
            repeats,
            skew,
        };
        let frames = Frames::new(len, TILE);
        match threads {
            Some(threads) => queue.launch(frames.threads(threads), kernel).unwrap(),
            None => queue.launch(frames, kernel).unwrap(),
        }
        assert_eq!(
            queue.download(&out).unwrap(),
            expected,
            "{len} elements, {threads:?} threads"
        );
    }
}

// fault A10.9, A6.6: a tail shorter than the block, whose idle threads still reach the barriers.
pub(crate) fn neighbours_are_summed_for_every_tail(device: &Device) {
    for len in lengths(TILE) {
        neighbours(device, len, 1, 0);
    }
}

pub(crate) fn neighbours_are_summed_by_skewed_threads(device: &Device) {
    neighbours(device, 3 * TILE + 5, 4, 300);
}

// fault A8.3: one tile passes, the second overwrites what is still read.
pub(crate) fn a_chunk_is_reused_many_times(device: &Device) {
    neighbours(device, 2 * TILE, 200, 0);
}

fn several(device: &Device, dynamic: usize) {
    let queue = queue(device);
    for grid in grids(device) {
        let mut wrong = device.zeroed(1).unwrap();
        let kernel = Several {
            wrong: wrong.span_mut(),
            dynamic,
        };
        queue.launch(grid, kernel).unwrap();
        assert_eq!(queue.download(&wrong).unwrap(), [0], "{grid:?}");
    }
}

pub(crate) fn arrays_of_different_types_do_not_overlap(device: &Device) {
    several(device, 3);
}

pub(crate) fn dynamic_shared_memory_has_the_length_asked_for(device: &Device) {
    for len in [0, 1, 17, 1009] {
        several(device, len);
    }
}

pub(crate) fn slices_are_views_of_the_same_elements(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        let mut out = device.zeroed(10).unwrap();
        queue.launch(grid, Slices { out: out.span_mut() }).unwrap();
        assert_eq!(queue.download(&out).unwrap(), [0, 0, 0, 7, 8, 0, 0, 9, 0, 0]);
    }
}

pub(crate) fn blocks_do_not_see_the_memory_of_others(device: &Device) {
    let queue = queue(device);
    let mut out = device.zeroed(50).unwrap();
    queue
        .launch(Blocks::Exactly(50), OwnIndex { out: out.span_mut() })
        .unwrap();
    assert_eq!(queue.download(&out).unwrap(), (1..=50).collect::<Vec<u64>>());
}

// fault A8.7: an item that takes a short cut leaves its counts to the next.
pub(crate) fn an_item_leaves_nothing_behind_for_the_next(device: &Device) {
    let queue = queue(device);
    let (items, item_len) = (9, 101);
    let samples: Vec<u8> = random_numbers(items * item_len)
        .iter()
        .map(|&x| (x % 5) as u8)
        .collect();
    let expected: Vec<u32> = (0..items)
        .map(|item| {
            let mut bins = [0; 5];
            for &sample in &samples[item * item_len..(item + 1) * item_len] {
                bins[sample as usize] += 1;
            }
            if item % 2 == 0 {
                u32::MAX
            } else {
                bins.into_iter().max().unwrap()
            }
        })
        .collect();
    let samples = queue.upload(&samples).unwrap();
    for grid in grids(device) {
        let mut largest = device.zeroed(items).unwrap();
        let kernel = Items {
            samples: samples.span(),
            item_len,
            largest: largest.span_mut(),
        };
        queue.launch(grid, kernel).unwrap();
        assert_eq!(queue.download(&largest).unwrap(), expected, "{grid:?}");
    }
}

fn histogram(device: &Device, signed: bool) {
    let queue = queue(device);
    let samples: Vec<u8> = random_numbers(5003).iter().map(|&x| x as u8).collect();
    let mut expected = vec![0; BINS];
    for (i, &sample) in samples.iter().enumerate() {
        expected[if signed {
            (sample as i8 as i32 + 128) as usize
        } else {
            sample as usize + i % 45
        }] += 1;
    }
    let samples = queue.upload(&samples).unwrap();
    for grid in grids(device) {
        let mut bins = device.zeroed(BINS).unwrap();
        let kernel = Histogram {
            samples: samples.span(),
            signed,
            bins: bins.span_mut(),
        };
        queue.launch(grid, kernel).unwrap();
        assert_eq!(queue.download(&bins).unwrap(), expected, "{grid:?}");
    }
}

// fault A10.4: bin numbers computed in the type of the samples.
pub(crate) fn there_may_be_more_bins_than_values_of_a_sample(device: &Device) {
    histogram(device, false);
}

// fault A10.4
pub(crate) fn the_full_range_of_signed_samples_is_counted(device: &Device) {
    histogram(device, true);
}

pub(crate) fn an_index_out_of_bounds_names_block_and_thread(device: &Device) {
    let threads = team(device, 3).unwrap_or(1);
    match queue(device).launch(Blocks::Exactly(3).threads(threads), PastTheEnd) {
        Err(LaunchError::Panicked {
            kernel: "past_the_end",
            block: 2,
            thread,
            message,
        }) => {
            assert_eq!(thread, threads - 1);
            assert!(message.contains("out of bounds"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}
