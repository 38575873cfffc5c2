//! What a predicate may do.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::check::{Builder, Model};

/// Blocks have to agree on places without relying on the predicate: two that write one place race, and safe code could ask for it.
#[test]
fn a_predicate_that_changes_its_mind_makes_no_two_threads_write_one_place() {
    let asked = AtomicU32::new(0);
    let input: Vec<u32> = (0..200).collect();
    let report = Builder::new().model(Model::small()).schedules(300).run(|device| {
        let queue = device.queue();
        let on_device = queue.upload(&input).unwrap();
        let (mut ins, mut outs) = (device.zeroed(200).unwrap(), device.zeroed(200).unwrap());
        let moody = |_| asked.fetch_add(1, Ordering::Relaxed).is_multiple_of(3);
        let count = partition(&queue, on_device.span(), ins.span_mut(), outs.span_mut(), moody).unwrap();
        assert!(count <= input.len());
    });
    assert!(report.is_clean(), "{report}");
}
