//! Sums and prefix sums of arrays of many lengths: a grid's threads share an array, combine what they have, and go on.

use gridwise::{host::launch::Grid, prelude::*};

use conformance_kernels::sums::{ScanInPlace, Sum};

use crate::support::{cooperative_grids, is_checking, is_gpu, lengths, queue, random_numbers};

/// A length that no cache holds. It takes seconds where nothing is optimised, so one test has it.
const LARGEST: usize = 20_971_520;

/// An array.
fn array(len: usize) -> Vec<u32> {
    random_numbers(len).into_iter().map(|number| number as u32).collect()
}

/// Arrays from none to many elements, fewer on a device that is simulated.
fn arrays(device: &Device) -> impl Iterator<Item = Vec<u32>> {
    let simulated = is_checking(device) || is_gpu(device);
    let more = [12, 1 << 20].into_iter().filter(move |&len| len == 12 || !simulated);
    lengths(64).into_iter().chain(more).map(array)
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

fn scan_in_place(device: &Device, array: &[u32], grid: Grid, inclusive: bool) {
    let queue = queue(device);
    let mut scanned = queue.upload(array).unwrap();
    let mut of_block = device.zeroed(device.properties().workers).unwrap();
    let kernel = ScanInPlace {
        inclusive,
        of_block: of_block.span_mut(),
        array: scanned.span_mut(),
    };
    queue.launch_cooperative(grid, kernel).unwrap();

    let mut sum = 0_u32;
    for (i, (&value, scanned)) in array.iter().zip(queue.download(&scanned).unwrap()).enumerate() {
        let before = sum;
        sum = sum.wrapping_add(value);
        let expected = if inclusive { sum } else { before };
        assert_eq!(scanned, expected, "element {i} of {}, {grid:?}", array.len());
    }
}

pub(crate) fn arrays_of_every_length_are_scanned_in_place(device: &Device) {
    for array in arrays(device) {
        for grid in grids(device, array.len()) {
            scan_in_place(device, &array, grid, true);
            scan_in_place(device, &array, grid, false);
        }
    }
}

pub(crate) fn an_array_larger_than_any_cache_is_scanned_in_place(device: &Device) {
    let simulated = is_checking(device) || is_gpu(device);
    if !simulated && device.properties().threads_per_block > 1 {
        scan_in_place(device, &array(LARGEST), Blocks::Resident.into(), true);
    }
}
