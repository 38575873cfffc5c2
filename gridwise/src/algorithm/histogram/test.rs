use super::*;
use crate::{
    algorithm::operator::AsIndex,
    host::{device::Device, phases::Strategy, queue::QueueOptions},
};
use std::time::Duration;

fn queue(device: &str) -> Queue {
    let options = QueueOptions::default().timeout(Duration::from_secs(60));
    Device::open(device).unwrap().queue_with(options)
}

#[test]
fn pieces_add_up() {
    let queue = queue("cpu:blocks=2");
    let input = queue.upload(&[0_u8, 1, 1, 2, 1, 7, 1, 0, 2, 1]).unwrap();
    for piece in [1, 3, 9, 10, 11] {
        let counted = in_pieces(&queue, input.span(), 3, AsIndex, Strategy::Relaunch.into(), piece).unwrap();
        assert_eq!((counted.counts, counted.outside), (vec![2, 5, 2], 1));
        assert_eq!(counted.report.steps, 10_usize.div_ceil(piece));
    }
}

#[test]
fn the_keys_of_bytes_may_be_anything() {
    let queue = queue("cpu:blocks=2");
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(5003).collect();
    let input = queue.upload(&bytes).unwrap();
    let keys: [fn(u8) -> usize; 4] = [
        usize::from,
        |byte| 2 * usize::from(byte),
        |byte| usize::MAX - usize::from(byte),
        |byte| if byte == 7 { 256 } else { 255 },
    ];
    for bins in [1, 254, 255, 256, 257, 300, 511, 600] {
        for key in keys {
            let mut expected = vec![0; bins];
            let mut outside = 0;
            for &byte in &bytes {
                *expected.get_mut(key(byte)).unwrap_or(&mut outside) += 1;
            }
            let counted = histogram(&queue, input.span(), bins, key, Strategy::Auto).unwrap();
            assert_eq!((counted.counts, counted.outside), (expected, outside), "{bins}");
        }
    }
}

#[test]
fn tables_are_as_many_as_there_is_room_for() {
    let of = |bins, shape, warp_size, bytes| {
        let tables = tables(bins, shape, warp_size, bytes);
        assert!(tables.of_block * bins * 4 <= bytes);
        (tables.of_thread, tables.of_block, tables.groups)
    };
    // Some for each lone thread, in the nearest cache; one where they would not stay there.
    assert_eq!(of(257, (2, 1), 1, 1 << 10), (8, 0, 2));
    assert_eq!(of(257, (2, 3), 1, 1 << 10), (8, 0, 6));
    assert_eq!(of(1000, (2, 1), 1, 1 << 10), (1, 0, 2));
    // Too many bins for a table each: shared by threads, or by blocks as well.
    assert_eq!(of(1 << 23, (9, 1), 1, 1 << 30), (0, 1, 9));
    assert_eq!(of(1 << 23, (9, 1), 1, 1 << 10), (0, 0, 8));
    assert_eq!(of(usize::MAX / 16, (9, 1), 1, 1 << 10), (0, 0, 1));
    // A table a warp, in a quarter of what there is; or one at least, or none.
    assert_eq!(of(257, (100, 256), 32, 48 << 10), (0, 8, 100));
    assert_eq!(of(1025, (100, 256), 32, 48 << 10), (0, 2, 100));
    assert_eq!(of(4097, (100, 256), 32, 48 << 10), (0, 1, 100));
    assert_eq!(of(65_537, (100, 256), 32, 227 << 10), (0, 0, 100));
}

#[test]
fn bins_that_no_memory_holds_are_an_error() {
    let queue = queue("cpu:blocks=1");
    let input = queue.upload(&[0_u8]).unwrap();
    for bins in [usize::MAX, usize::MAX - 1, usize::MAX / 8, usize::MAX / 16] {
        let error = histogram(&queue, input.span(), bins, AsIndex, Strategy::Auto).unwrap_err();
        assert!(matches!(error, Error::Allocation(_)), "{error}");
    }
}
