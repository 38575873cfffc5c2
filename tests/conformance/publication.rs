//! Publication: what one writes, another sees, through a flag of sufficient order and scope.
//!
//! Blocks wait for each other only in cooperative launches: elsewhere the one waited for may never start.

use gridwise::prelude::*;

use conformance_kernels::publication::{By, InBlock, Message, Odd, Token, WORDS};

use crate::support::{queue, several_blocks, team};

fn messages(device: &Device, by: By) {
    let Some(blocks) = several_blocks(device) else { return };
    let queue = queue(device);
    let mut message = device.zeroed(WORDS).unwrap();
    let (mut flag, mut confirmed) = (device.zeroed(1).unwrap(), device.zeroed(1).unwrap());
    let mut wrong = device.zeroed(1).unwrap();
    let kernel = Message {
        by,
        rounds: 300,
        message: message.span_mut(),
        flag: flag.span_mut(),
        confirmed: confirmed.span_mut(),
        wrong: wrong.span_mut(),
    };
    queue.launch_cooperative(Blocks::Exactly(blocks), kernel).unwrap();
    assert_eq!(queue.download(&wrong).unwrap(), [0]);
    assert_eq!(queue.download(&confirmed).unwrap(), [300 * (blocks as u32 - 1)]);
}

pub(crate) fn a_block_publishes_to_another_at_device_scope(device: &Device) {
    messages(device, By::Flag);
}

pub(crate) fn a_fence_publishes_to_another_block(device: &Device) {
    messages(device, By::Fence);
}

pub(crate) fn a_thread_publishes_to_its_block_at_block_scope(device: &Device) {
    let Some(threads) = team(device, 3) else { return };
    let queue = queue(device);
    let (mut data, mut wrong) = (device.zeroed(5).unwrap(), device.zeroed(1).unwrap());
    let kernel = InBlock {
        data: data.span_mut(),
        wrong: wrong.span_mut(),
    };
    queue.launch(Blocks::Exactly(5).threads(threads), kernel).unwrap();
    assert_eq!(queue.download(&wrong).unwrap(), [0]);
    assert_eq!(queue.download(&data).unwrap(), [700; 5]);
}

pub(crate) fn a_message_goes_round_all_blocks(device: &Device) {
    let queue = queue(device);
    let (mut token, mut number) = (device.zeroed(1).unwrap(), device.zeroed(1).unwrap());
    let kernel = Token {
        rounds: 100,
        token: token.span_mut(),
        number: number.span_mut(),
    };
    queue.launch_cooperative(Blocks::Resident, kernel).unwrap();
    let turns = 100 * device.most_resident_blocks() as u64;
    let expected = (0..turns).fold(0_u64, |number, turn| number.wrapping_mul(3).wrapping_add(turn));
    assert_eq!(queue.download(&number).unwrap(), [expected]);
}

pub(crate) fn a_wait_returns_the_value_it_accepted(device: &Device) {
    let Some(blocks) = several_blocks(device) else { return };
    let queue = queue(device);
    let (mut count, mut seen) = (device.zeroed(1).unwrap(), device.zeroed(blocks).unwrap());
    let kernel = Odd {
        count: count.span_mut(),
        seen: seen.span_mut(),
    };
    queue.launch_cooperative(Blocks::Exactly(blocks), kernel).unwrap();
    let seen = queue.download(&seen).unwrap();
    assert!(seen[1..].iter().all(|seen| seen % 2 == 1), "{seen:?}");
}
