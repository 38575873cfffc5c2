use super::*;
use crate::host::{device::Device, phases::Strategy, queue::QueueOptions};
use std::time::Duration;

fn queue() -> Queue {
    let options = QueueOptions::default().timeout(Duration::from_secs(60));
    Device::open("cpu:blocks=2").unwrap().queue_with(options)
}

#[test]
fn a_value_for_each_key_is_asked_for() {
    let queue = queue();
    let (mut keys, mut values) = (queue.upload(&[2_u32, 1]).unwrap(), queue.upload(&[1_u8, 2, 3]).unwrap());
    let error = sort_by_key(&queue, keys.span_mut(), values.span_mut(), Strategy::Auto).unwrap_err();
    assert!(
        matches!(error, SortError::ValueLength { keys: 2, values: 3 }),
        "{error}"
    );
    assert_eq!(queue.download(&keys).unwrap(), [2, 1]);
}

#[cfg(target_pointer_width = "64")]
#[test]
fn more_keys_than_can_be_counted_are_refused() {
    // Without size, so that they fit.
    #[derive(Clone, Copy)]
    struct Nothing;
    // SAFETY: there is nothing to it.
    unsafe impl bytemuck::Zeroable for Nothing {}
    // SAFETY: as above.
    unsafe impl Pod for Nothing {}
    // SAFETY: it depends on the value alone.
    unsafe impl SortKey for Nothing {
        fn ordered_bits(self) -> u64 {
            0
        }
    }
    let queue = queue();
    let mut keys = queue.device().zeroed::<Nothing>(1 << 32).unwrap();
    let error = sort(&queue, keys.span_mut(), Strategy::Auto).unwrap_err();
    assert!(
        matches!(error, SortError::TooManyKeys { keys: 0x1_0000_0000 }),
        "{error}"
    );
    sort(&queue, keys.span_mut().range(..100), Strategy::Auto).unwrap();
}

#[test]
fn bits_in_which_keys_agree_cost_no_step() {
    let queue = queue();
    let steps = |keys: &[u64]| {
        let mut on_device = queue.upload(keys).unwrap();
        let report = sort(&queue, on_device.span_mut(), Strategy::Relaunch).unwrap();
        assert!(queue.download(&on_device).unwrap().is_sorted());
        report.steps
    };
    assert_eq!(steps(&[7; 100]), 1);
    // One digit, and a copy back.
    assert_eq!(steps(&[3, 200, 7]), 2);
    assert_eq!(steps(&[3 << 20, 200 << 20, 7 << 20]), 3);
    assert_eq!(steps(&[0x3_0003, 0x4_0001]), 2);
    assert_eq!(steps(&[u64::MAX, 0]), 8);
}
