//! Reductions: what folding the elements in order gives, whatever the device.

use conformance_kernels::{algorithms::AffineOf, support::Then};
use gridwise::{
    Pod,
    algorithm::{
        operator::{Max, Min, Operator, Sum},
        reduce::{reduce, transform_reduce},
    },
    prelude::*,
};

use crate::support::{Affine, affine, lengths, queue, random_numbers, runs_host_kernels, then};

/// Elements in a frame, to a block.
const FRAME: usize = 4096;

fn is_folded<T: Pod + PartialEq + std::fmt::Debug>(device: &Device, numbers: &[T], identity: T, op: impl Operator<T>) {
    let queue = queue(device);
    let input = queue.upload(numbers).unwrap();
    let expected = numbers.iter().fold(identity, |sum, &number| op.apply(sum, number));
    let reduced = reduce(&queue, input.span(), identity, op).unwrap();
    assert_eq!(reduced, expected, "{} elements", numbers.len());
}

pub(crate) fn integers_are_reduced_for_every_length(device: &Device) {
    for len in lengths(FRAME) {
        let numbers = random_numbers(len);
        let narrow: Vec<u32> = numbers.iter().map(|&number| number as u32).collect();
        is_folded(device, &narrow, 0, Sum);
        is_folded(device, &narrow, u32::MAX, Min);
        is_folded(device, &narrow, 0, Max);
        is_folded(device, &numbers, 0, Sum);
        is_folded(device, &numbers, u64::MAX, Min);
        is_folded(device, &numbers, 0, Max);
    }
}

pub(crate) fn floats_are_reduced_for_every_length(device: &Device) {
    for len in lengths(FRAME) {
        // Whole numbers, whose sums are exact in any order.
        let numbers: Vec<f64> = random_numbers(len)
            .iter()
            .map(|&number| (number % 1000) as f64 - 500.0)
            .collect();
        let narrow: Vec<f32> = numbers.iter().map(|&number| number as f32 / 4.0).collect();
        is_folded(device, &narrow, 0.0, Sum);
        is_folded(device, &narrow, f32::INFINITY, Min);
        is_folded(device, &narrow, f32::NEG_INFINITY, Max);
        is_folded(device, &numbers, 0.0, Sum);
        is_folded(device, &numbers, f64::INFINITY, Min);
        is_folded(device, &numbers, f64::NEG_INFINITY, Max);
    }
}

pub(crate) fn an_operator_that_does_not_commute_keeps_the_order(device: &Device) {
    let queue = queue(device);
    let identity: Affine = [1, 0];
    for len in lengths(FRAME) {
        let numbers: Vec<u32> = (0..len as u32).collect();
        let input = queue.upload(&numbers).unwrap();
        let expected = (0..len).map(affine).fold(identity, then);
        let by_name = transform_reduce(&queue, input.span(), identity, AffineOf::default(), Then::default());
        assert_eq!(by_name.unwrap(), expected, "{len}");
        if runs_host_kernels(device) {
            let by_closures = transform_reduce(&queue, input.span(), identity, |i: u32| affine(i as usize), then);
            assert_eq!(by_closures.unwrap(), expected, "{len}");
        }
    }
}

pub(crate) fn a_part_of_a_buffer_is_reduced(device: &Device) {
    let queue = queue(device);
    let input = queue.upload(&(0..10_000_u32).collect::<Vec<_>>()).unwrap();
    let sum = reduce(&queue, input.span().range(3..9001), 0, Sum).unwrap();
    assert_eq!(sum, (3..9001).sum());
}
