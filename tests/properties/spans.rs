//! Ranges of spans are those of slices: the same elements, and the same refusals.

use std::{
    ops::Bound,
    panic::{AssertUnwindSafe, catch_unwind},
};

use gridwise::prelude::Device;
use proptest::prelude::*;

/// A bound inside, about the end of, or far outside a span of `len`.
fn bound(len: usize) -> impl Strategy<Value = Bound<usize>> {
    prop_oneof![
        Just(Bound::Unbounded),
        (0..len + 3).prop_map(Bound::Included),
        (0..len + 3).prop_map(Bound::Excluded),
        (usize::MAX - 2..=usize::MAX).prop_map(Bound::Included),
        (usize::MAX - 2..=usize::MAX).prop_map(Bound::Excluded),
    ]
}

/// Without the message of a panic that is expected.
fn quietly<R>(work: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(work)).ok()
}

proptest! {
    #[test]
    fn a_range_of_a_span_is_that_of_a_slice(len in 0_usize..12, start in bound(12), end in bound(12)) {
        let device = Device::open("cpu:blocks=1").unwrap();
        let queue = device.queue();
        let data: Vec<u32> = (100..100 + len as u32).collect();
        let mut buffer = queue.upload(&data).unwrap();
        let expected = data.get((start, end)).map(<[u32]>::to_vec);
        let taken = quietly(|| buffer.span().range((start, end)).to_vec());
        prop_assert_eq!(&taken, &expected);
        let marked = quietly(|| queue.fill(buffer.span_mut().range((start, end)), 1));
        prop_assert_eq!(marked.is_some(), expected.is_some());
        let mut marks = data.clone();
        if let Some(part) = marks.get_mut((start, end)) {
            part.fill(1);
        }
        prop_assert_eq!(queue.download(&buffer).unwrap(), marks);
    }

    #[test]
    fn a_split_span_is_two_halves(len in 0_usize..12, middle in 0_usize..15) {
        let device = Device::open("cpu:blocks=1").unwrap();
        let queue = device.queue();
        let mut buffer = device.zeroed::<u8>(len).unwrap();
        let halves = quietly(|| {
            let (low, high) = buffer.span_mut().split_at(middle);
            queue.fill(low, 1);
            queue.fill(high, 2);
        });
        prop_assert_eq!(halves.is_some(), middle <= len);
        if halves.is_some() {
            let expected: Vec<u8> = (0..len).map(|i| if i < middle { 1 } else { 2 }).collect();
            prop_assert_eq!(queue.download(&buffer).unwrap(), expected);
        }
    }
}
