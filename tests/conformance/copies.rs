//! Buffers and copies: there and back, in parts, and how long a buffer lives.

use std::{
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind},
};

use gridwise::{Pod, host::buffer::CopyError, prelude::*};

use conformance_kernels::copies::Double;

use crate::support::{self, lengths, queue};

fn there_and_back<T: Pod + PartialEq + Debug>(device: &Device, data: &[T]) {
    let queue = queue(device);
    let buffer = queue.upload(data).unwrap();
    assert_eq!((buffer.len(), buffer.is_empty()), (data.len(), data.is_empty()));
    assert_eq!(queue.download(&buffer).unwrap(), data);
    let mut second = device.zeroed::<T>(data.len()).unwrap();
    queue.copy(buffer.span(), second.span_mut()).unwrap();
    let mut back = vec![T::zeroed(); data.len()];
    queue.read(second.span(), &mut back).unwrap();
    assert_eq!(back, data);
}

pub(crate) fn data_comes_back_as_it_went(device: &Device) {
    for len in lengths(64) {
        there_and_back(device, &(0..len).map(|i| i as u8).collect::<Vec<_>>());
        there_and_back(device, &(0..len).map(|i| i as i16 - 500).collect::<Vec<_>>());
        there_and_back(device, &(0..len).map(|i| i as f32 / 3.0).collect::<Vec<_>>());
        there_and_back(
            device,
            &(0..len).map(|i| [i as f64, -0.0, f64::INFINITY]).collect::<Vec<_>>(),
        );
        there_and_back(device, &(0..len).map(|i| (i as u128) << 100 | 1).collect::<Vec<_>>());
    }
    there_and_back(device, &vec![7_u32; 1_000_003]);
}

pub(crate) fn a_new_buffer_is_zero(device: &Device) {
    let queue = queue(device);
    for len in lengths(64) {
        // Full memory is given back first, so that it may be what is given out again.
        drop(queue.upload(&vec![u64::MAX; len]).unwrap());
        assert_eq!(
            queue.download(&device.zeroed::<u64>(len).unwrap()).unwrap(),
            vec![0; len]
        );
    }
}

pub(crate) fn parts_are_copied(device: &Device) {
    let queue = queue(device);
    let from = queue.upload(&(0..10).collect::<Vec<u32>>()).unwrap();
    let mut to = device.zeroed::<u32>(10).unwrap();
    queue.copy(from.span().range(2..5), to.span_mut().range(7..)).unwrap();
    queue.write(&[90, 91], to.span_mut().range(1..=2)).unwrap();
    assert_eq!(queue.download(&to).unwrap(), [0, 90, 91, 0, 0, 0, 0, 2, 3, 4]);
    let mut part = [0; 3];
    queue.read(to.span().range(..9).range(6..), &mut part).unwrap();
    assert_eq!(part, [0, 2, 3]);

    let (low, high) = to.span_mut().split_at(4);
    assert_eq!((low.len(), high.len()), (4, 6));
    queue.fill(high, 5);
    queue.fill(low.range(3..), 6);
    assert_eq!(queue.download(&to).unwrap(), [0, 90, 91, 6, 5, 5, 5, 5, 5, 5]);
    queue.copy(from.span().range(3..3), to.span_mut().range(10..)).unwrap();
}

pub(crate) fn lengths_that_differ_are_refused(device: &Device) {
    let queue = queue(device);
    let from = queue.upload(&[1_u32, 2, 3]).unwrap();
    let mut to = device.zeroed(2).unwrap();
    let lengths = |source_len, destination_len| {
        Err(CopyError::Lengths {
            source_len,
            destination_len,
        })
    };
    assert_eq!(queue.copy(from.span(), to.span_mut()), lengths(3, 2));
    assert_eq!(queue.write(&[], to.span_mut()), lengths(0, 2));
    assert_eq!(queue.read(from.span(), &mut [0; 4]), lengths(3, 4));
    assert_eq!(queue.download(&to).unwrap(), [0, 0], "a refused copy writes nothing");
}

