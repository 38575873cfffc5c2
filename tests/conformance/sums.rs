//! Sums and prefix sums of arrays of many lengths: a grid's threads share an array, combine what they have, and go on.

use gridwise::{host::launch::Grid, prelude::*};

use conformance_kernels::sums::{ScanInPlace, Sum};

use crate::support::{cooperative_grids, is_checking, is_gpu, lengths, queue, random_numbers, several_blocks};

/// A length that no cache holds.
const LARGEST: u32 = 20_971_520;

/// Arrays from none to many elements, fewer on a device that is simulated.
fn arrays(device: &Device) -> impl Iterator<Item = Vec<u32>> {
    let simulated = is_checking(device) || is_gpu(device);
    let more = [12, 1 << 18].into_iter().filter(move |&len| len == 12 || !simulated);
    let lengths = lengths(64).into_iter().chain(more);
    lengths.map(|len| random_numbers(len).into_iter().map(|number| number as u32).collect())
}

/// The grids on which an array is summed: one for the long ones.
fn grids(device: &Device, len: usize) -> Vec<Grid> {
    match len > 1 << 16 {
        true => vec![Blocks::Resident.into()],
        false => cooperative_grids(device),
    }
}

fn sums(device: &Device, squares: bool, of: fn(u64) -> u64) {
    let queue = queue(device);
    for array in arrays(device) {
        let expected: u64 = array.iter().map(|&value| of(u64::from(value) >> 12)).sum();
        let values: Vec<u32> = array.iter().map(|value| value >> 12).collect();
        let values = queue.upload(&values).unwrap();
        for grid in grids(device, array.len()) {
            let mut out = device.zeroed(device.properties().workers).unwrap();
            let kernel = Sum {
                values: values.span(),
                squares,
                out: out.span_mut(),
            };
            queue.launch_cooperative(grid, kernel).unwrap();
            let sums = queue.download(&out).unwrap();
            assert_eq!(sums[0], expected, "{} elements, {grid:?}", array.len());
            // There are not as many blocks as workers.
            assert!(
                sums.iter().all(|&sum| sum == expected || sum == 0),
                "{grid:?}: {sums:?}"
            );
        }
    }
}

pub(crate) fn arrays_of_every_length_are_summed(device: &Device) {
    sums(device, false, |value| value);
}

pub(crate) fn squares_of_every_length_are_summed(device: &Device) {
    sums(device, true, |value| value * value);
}

/// The prefix sums of an array, computed in its place.
fn scanned_in_place(device: &Device, array: &[u32], grid: Grid, inclusive: bool) -> Vec<u32> {
    let queue = queue(device);
    let mut scanned = queue.upload(array).unwrap();
    let mut of_block = device.zeroed(device.properties().workers).unwrap();
    let kernel = ScanInPlace {
        inclusive,
        of_block: of_block.span_mut(),
        array: scanned.span_mut(),
    };
    queue.launch_cooperative(grid, kernel).unwrap();
    queue.download(&scanned).unwrap()
}

pub(crate) fn arrays_of_every_length_are_scanned_in_place(device: &Device) {
    for array in arrays(device) {
        let mut sum = 0_u32;
        let mut exclusive = Vec::new();
        let mut inclusive = Vec::new();
        for &value in &array {
            exclusive.push(sum);
            sum = sum.wrapping_add(value);
            inclusive.push(sum);
        }
        for grid in grids(device, array.len()) {
            let right = scanned_in_place(device, &array, grid, true) == inclusive
                && scanned_in_place(device, &array, grid, false) == exclusive;
            assert!(right, "{} elements, {grid:?}", array.len());
        }
    }
}

pub(crate) fn an_array_larger_than_any_cache_is_scanned_in_place(device: &Device) {
    let simulated = is_checking(device) || is_gpu(device);
    if simulated || device.properties().threads_per_block == 1 || several_blocks(device).is_none() {
        return;
    }
    let array: Vec<u32> = (0..LARGEST).collect();
    let scanned = scanned_in_place(device, &array, Blocks::Resident.into(), true);
    // Some of them, as so many take their time where nothing is optimised.
    for i in (0..LARGEST).step_by(4099).chain([LARGEST - 1]) {
        let sum = u64::from(i) * (u64::from(i) + 1) / 2;
        assert_eq!(scanned[i as usize], sum as u32, "element {i}");
    }
}
