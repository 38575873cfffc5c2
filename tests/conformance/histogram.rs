//! Histograms: the counts of plain code, however many blocks, threads and tables count.

use conformance_kernels::algorithms::Modulo;
use gridwise::{
    algorithm::{
        histogram::{Histogram, histogram},
        operator::{AsIndex, Transform},
    },
    host::phases::RunOptions,
    prelude::*,
};

use crate::support::{cooperative_grids, lengths, queue, random_numbers, runs_host_kernels};

fn check<T: gridwise::Pod, K: Transform<T, usize>>(device: &Device, input: &[T], bins: usize, key: K) {
    let queue = queue(device);
    let on_device = queue.upload(input).unwrap();
    let mut expected = vec![0; bins];
    let mut expected_outside = 0;
    for &element in input {
        *expected.get_mut(key.apply(element)).unwrap_or(&mut expected_outside) += 1;
    }
    for grid in cooperative_grids(device) {
        for strategy in [Strategy::Persistent, Strategy::Relaunch] {
            let options = RunOptions::from(strategy).grid(grid);
            let Histogram { counts, outside, .. } = histogram(&queue, on_device.span(), bins, key, options).unwrap();
            assert_eq!(counts, expected, "{} elements, {grid:?} {strategy:?}", input.len());
            assert_eq!(outside, expected_outside);
        }
    }
}

pub(crate) fn bytes_are_counted_for_every_length(device: &Device) {
    for len in lengths(256).into_iter().filter(|&len| len < 1100) {
        let bytes: Vec<u8> = random_numbers(len).iter().map(|&number| number as u8).collect();
        check(device, &bytes, 256, AsIndex);
    }
}

pub(crate) fn equal_and_skewed_elements_are_counted(device: &Device) {
    check(device, &[77_u8; 1000], 256, AsIndex);
    let skewed: Vec<u8> = random_numbers(1000)
        .iter()
        .map(|number| number.trailing_ones() as u8)
        .collect();
    check(device, &skewed, 256, AsIndex);
}

// fault A10.4
pub(crate) fn elements_in_no_bin_are_counted_apart(device: &Device) {
    let numbers = [0_u32, 6, 7, 8, u32::MAX, 7, 1 << 31];
    check(device, &numbers, 7, AsIndex);
    check(device, &numbers, 8, AsIndex);
    check(device, &numbers, 1, AsIndex);
    check(device, &numbers, 0, AsIndex);
    // More bins than the elements have values.
    check(device, &[0_u8, 255, 3], 300, AsIndex);
}

pub(crate) fn keys_may_be_computed(device: &Device) {
    let numbers: Vec<u32> = random_numbers(777).iter().map(|&number| number as u32).collect();
    check(device, &numbers, 10, Modulo(10));
    check(device, &numbers, 10, Modulo(13));
    if runs_host_kernels(device) {
        let signed: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
        // The whole range of a signed type, in four bins.
        check(device, &signed, 4, |number: i32| {
            ((i64::from(number) - i64::from(i32::MIN)) >> 30) as usize
        });
    }
}

/// In device memory, or with a table that a block's threads share.
pub(crate) fn bins_beyond_shared_memory_are_counted(device: &Device) {
    let shared_bytes = device.properties().shared_bytes;
    let numbers: Vec<u32> = random_numbers(600).iter().map(|&number| number as u32).collect();
    for bins in [shared_bytes / 8, shared_bytes / 4, shared_bytes / 4 + 1] {
        check(device, &numbers, bins, Modulo(bins as u32 + 1));
    }
}
