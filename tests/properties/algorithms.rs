//! Algorithms against plain sequential code, on grids of every size.

use gridwise::{
    algorithm::{
        histogram::histogram,
        operator::Sum,
        reduce::{reduce, transform_reduce},
        sort::{sort, sort_by_key},
    },
    prelude::*,
};
use proptest::prelude::*;

fn queue(blocks: usize, threads: usize) -> Queue {
    Device::open(&format!("cpu:blocks={blocks},threads={threads},wait=passive"))
        .unwrap()
        .queue()
}

fn structure(relaunch: bool) -> gridwise::prelude::Strategy {
    if relaunch {
        gridwise::prelude::Strategy::Relaunch
    } else {
        gridwise::prelude::Strategy::Persistent
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_reduction_is_a_fold(
        numbers in proptest::collection::vec(any::<u64>(), 0..9000), blocks in 1_usize..4, threads in 1_usize..4,
    ) {
        let queue = queue(blocks, threads);
        let input = queue.upload(&numbers).unwrap();
        let sum = reduce(&queue, input.span(), 0, Sum).unwrap();
        prop_assert_eq!(sum, numbers.iter().fold(0, |sum: u64, &number| sum.wrapping_add(number)));
        // The affine maps x -> a x + b: their composition is associative, and does not commute.
        let then = |f: [u64; 2], g: [u64; 2]| [f[0].wrapping_mul(g[0]), f[1].wrapping_mul(g[0]).wrapping_add(g[1])];
        let map = |number: u64| [number | 1, number >> 7];
        let composed = transform_reduce(&queue, input.span(), [1, 0], map, then).unwrap();
        prop_assert_eq!(composed, numbers.iter().map(|&number| map(number)).fold([1, 0], then));
    }

    #[test]
    fn a_histogram_counts_every_element_once(
        elements in proptest::collection::vec(any::<u16>(), 0..3000), bins in 0_usize..600, spread in 1_u16..700,
        blocks in 1_usize..4, threads in 1_usize..4, relaunch in any::<bool>(),
    ) {
        let queue = queue(blocks, threads);
        let input = queue.upload(&elements).unwrap();
        let key = |element: u16| usize::from(element % spread);
        let counted = histogram(&queue, input.span(), bins, key, structure(relaunch)).unwrap();
        let mut expected = vec![0; bins];
        let mut outside = 0;
        elements.iter().for_each(|&element| *expected.get_mut(key(element)).unwrap_or(&mut outside) += 1);
        prop_assert_eq!((counted.counts, counted.outside), (expected, outside));
    }

    #[test]
    fn a_sort_is_stable_and_in_total_order(
        bits in proptest::collection::vec(any::<u64>(), 0..3000), mask in any::<u64>(),
        blocks in 1_usize..4, threads in 1_usize..4, relaunch in any::<bool>(),
    ) {
        let queue = queue(blocks, threads);
        let floats: Vec<f64> = bits.iter().map(|bits| f64::from_bits(bits & mask)).collect();
        let mut on_device = queue.upload(&floats).unwrap();
        sort(&queue, on_device.span_mut(), structure(relaunch)).unwrap();
        let mut expected = floats.clone();
        expected.sort_by(f64::total_cmp);
        let bits_of = |floats: &[f64]| floats.iter().map(|float| float.to_bits()).collect::<Vec<_>>();
        prop_assert_eq!(bits_of(&queue.download(&on_device).unwrap()), bits_of(&expected));

        let keys: Vec<i32> = bits.iter().map(|bits| (bits & mask) as i32 % 50).collect();
        let (mut keys_there, mut places) = (queue.upload(&keys).unwrap(), queue.upload(&(0..keys.len()).collect::<Vec<_>>()).unwrap());
        sort_by_key(&queue, keys_there.span_mut(), places.span_mut(), structure(relaunch)).unwrap();
        let mut expected: Vec<usize> = (0..keys.len()).collect();
        expected.sort_by_key(|&place| keys[place]);
        prop_assert_eq!(queue.download(&places).unwrap(), expected);
    }
}