pub(crate) fn fills_reach_only_their_range(device: &Device) {
    let queue = queue(device);
    for (start, end) in [(0, 10), (0, 0), (10, 10), (3, 7), (0, 1), (9, 10)] {
        let mut buffer = queue.upload(&[1_u32; 10]).unwrap();
        queue.fill(buffer.span_mut().range(start..end), 0x0102_0304);
        let expected = |value| {
            (0..10)
                .map(|i| if (start..end).contains(&i) { value } else { 1 })
                .collect::<Vec<u32>>()
        };
        assert_eq!(queue.download(&buffer).unwrap(), expected(0x0102_0304));
        queue.fill_bytes(buffer.span_mut().range(start..end), 0xab);
        assert_eq!(queue.download(&buffer).unwrap(), expected(0xabab_abab));
    }
}

pub(crate) fn a_range_outside_a_span_panics(device: &Device) {
    let mut buffer = device.zeroed::<u32>(5).unwrap();
    let mut panics = |take: fn(&mut gridwise::host::buffer::Buffer<u32>)| {
        catch_unwind(AssertUnwindSafe(|| take(&mut buffer))).is_err()
    };
    assert!(panics(|buffer| assert!(buffer.span_mut().range(3..6).is_empty())));
    assert!(panics(|buffer| assert!(buffer.span_mut().split_at(6).1.is_empty())));
    assert!(panics(|buffer| assert!(buffer.span().range(6..).is_empty())));
    #[allow(clippy::reversed_empty_ranges)]
    {
        assert!(panics(|buffer| assert!(buffer.span().range(4..3).is_empty())));
    }
    assert!(panics(|buffer| assert!(buffer.span().range(0..=usize::MAX).is_empty())));
    assert!(!panics(|buffer| assert!(buffer.span().range(5..).is_empty())));
}

pub(crate) fn a_buffer_without_memory_is_an_error(device: &Device) {
    for len in [usize::MAX, usize::MAX / 8, usize::MAX / 8 + 1, usize::MAX / 16] {
        let error = device.zeroed::<u64>(len).expect_err("no machine has so much");
        assert_eq!((error.len, error.element_bytes), (len, 8));
    }
}

pub(crate) fn buffers_outlive_queue_and_device(device: &Device) {
    let buffer = {
        let device = support::open(&device.name());
        let queue = queue(&device);
        let mut buffer = queue.upload(&[1_u32, 2, 3]).unwrap();
        queue
            .launch(Blocks::Resident, Double { out: buffer.span_mut() })
            .unwrap();
        buffer
    };
    assert_eq!(queue(device).download(&buffer).unwrap(), [2, 4, 6]);
}

pub(crate) fn a_buffer_given_to_enqueued_work_stays_valid(device: &Device) {
    let queue = queue(device);
    let sums = queue.scope(|scope| {
        let tickets: Vec<_> = (0..10_u32)
            .map(|i| {
                // The only handle moves into the work, and is dropped behind it.
                let mut buffer = device.zeroed(1000).unwrap();
                scope.enqueue(move |queue| {
                    queue.fill(buffer.span_mut(), i);
                    queue.launch(Frames::new(1000, 10), Double { out: buffer.span_mut() })?;
                    Ok(queue.download(&buffer)?.iter().sum::<u32>())
                })
            })
            .collect();
        tickets
            .into_iter()
            .map(|ticket| ticket.wait().unwrap())
            .collect::<Vec<_>>()
    });
    assert_eq!(sums.unwrap(), (0..10).map(|i| 2000 * i).collect::<Vec<u32>>());
}

pub(crate) fn kernels_work_on_parts_of_buffers(device: &Device) {
    let queue = queue(device);
    let mut buffer = queue.upload(&(0..100).collect::<Vec<u32>>()).unwrap();
    let (low, high) = buffer.span_mut().split_at(40);
    queue
        .launch(Blocks::Exactly(3), Double { out: low.range(10..20) })
        .unwrap();
    queue
        .launch(Blocks::Exactly(3), Double { out: high.range(..1) })
        .unwrap();
    let doubled = |i: &u32| (10..20).contains(i) || *i == 40;
    let expected: Vec<u32> = (0..100).map(|i| if doubled(&i) { 2 * i } else { i }).collect();
    assert_eq!(queue.download(&buffer).unwrap(), expected);
}
