//! Compaction and partition: what a sequential filter gives, in order.

use conformance_kernels::support::MultipleOf;
use gridwise::{
    algorithm::select::{SelectError, compact, partition},
    prelude::*,
};

use crate::support::{lengths, queue, random_numbers};

fn numbers(len: usize) -> Vec<u32> {
    random_numbers(len).iter().map(|&number| number as u32 | 1).collect()
}

/// Every third, all, none.
const PREDICATES: [MultipleOf; 3] = [MultipleOf(3), MultipleOf(0), MultipleOf(2)];

pub(crate) fn what_is_selected_is_in_order_and_complete(device: &Device) {
    let queue = queue(device);
    for len in lengths(1024) {
        let numbers = numbers(len);
        let input = queue.upload(&numbers).unwrap();
        for MultipleOf(of) in PREDICATES {
            let is_in = |number: &u32| of == 0 || number.is_multiple_of(of);
            let expected: Vec<u32> = numbers.iter().copied().filter(is_in).collect();
            // There is room for more, and that is left alone.
            let mut out = queue.upload(&vec![77; len + 3]).unwrap();
            let count = compact(&queue, input.span(), out.span_mut(), MultipleOf(of)).unwrap();
            let out = queue.download(&out).unwrap();
            assert_eq!((count, &out[..count]), (expected.len(), &expected[..]), "{len} {of}");
            assert!(out[count..].iter().all(|&element| element == 77), "{len} {of}");
        }
    }
}

pub(crate) fn both_parts_of_a_partition_are_in_order_and_complete(device: &Device) {
    let queue = queue(device);
    for len in lengths(1024) {
        let numbers = numbers(len);
        let input = queue.upload(&numbers).unwrap();
        for MultipleOf(of) in PREDICATES {
            let (ins, outs): (Vec<u32>, Vec<u32>) =
                numbers.iter().partition(|number| of == 0 || number.is_multiple_of(of));
            // Just enough room.
            let (mut selected, mut rejected) = (device.zeroed(ins.len()).unwrap(), device.zeroed(outs.len()).unwrap());
            let (to, others) = (selected.span_mut(), rejected.span_mut());
            let count = partition(&queue, input.span(), to, others, MultipleOf(of)).unwrap();
            assert_eq!(count, ins.len());
            assert_eq!(queue.download(&selected).unwrap(), ins, "{len} {of}");
            assert_eq!(queue.download(&rejected).unwrap(), outs, "{len} {of}");
        }
    }
}

pub(crate) fn what_does_not_fit_is_counted(device: &Device) {
    let queue = queue(device);
    let numbers: Vec<u32> = (0..5000).collect();
    let input = queue.upload(&numbers).unwrap();
    let (mut few, mut many) = (device.zeroed(100).unwrap(), device.zeroed(5000).unwrap());
    let error = compact(&queue, input.span(), few.span_mut(), MultipleOf(5)).unwrap_err();
    assert!(matches!(
        error,
        SelectError::Selected {
            selected: 1000,
            room: 100
        }
    ));
    assert_eq!(
        error.to_string(),
        "1000 elements are selected, but there is room for 100"
    );
    // The first of them are there.
    let expected: Vec<u32> = (0..100).map(|i| 5 * i).collect();
    assert_eq!(queue.download(&few).unwrap(), expected);
    let (to, others) = (many.span_mut(), few.span_mut());
    let error = partition(&queue, input.span(), to, others, MultipleOf(5)).unwrap_err();
    assert!(matches!(
        error,
        SelectError::Rejected {
            rejected: 4000,
            room: 100
        }
    ));
}
