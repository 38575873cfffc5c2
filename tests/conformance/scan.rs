//! Prefix sums: those of a sequential loop, in one launch.

use conformance_kernels::support::Then;
use gridwise::{
    algorithm::{
        operator::{Max, Sum},
        scan::{ScanError, exclusive_scan, inclusive_scan},
    },
    prelude::*,
};

use crate::support::{affine, lengths, queue, random_numbers, then};

/// What a sequential loop makes of it: the inclusive prefixes, the exclusive ones.
fn sequential<T: Copy>(input: &[T], identity: T, op: impl Fn(T, T) -> T) -> (Vec<T>, Vec<T>) {
    let mut sum = identity;
    input
        .iter()
        .map(|&element| {
            let before = sum;
            sum = op(sum, element);
            (sum, before)
        })
        .unzip()
}

/// fault A5.6, A5.7
pub(crate) fn prefixes_are_those_of_the_sequential_scan(device: &Device) {
    let queue = queue(device);
    for len in lengths(1024) {
        let numbers = random_numbers(len);
        let signed: Vec<i32> = numbers.iter().map(|&number| number as i32).collect();
        let (input, signed_input) = (queue.upload(&numbers).unwrap(), queue.upload(&signed).unwrap());

        let (inclusive, exclusive) = sequential(&numbers, 0, u64::wrapping_add);
        let mut out = device.zeroed(len).unwrap();
        inclusive_scan(&queue, input.span(), out.span_mut(), 0, Sum).unwrap();
        assert_eq!(queue.download(&out).unwrap(), inclusive, "{len}");
        exclusive_scan(&queue, input.span(), out.span_mut(), 0, Sum).unwrap();
        assert_eq!(queue.download(&out).unwrap(), exclusive, "{len}");

        let (inclusive, _) = sequential(&signed, i32::MIN, i32::max);
        let mut out = device.zeroed(len).unwrap();
        inclusive_scan(&queue, signed_input.span(), out.span_mut(), i32::MIN, Max).unwrap();
        assert_eq!(queue.download(&out).unwrap(), inclusive, "{len}");
    }
}

pub(crate) fn prefixes_keep_the_order_of_elements(device: &Device) {
    let queue = queue(device);
    for len in lengths(1024) {
        let maps: Vec<_> = (0..len).map(affine).collect();
        let (_, exclusive) = sequential(&maps, [1, 0], then);
        let input = queue.upload(&maps).unwrap();
        let mut out = device.zeroed(len).unwrap();
        exclusive_scan(&queue, input.span(), out.span_mut(), [1, 0], Then::default()).unwrap();
        assert_eq!(queue.download(&out).unwrap(), exclusive, "{len}");
    }
}

pub(crate) fn prefixes_of_floats_have_the_same_bits_for_any_number_of_blocks(device: &Device) {
    let queue = queue(device);
    let numbers: Vec<f32> = random_numbers(50_000)
        .iter()
        .map(|&number| number as f32 / 3e15 - 1e3)
        .collect();
    let input = queue.upload(&numbers).unwrap();
    let bits_with = |queue: &Queue| {
        let mut out = queue.device().zeroed(numbers.len()).unwrap();
        inclusive_scan(queue, input.span(), out.span_mut(), 0.0_f32, Sum).unwrap();
        let sums = queue.download(&out).unwrap();
        sums.iter().map(|sum| sum.to_bits()).collect::<Vec<_>>()
    };
    let expected = bits_with(&queue);
    for headroom in 0..device.most_resident_blocks().min(4) {
        let queue = device.queue_with(crate::support::options().headroom(headroom));
        for _ in 0..3 {
            assert!(bits_with(&queue) == expected, "{headroom}");
        }
    }
}

pub(crate) fn a_place_of_another_length_is_refused(device: &Device) {
    let queue = queue(device);
    let input = queue.upload(&[1_u64, 2, 3]).unwrap();
    for out in [2, 4] {
        let mut place = device.zeroed(out).unwrap();
        let error = inclusive_scan(&queue, input.span(), place.span_mut(), 0, Sum).unwrap_err();
        assert!(matches!(error, ScanError::Length { input: 3, out: len } if len == out));
        assert_eq!(
            error.to_string(),
            format!("the place for the prefixes has {out} elements, but the input has 3")
        );
    }
}
