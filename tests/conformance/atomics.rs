//! Atomics: every operation, type and scope, alone against a sequential oracle and together against what must come out.

use std::marker::PhantomData;

use gridwise::{kernel::scope::IsScope, prelude::*};

use conformance_kernels::atomics::{
    Bits, ChunkLoop, Compact, NAMES, Oracle, ReleaseLoad, Sequence, SharedCount, Tickets, Together,
};

use crate::support::{grids, queue, random_numbers, team};

fn sequence_of<T: Oracle, S: IsScope>(device: &Device, shared: bool) {
    let queue = queue(device);
    let operands: Vec<T> = random_numbers(300).into_iter().map(T::number).collect();
    let mut value = T::number(5);
    let mut word = queue.upload(&[value]).unwrap();
    let on_device = queue.upload(&operands).unwrap();
    let mut before = device.zeroed(operands.len()).unwrap();
    let kernel = Sequence::<T, S> {
        shared,
        word: word.span_mut(),
        operands: on_device.span(),
        before: before.span_mut(),
        scope: PhantomData,
    };
    queue.launch(Blocks::Exactly(1), kernel).unwrap();
    let before = queue.download(&before).unwrap();
    for (i, &operand) in operands.iter().enumerate() {
        let name = NAMES[i % T::OPERATIONS];
        assert_eq!(
            before[i],
            value,
            "{name} number {i} at {:?}, shared: {shared}",
            S::SCOPE
        );
        value = value.leaves(i % T::OPERATIONS, operand);
    }
    assert_eq!(queue.download(&word).unwrap(), [value]);
}

fn sequences<T: Oracle>(device: &Device) {
    sequence_of::<T, scope::Block>(device, false);
    sequence_of::<T, scope::Device>(device, false);
    sequence_of::<T, scope::System>(device, false);
    sequence_of::<T, scope::Block>(device, true);
}

fn together_at<T: Oracle, S: IsScope>(device: &Device) {
    let queue = queue(device);
    let operands: Vec<T> = random_numbers(700).into_iter().map(T::number).collect();
    let start = T::number(77);
    // At block scope only the threads of one block may act together.
    let grids = if S::SCOPE == Scope::Block {
        vec![Blocks::Exactly(1).threads(team(device, 4).unwrap_or(1))]
    } else {
        grids(device)
    };
    for grid in grids {
        let on_device = queue.upload(&operands).unwrap();
        let mut words = queue.upload(&vec![start; T::OPERATIONS]).unwrap();
        let mut swapped = device.zeroed(operands.len()).unwrap();
        let kernel = Together::<T, S> {
            operands: on_device.span(),
            words: words.span_mut(),
            swapped: swapped.span_mut(),
            scope: PhantomData,
        };
        queue.launch(grid, kernel).unwrap();
        let words = queue.download(&words).unwrap();
        for (operation, name) in NAMES[..T::OPERATIONS].iter().enumerate() {
            let expected = match *name {
                "swap" => continue,
                "compare_exchange" => operands.iter().fold(start, |sum, &operand| sum.leaves(0, operand)),
                _ => operands
                    .iter()
                    .fold(start, |value, &operand| value.leaves(operation, operand)),
            };
            assert_eq!(words[operation], expected, "{name} on {grid:?} at {:?}", S::SCOPE);
        }
        // What went in came out, or is there still.
        let sorted = |values: &mut Vec<T>| {
            let mut bytes: Vec<String> = values.drain(..).map(|value| format!("{value:?}")).collect();
            bytes.sort();
            bytes
        };
        let mut out = queue.download(&swapped).unwrap();
        out.push(words[2]);
        let mut all_in = operands.clone();
        all_in.push(start);
        assert_eq!(sorted(&mut out), sorted(&mut all_in), "swap on {grid:?}");
    }
}

fn together<T: Oracle>(device: &Device) {
    together_at::<T, scope::Block>(device);
    together_at::<T, scope::Device>(device);
    together_at::<T, scope::System>(device);
}

pub(crate) fn every_operation_on_u32_does_what_it_says(device: &Device) {
    sequences::<u32>(device);
}

pub(crate) fn every_operation_on_i32_does_what_it_says(device: &Device) {
    sequences::<i32>(device);
}

pub(crate) fn every_operation_on_u64_does_what_it_says(device: &Device) {
    sequences::<u64>(device);
}

pub(crate) fn every_operation_on_i64_does_what_it_says(device: &Device) {
    sequences::<i64>(device);
}

pub(crate) fn every_operation_on_f32_does_what_it_says(device: &Device) {
    sequences::<f32>(device);
}

pub(crate) fn every_operation_on_f64_does_what_it_says(device: &Device) {
    sequences::<f64>(device);
}

