//! A warp of several lanes, which takes as many keys at a time.

use core::sync::atomic::Ordering;

use bytemuck::Pod;

use super::{DIGITS, digit};
use crate::{
    algorithm::key::SortKey,
    kernel::{Acc, SharedSlice, SpanMut},
};

/// Counts the digits of the warp's keys. A block barrier.
#[inline(always)]
pub(super) fn count<K: SortKey, A: Acc>(acc: A, keys: &SpanMut<'_, K>, shift: u32, table: SharedSlice<u32>) {
    for digit in acc.threads_in_warp(0..DIGITS) {
        table.set(acc, digit, 0);
    }
    acc.sync_block();
    for i in acc.threads_in_warp(0..keys.len()) {
        let digit = digit(keys.get(acc, i), shift);
        table.atomic(digit).fetch_add(acc, 1, Ordering::Relaxed);
    }
}

/// Moves the warp's keys and values to where the table says, which moves on.
#[inline(always)]
pub(super) fn scatter<K: SortKey, V: Pod, A: Acc>(
    acc: A,
    [keys, keys_to]: [&SpanMut<'_, K>; 2],
    [values, values_to]: [&SpanMut<'_, V>; 2],
    shift: u32,
    table: SharedSlice<u32>,
) {
    let (lane, lanes) = (acc.lane(), acc.lane_count());
    // All lanes of the warp take part in every round, because they have to vote.
    for round in 0..keys.len().div_ceil(lanes) {
        let i = round * lanes + lane;
        let key = (i < keys.len()).then(|| keys.get(acc, i));
        let digit = key.map_or(0, |key| digit(key, shift));
        // The lanes that have a key with the same digit.
        let mut alike = acc.warp_ballot(key.is_some());
        for bit in 0..DIGITS.ilog2() {
            let set = digit >> bit & 1 == 1;
            let votes = acc.warp_ballot(set);
            alike &= if set { votes } else { !votes };
        }
        // The lowest of them takes places for all. Atomics, because lanes of different rounds are different threads.
        let before = (alike & ((1 << lane) - 1)).count_ones();
        let mut place = 0;
        if key.is_some() && before == 0 {
            place = table
                .atomic(digit)
                .fetch_add(acc, alike.count_ones(), Ordering::Relaxed);
        }
        let place = (acc.warp_shuffle(place, alike.trailing_zeros() as usize) + before) as usize;
        if let Some(key) = key {
            keys_to.set(acc, place, key);
            if size_of::<V>() > 0 {
                values_to.set(acc, place, values.get(acc, i));
            }
        }
    }
}
