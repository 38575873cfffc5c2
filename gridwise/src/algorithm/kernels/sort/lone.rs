//! A thread that is a warp by itself, as on a CPU.

use bytemuck::Pod;

use super::{DIGITS, digit, line};
use crate::{
    algorithm::key::SortKey,
    kernel::{Acc, SharedSlice, SpanMut},
};

/// Counters of a digit, used in turn: keys that follow each other often have equal digits, and would wait for each other.
const LANES: usize = 4;

/// Bytes of keys that are gathered before they are written: a line of the cache.
const LINE_BYTES: usize = 64;

/// Elements of a line for each digit, on lines of their own.
#[repr(align(64))]
struct Lines<T, const LINE: usize>([[T; LINE]; DIGITS]);

/// Counts the digits of the thread's keys.
#[inline(always)]
pub(super) fn count<K: SortKey, A: Acc>(acc: A, keys: &SpanMut<'_, K>, shift: u32, table: SharedSlice<u32>) {
    // SAFETY: nobody stores into keys that are counted.
    let keys = unsafe { keys.as_slice(acc) };
    let mut counts = [[0_u32; DIGITS]; LANES];
    let (chunks, rest) = keys.as_chunks::<LANES>();
    for chunk in chunks {
        for (counts, &key) in counts.iter_mut().zip(chunk) {
            counts[digit(key, shift)] += 1;
        }
    }
    for &key in rest {
        counts[0][digit(key, shift)] += 1;
    }
    for digit in 0..DIGITS {
        table.set(acc, digit, counts.iter().map(|counts| counts[digit]).sum());
    }
}

/// Moves the thread's keys and values to where the table says.
///
/// Each digit's go to places that follow each other, of which there are more than a cache holds at once: so they are gathered here,
/// and written a line at a time.
#[inline(always)]
pub(super) fn scatter<K: SortKey, V: Pod, A: Acc>(
    acc: A,
    keys: [&SpanMut<'_, K>; 2],
    values: [&SpanMut<'_, V>; 2],
    shift: u32,
    table: SharedSlice<u32>,
) {
    let largest = if size_of::<K>() > size_of::<V>() {
        size_of::<K>()
    } else {
        size_of::<V>()
    };
    match LINE_BYTES / largest {
        16.. => in_lines::<16, K, V, A>(acc, keys, values, shift, table),
        8.. => in_lines::<8, K, V, A>(acc, keys, values, shift, table),
        4.. => in_lines::<4, K, V, A>(acc, keys, values, shift, table),
        _ => one_by_one(acc, keys, values, shift, table),
    }
}

/// Large elements fill lines by themselves.
#[inline(always)]
fn one_by_one<K: SortKey, V: Pod, A: Acc>(
    acc: A,
    [keys, keys_to]: [&SpanMut<'_, K>; 2],
    [values, values_to]: [&SpanMut<'_, V>; 2],
    shift: u32,
    table: SharedSlice<u32>,
) {
    for i in 0..keys.len() {
        let key = keys.get(acc, i);
        let digit = digit(key, shift);
        let place = table.get(acc, digit);
        table.set(acc, digit, place + 1);
        keys_to.set(acc, place as usize, key);
        if size_of::<V>() > 0 {
            values_to.set(acc, place as usize, values.get(acc, i));
        }
    }
}

// A function of its own, so that its lines are on the stack only while it runs.
#[inline(never)]
fn in_lines<const LINE: usize, K: SortKey, V: Pod, A: Acc>(
    acc: A,
    [keys, keys_to]: [&SpanMut<'_, K>; 2],
    [values, values_to]: [&SpanMut<'_, V>; 2],
    shift: u32,
    table: SharedSlice<u32>,
) {
    // SAFETY: nobody stores into the buffer that a step reads.
    let keys = unsafe { keys.as_slice(acc) };
    // SAFETY: as for the keys.
    let values = unsafe { values.as_slice(acc) };
    let starts: [u32; DIGITS] = core::array::from_fn(|digit| table.get(acc, digit));
    let mut next = starts;
    let mut key_lines = Lines([[K::zeroed(); LINE]; DIGITS]);
    let mut value_lines = Lines([[V::zeroed(); LINE]; DIGITS]);
    for (i, &key) in keys.iter().enumerate() {
        let digit = digit(key, shift);
        let place = next[digit] as usize;
        next[digit] += 1;
        let slot = place % LINE;
        key_lines.0[digit][slot] = key;
        if size_of::<V>() > 0 {
            value_lines.0[digit][slot] = values[i];
        }
        if slot == LINE - 1 {
            // The first line of a digit may begin with keys of others.
            let first = (starts[digit] as usize).saturating_sub(place - slot);
            line::write(acc, keys_to, place, first, &key_lines.0[digit]);
            if size_of::<V>() > 0 {
                line::write(acc, values_to, place, first, &value_lines.0[digit]);
            }
        }
    }
    for digit in 0..DIGITS {
        let (start, end) = (starts[digit] as usize, next[digit] as usize);
        let first = start.max(end - end % LINE);
        if first < end {
            let slots = first % LINE..first % LINE + (end - first);
            line::write_slots(acc, keys_to, first, &key_lines.0[digit][slots.clone()]);
            if size_of::<V>() > 0 {
                line::write_slots(acc, values_to, first, &value_lines.0[digit][slots]);
            }
        }
    }
    line::end();
}