pub(crate) fn no_operation_on_u32_is_lost(device: &Device) {
    together::<u32>(device);
}

pub(crate) fn no_operation_on_i32_is_lost(device: &Device) {
    together::<i32>(device);
}

pub(crate) fn no_operation_on_u64_is_lost(device: &Device) {
    together::<u64>(device);
}

pub(crate) fn no_operation_on_i64_is_lost(device: &Device) {
    together::<i64>(device);
}

pub(crate) fn no_sum_of_floats_is_lost(device: &Device) {
    together::<f32>(device);
    together::<f64>(device);
}

fn tickets(device: &Device, blocks: usize, threads: usize, per_thread: usize) {
    let queue = queue(device);
    let all = blocks * threads * per_thread;
    let (mut next, mut taken) = (device.zeroed(1).unwrap(), device.zeroed(all).unwrap());
    let kernel = Tickets {
        per_thread,
        next: next.span_mut(),
        taken: taken.span_mut(),
    };
    queue.launch(Blocks::Exactly(blocks).threads(threads), kernel).unwrap();
    assert_eq!(queue.download(&next).unwrap(), [all as u32]);
    assert_eq!(queue.download(&taken).unwrap(), vec![1; all]);
}

pub(crate) fn sixty_four_blocks_increment_one_counter(device: &Device) {
    tickets(device, 64, 1, 1);
    tickets(device, 64, team(device, 2).unwrap_or(1), 1);
}

pub(crate) fn tickets_are_unique(device: &Device) {
    tickets(device, 7, team(device, 4).unwrap_or(1), 500);
}

// fault A7.8: a ticket that is looked at twice is drawn twice, where a compiler evaluates the atomic at every use.
pub(crate) fn a_ticket_used_twice_is_drawn_once(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        // More tickets than there is room for, on every grid.
        let (mut next, mut kept) = (device.zeroed(1).unwrap(), device.zeroed(9).unwrap());
        let (mut threads, mut marks) = (device.zeroed(1).unwrap(), device.zeroed(4096).unwrap());
        let one_each = Tickets {
            per_thread: 1,
            next: threads.span_mut(),
            taken: marks.span_mut(),
        };
        queue.launch(grid, one_each).unwrap();
        let kernel = Compact {
            per_thread: 10,
            next: next.span_mut(),
            kept: kept.span_mut(),
        };
        queue.launch(grid, kernel).unwrap();
        let threads: u32 = queue.download(&threads).unwrap()[0];
        assert_eq!(queue.download(&next).unwrap(), [10 * threads], "{grid:?}");
        assert_eq!(queue.download(&kept).unwrap(), (1..=9).collect::<Vec<_>>(), "{grid:?}");
    }
}

pub(crate) fn compare_exchange_compares_bits(device: &Device) {
    let queue = queue(device);
    let mut words = queue.upload(&[f64::NAN, 0.0]).unwrap();
    queue
        .launch(
            Blocks::Exactly(1),
            Bits {
                words: words.span_mut(),
            },
        )
        .unwrap();
    assert_eq!(queue.download(&words).unwrap(), [1.0, 2.0]);
}

pub(crate) fn a_chunk_counter_hands_out_every_chunk(device: &Device) {
    let queue = queue(device);
    for grid in grids(device) {
        for (len, chunk) in [(0, 4), (1, 4), (1009, 13), (1000, 10), (5, 100)] {
            let (mut next, mut visits) = (device.zeroed(1).unwrap(), device.zeroed(len).unwrap());
            let kernel = ChunkLoop {
                chunk,
                next: next.span_mut(),
                visits: visits.span_mut(),
            };
            queue.launch(grid, kernel).unwrap();
            assert_eq!(queue.download(&visits).unwrap(), vec![1; len], "{grid:?}");
        }
    }
}

pub(crate) fn shared_counters_count_every_thread(device: &Device) {
    let queue = queue(device);
    let threads = team(device, 8).unwrap_or(1);
    let mut out = device.zeroed(5).unwrap();
    let grid = Blocks::Exactly(5).threads(threads);
    queue.launch(grid, SharedCount { out: out.span_mut() }).unwrap();
    assert_eq!(queue.download(&out).unwrap(), [100 * threads as i64; 5]);
}

pub(crate) fn an_order_that_a_load_cannot_have_is_an_error(device: &Device) {
    let mut word = device.zeroed(1).unwrap();
    let refused = queue(device).launch(Blocks::Exactly(1).threads(1), ReleaseLoad { word: word.span_mut() });
    assert!(matches!(refused, Err(LaunchError::Panicked { .. })), "{refused:?}");
}
