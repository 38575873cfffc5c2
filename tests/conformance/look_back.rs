//! Look-back: nobody waits for a block that does not go on.

use conformance_kernels::look_back::HeldUp;
use gridwise::prelude::*;

use crate::support::{queue, several_blocks};

/// fault A5.1, A5.3, A5.4
pub(crate) fn a_block_that_is_held_up_holds_up_nobody_else(device: &Device) {
    if several_blocks(device).is_none() {
        return;
    }
    let queue = queue(device);
    let tiles = 5;
    let mut memory = queue.look_back(tiles).unwrap();
    let mut before = device.zeroed(tiles).unwrap();
    for _ in 0..3 {
        let mut done = device.zeroed(1).unwrap();
        let kernel = HeldUp {
            look_back: memory.fresh(&queue),
            before: before.span_mut(),
            done: done.span_mut(),
        };
        queue.launch(Blocks::Exactly(2), kernel).unwrap();
        assert_eq!(queue.download(&before).unwrap(), [0, 10, 21, 33, 46]);
    }
}
