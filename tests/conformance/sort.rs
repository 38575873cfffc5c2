//! Sorting: what the standard library's stable sort gives, bit for bit.

use conformance_kernels::algorithms::Card;
use gridwise::{
    Pod,
    algorithm::{
        key::SortKey,
        sort::{sort, sort_by_key},
    },
    host::{launch::Grid, phases::RunOptions},
    prelude::*,
};

use crate::support::{self, is_checking, lengths, queue, random_numbers, runs_host_kernels};

/// Grids to sort on; not all where each step is looked at.
fn cooperative_grids(device: &Device) -> Vec<Grid> {
    let mut grids = support::cooperative_grids(device);
    if is_checking(device) {
        grids = vec![Blocks::Resident.into(), grids[grids.len() - 1]];
    }
    grids
}

/// On every grid in both structures: as bytes, because numbers that are none equal nothing.
fn check<K: SortKey>(device: &Device, keys: &[K]) {
    let queue = queue(device);
    let mut expected = keys.to_vec();
    expected.sort_by_key(|key| key.ordered_bits());
    for grid in cooperative_grids(device) {
        for strategy in [Strategy::Persistent, Strategy::Relaunch] {
            let mut on_device = queue.upload(keys).unwrap();
            sort(&queue, on_device.span_mut(), RunOptions::from(strategy).grid(grid)).unwrap();
            let sorted = queue.download(&on_device).unwrap();
            let len = keys.len();
            assert!(bytes(&sorted) == bytes(&expected), "{len} keys, {grid:?} {strategy:?}");
        }
    }
}

/// Keys with their places for values.
fn check_by_key<K: SortKey, V: Pod>(device: &Device, keys: &[K], value: impl Fn(usize) -> V) {
    let queue = queue(device);
    let values: Vec<V> = (0..keys.len()).map(value).collect();
    let mut expected: Vec<usize> = (0..keys.len()).collect();
    expected.sort_by_key(|&i| keys[i].ordered_bits());
    let expected_keys: Vec<K> = expected.iter().map(|&i| keys[i]).collect();
    let expected_values: Vec<V> = expected.iter().map(|&i| values[i]).collect();
    for grid in cooperative_grids(device) {
        for strategy in [Strategy::Persistent, Strategy::Relaunch] {
            let (mut keys, mut values) = (queue.upload(keys).unwrap(), queue.upload(&values).unwrap());
            let options = RunOptions::from(strategy).grid(grid);
            sort_by_key(&queue, keys.span_mut(), values.span_mut(), options).unwrap();
            assert!(
                bytes(&queue.download(&keys).unwrap()) == bytes(&expected_keys),
                "{grid:?} {strategy:?}"
            );
            assert!(
                bytes(&queue.download(&values).unwrap()) == bytes(&expected_values),
                "{grid:?} {strategy:?}"
            );
        }
    }
}

fn bytes<T: Pod>(elements: &[T]) -> Vec<u8> {
    elements
        .iter()
        .flat_map(|element| bytemuck::bytes_of(element).to_vec())
        .collect()
}

/// Several blocks' worth of keys, but not where each step is looked at.
fn many(device: &Device) -> usize {
    if is_checking(device) { 530 } else { 20_011 }
}

pub(crate) fn keys_are_sorted_for_every_length(device: &Device) {
    for len in lengths(512).into_iter().filter(|&len| len <= many(device)) {
        let keys: Vec<u32> = random_numbers(len).iter().map(|&number| number as u32).collect();
        check(device, &keys);
    }
}

pub(crate) fn wide_keys_are_sorted(device: &Device) {
    check(device, &random_numbers(many(device)));
}

pub(crate) fn sorted_reversed_and_equal_keys_are_sorted(device: &Device) {
    let len = many(device) as u32;
    check(device, &(0..len).collect::<Vec<_>>());
    check(device, &(0..len).rev().collect::<Vec<_>>());
    check(device, &vec![7_u32; len as usize]);
    // Nearly all equal, and those that are not at the ends.
    let mut keys = vec![0x7700_u32; len as usize];
    (keys[0], keys[len as usize - 1]) = (u32::MAX, 0);
    check(device, &keys);
}

pub(crate) fn keys_that_differ_in_few_bits_are_sorted(device: &Device) {
    let numbers = random_numbers(if is_checking(device) { 150 } else { 20_011 });
    // An odd number of digits, and the lowest of them equal in all.
    for (mask, shift) in [(0xff, 0), (0xff_ffff, 0), (0xff, 8), (0xff, 13), (0xffff, 16), (1, 31)] {
        check(
            device,
            &numbers
                .iter()
                .map(|&number| ((number & mask) << shift) as u32)
                .collect::<Vec<_>>(),
        );
    }
}

pub(crate) fn floats_are_in_total_order(device: &Device) {
    let mut keys: Vec<f32> = random_numbers(many(device).min(1000))
        .iter()
        .map(|&number| f32::from_bits(number as u32))
        .collect();
    keys.extend([
        0.0,
        -0.0,
        1.0,
        -1.0,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
        -f32::NAN,
        -0.0,
        0.0,
    ]);
    let mut expected = keys.clone();
    expected.sort_by(f32::total_cmp);
    let queue = queue(device);
    let mut on_device = queue.upload(&keys).unwrap();
    sort(&queue, on_device.span_mut(), Strategy::Auto).unwrap();
    let bits = |floats: &[f32]| floats.iter().map(|float| float.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&queue.download(&on_device).unwrap()), bits(&expected));
    if runs_host_kernels(device) {
        check(device, &keys.iter().map(|&key| f64::from(key)).collect::<Vec<_>>());
    }
}

pub(crate) fn signed_keys_are_sorted(device: &Device) {
    if !runs_host_kernels(device) {
        return;
    }
    let numbers = random_numbers(many(device).min(1000));
    check(device, &numbers.iter().map(|&number| number as i32).collect::<Vec<_>>());
    check(device, &numbers.iter().map(|&number| number as i64).collect::<Vec<_>>());
    check(device, &numbers.iter().map(|&number| number as i8).collect::<Vec<_>>());
}

pub(crate) fn equal_keys_keep_the_order_of_their_values(device: &Device) {
    let few: Vec<u32> = random_numbers(many(device))
        .iter()
        .map(|number| (number % 5) as u32 * 1000)
        .collect();
    check_by_key(device, &few, |i| i as u32);
    if runs_host_kernels(device) {
        check_by_key(device, &few, |i| [i as u64; 3]);
        check_by_key(device, &few, |i| i as u8);
        let wide: Vec<u64> = few.iter().map(|&key| u64::from(key) << 33 | 1).collect();
        check_by_key(device, &wide, |i| [i as u64; 9]);
    }
}

pub(crate) fn elements_are_sorted_by_a_key_that_they_hold(device: &Device) {
    let numbers = random_numbers(many(device).min(1300));
    let cards = numbers.iter().enumerate();
    let cards = cards.map(|(i, &number)| Card {
        place: i as u32,
        suit: (number % 4) as u32,
        text: [number; 2],
    });
    check(device, &cards.collect::<Vec<_>>());
}

pub(crate) fn a_part_of_a_buffer_is_sorted(device: &Device) {
    let queue = queue(device);
    let mut keys = queue.upload(&(0..1003_u32).rev().collect::<Vec<_>>()).unwrap();
    sort(&queue, keys.span_mut().range(1..1001), Strategy::Auto).unwrap();
    let expected: Vec<u32> = [1002].into_iter().chain(2..1002).chain([1, 0]).collect();
    assert_eq!(queue.download(&keys).unwrap(), expected);
}
