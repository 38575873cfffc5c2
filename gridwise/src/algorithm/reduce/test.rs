use super::*;
use crate::host::{device::Device, queue::QueueOptions};
use std::time::Duration;

fn queue(device: &str) -> Queue {
    let options = QueueOptions::default().timeout(Duration::from_secs(60));
    Device::open(device).unwrap().queue_with(options)
}

#[test]
fn floats_on_a_grid_of_the_same_size_give_the_same_bits() {
    let numbers: Vec<f64> = (0..100_003).map(|i| (f64::from(i)).sin() * 1e9).collect();
    let queue = queue("cpu:blocks=3,wait=passive");
    let on_device = queue.upload(&numbers).unwrap();
    let sum = || {
        reduce(&queue, on_device.span(), 0.0, |a: f64, b: f64| a + b)
            .unwrap()
            .to_bits()
    };
    let first = sum();
    assert!((0..20).all(|_| sum() == first));
}

#[test]
fn the_elements_of_every_part_are_folded_in_order() {
    // Strings would show the order, but are not plain data: pairs of first and last number, joined only where they are neighbours.
    let join = |left: [u32; 2], right: [u32; 2]| match (left, right) {
        ([u32::MAX, _], other) | (other, [u32::MAX, _]) => other,
        ([first, end], [start, last]) if end == start => [first, last],
        _ => [0; 2],
    };
    for device in ["cpu:blocks=1", "cpu:blocks=3", "cpu:blocks=1,threads=5", "check"] {
        let queue = queue(device);
        for len in [1, 2, 3, 4, 5, 17, 4097, 9001] {
            let numbers: Vec<u32> = (5..5 + len).collect();
            let input = queue.upload(&numbers).unwrap();
            let joined = transform_reduce(&queue, input.span(), [u32::MAX; 2], |i: u32| [i, i + 1], join).unwrap();
            assert_eq!(joined, [5, 5 + len], "{device}");
        }
    }
}
