//! Radix sort: a step for each digit, from the lowest; in each, blocks count the digits of their parts, and then, behind a grid
//! barrier, move their keys to where all counts together say.
//!
//! Keys that are equal in a digit keep their order, so what earlier steps have sorted stays sorted. A digit begins at the lowest bit
//! that is not sorted yet and in which keys differ: bits in which all agree cost nothing. Steps move keys back and forth between
//! two buffers; if they end in the wrong one, one more step copies them.
//!
//! The unit that takes keys in order is a warp. Where that is one thread, on a CPU, it keeps counts in its registers and nearest
//! cache, and gathers keys that go to neighbouring places before it writes them (`lone`); elsewhere its lanes find out by votes
//! which of them hold the same digit (`warp`).

mod line;
mod lone;
mod warp;

use core::{ops::Range, sync::atomic::Ordering};

use bytemuck::Pod;

use crate::{
    algorithm::key::SortKey,
    kernel::{Acc, DynamicShared, Phase, Phased, SharedSlice, SpanMut, hardware::contiguous},
};

/// Values of a digit.
pub(crate) const DIGITS: usize = 256;
const DIGIT_BITS: u32 = DIGITS.ilog2();

/// See the module.
#[repr(C)]
pub struct Sorting<'a, K, V> {
    /// The keys, and as much room again.
    pub(crate) keys: [SpanMut<'a, K>; 2],
    /// The values that go with the keys, and as much room again; empty where `V` has no size.
    pub(crate) values: [SpanMut<'a, V>; 2],
    /// [`DIGITS`] counts for each block.
    pub(crate) counts: SpanMut<'a, u32>,
    /// One word, 0 at the start: the bits in which keys differ.
    pub(crate) varying: SpanMut<'a, u64>,
    /// Warps in each block.
    pub(crate) warps: usize,
}

/// The shared memory of a block.
#[derive(Clone, Copy)]
struct Tables {
    /// [`DIGITS`] numbers for each warp: counts, and then where keys go.
    of_warps: SharedSlice<u32>,
    /// For each digit, how many keys in blocks before this one have it.
    before: SharedSlice<u32>,
    /// For each digit, how many keys have it.
    totals: SharedSlice<u32>,
}

impl Tables {
    #[inline(always)]
    fn of(shared: DynamicShared<u32>) -> Self {
        let of_warps = shared.len() - 2 * DIGITS;
        Self {
            of_warps: shared.slice(..of_warps),
            before: shared.slice(of_warps..of_warps + DIGITS),
            totals: shared.slice(of_warps + DIGITS..),
        }
    }

    #[inline(always)]
    fn of_warp(self, warp: usize) -> SharedSlice<u32> {
        self.of_warps.slice(warp * DIGITS..(warp + 1) * DIGITS)
    }
}

/// The digit that begins at bit `shift`.
#[inline(always)]
fn digit<K: SortKey>(key: K, shift: u32) -> usize {
    (key.ordered_bits() >> shift) as usize % DIGITS
}

/// What a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Sorts by the digit at bit `shift`, from the buffer of that number into the other one.
    Sort {
        shift: u32,
        from: usize,
    },
    /// Copies from the second buffer to the first.
    Copy,
    Nothing,
}

impl Step {
    /// The lowest digit comes first whether keys differ there or not: that is known only when the first step has counted.
    const FIRST: Self = Self::Sort { shift: 0, from: 0 };

    /// Of a number, for keys that differ in the bits of `varying`.
    #[inline(always)]
    fn of(varying: u64, step: usize) -> Self {
        let next = |&shift: &u32| {
            let left = varying.checked_shr(shift + DIGIT_BITS)?;
            (left != 0).then(|| shift + DIGIT_BITS + left.trailing_zeros())
        };
        let shifts = || core::iter::successors(Some(0), next);
        // The first step moves nothing if keys are equal in the lowest digit.
        let lost = usize::from(varying.is_multiple_of(DIGITS as u64));
        match shifts().nth(step) {
            Some(0) if lost == 1 => Self::Nothing,
            Some(0) => Self::FIRST,
            Some(shift) => Self::Sort {
                shift,
                from: (step - lost) % 2,
            },
            None => {
                let sorts = shifts().count();
                if step == sorts && !(sorts - lost).is_multiple_of(2) {
                    Self::Copy
                } else {
                    Self::Nothing
                }
            }
        }
    }
}

// SAFETY: in the first phase of a step a block's threads write its own counts, each digit by one thread, and one buffer is read; or
// the second is read, and each block writes its part of the first. In the second phase counts and one buffer are read, and of the
// other one each element is written once: where the counts of all warps together say. In shared memory a warp's numbers are
// changed by its lanes, by atomics, or by one thread a digit, with block barriers between. All threads of the grid see the same
// varying bits from the second phase on, and so meet the same block barriers. `proceed` reads what is written in step 0 alone.
unsafe impl<K: SortKey, V: Pod> Phased for Sorting<'_, K, V> {
    const NAME: &'static str = "sort";
    type Shared = DynamicShared<u32>;
    const PHASES: usize = 2;

    fn dynamic_len(&self) -> usize {
        (self.warps + 2) * DIGITS
    }

    #[inline(always)]
    fn phase<A: Acc>(self, acc: A, shared: DynamicShared<u32>, at: Phase) {
        let tables = Tables::of(shared);
        match at {
            Phase { index: 0, step: 0 } => {
                self.note_varying(acc);
                self.count(acc, tables, Step::FIRST);
            }
            Phase { index: 0, step } => self.count(acc, tables, Step::of(self.varying.get(acc, 0), step)),
            Phase { step, .. } => self.scatter(acc, tables, Step::of(self.varying.get(acc, 0), step)),
        }
    }

    #[inline(always)]
    fn proceed<A: Acc>(self, acc: A, step: usize) -> bool {
        Step::of(self.varying.get(acc, 0), step + 1) != Step::Nothing
    }
}

impl<K: SortKey, V: Pod> Sorting<'_, K, V> {
    /// The elements that this block takes.
    #[inline(always)]
    fn of_block<A: Acc>(&self, acc: A) -> Range<usize> {
        contiguous(0..self.keys[0].len(), acc.block_index(), acc.block_count()).range()
    }

    /// The elements that this warp takes, in order.
    #[inline(always)]
    fn of_warp<A: Acc>(&self, acc: A) -> Range<usize> {
        contiguous(self.of_block(acc), acc.warp_index(), acc.warp_count()).range()
    }

    /// Finds the bits in which keys differ from the first one.
    #[inline(always)]
    fn note_varying<A: Acc>(&self, acc: A) {
        let keys = &self.keys[0];
        let first = keys.get(acc, 0).ordered_bits();
        let mut varying = 0;
        for run in acc.runs_in_block(self.of_block(acc)) {
            // SAFETY: nobody stores into this buffer in this phase.
            let keys = unsafe { keys.slice(acc, run).as_slice(acc) };
            varying = keys
                .iter()
                .fold(varying, |varying, key| varying | (key.ordered_bits() ^ first));
        }
        let of_block = acc.reduce_block(varying, |a, b| a | b);
        if acc.thread_index() == 0 {
            self.varying.atomic(0).fetch_or(acc, of_block, Ordering::Relaxed);
        }
    }

    /// The first phase of a step.
    #[inline(always)]
    fn count<A: Acc>(&self, acc: A, tables: Tables, step: Step) {
        match step {
            Step::Sort { shift, from } => {
                self.count_warps(acc, tables, shift, from);
                let of_block = self
                    .counts
                    .slice(acc, acc.block_index() * DIGITS..(acc.block_index() + 1) * DIGITS);
                for digit in acc.threads_in_block(0..DIGITS) {
                    let of_warp = |warp| tables.of_warp(warp).get(acc, digit);
                    of_block.set(acc, digit, (0..self.warps).map(of_warp).sum());
                }
            }
            Step::Copy => self.copy(acc),
            Step::Nothing => {}
        }
    }

    /// Counts the digits of each warp's keys. A block barrier.
    #[inline(always)]
    fn count_warps<A: Acc>(&self, acc: A, tables: Tables, shift: u32, from: usize) {
        let table = tables.of_warp(acc.warp_index());
        let keys = self.keys[from].slice(acc, self.of_warp(acc));
        if acc.warp_size() == 1 {
            lone::count(acc, &keys, shift, table);
        } else {
            warp::count(acc, &keys, shift, table);
        }
        acc.sync_block();
    }

    /// The second phase of a step.
    #[inline(always)]
    fn scatter<A: Acc>(&self, acc: A, tables: Tables, step: Step) {
        let Step::Sort { shift, from } = step else {
            return;
        };
        if acc.warp_count() > 1 {
            // The counts of single warps have not been kept.
            self.count_warps(acc, tables, shift, from);
        }
        self.place(acc, tables);
        let part = self.of_warp(acc);
        let [keys, keys_to] = from_to(&self.keys, from);
        let [values, values_to] = from_to(&self.values, from);
        let (keys, values) = (
            keys.slice(acc, part.clone()),
            values.slice(acc, if size_of::<V>() == 0 { 0..0 } else { part }),
        );
        let table = tables.of_warp(acc.warp_index());
        if acc.warp_size() == 1 {
            lone::scatter(acc, [&keys, keys_to], [&values, values_to], shift, table);
        } else {
            warp::scatter(acc, [&keys, keys_to], [&values, values_to], shift, table);
        }
    }

    /// Makes of the counts of this block's warps where the first key of each digit goes. A block barrier.
    #[inline(always)]
    fn place<A: Acc>(&self, acc: A, tables: Tables) {
        // Each thread has some digits that follow each other.
        let digits = || contiguous(0..DIGITS, acc.thread_index(), acc.thread_count()).range();
        let mut keys = 0;
        for digit in digits() {
            let (mut before, mut total) = (0, 0);
            for block in 0..acc.block_count() {
                let count = self.counts.get(acc, block * DIGITS + digit);
                before += if block < acc.block_index() { count } else { 0 };
                total += count;
            }
            tables.before.set(acc, digit, before);
            tables.totals.set(acc, digit, total);
            keys += total;
        }
        let (mut start, _) = acc.exclusive_scan_block(keys, 0, |a: u32, b| a + b);
        for digit in digits() {
            let mut next = start + tables.before.get(acc, digit);
            start += tables.totals.get(acc, digit);
            for warp in 0..self.warps {
                let table = tables.of_warp(warp);
                // The last one's is not used, and in a block of one warp there is none.
                let count = if warp + 1 < self.warps {
                    table.get(acc, digit)
                } else {
                    0
                };
                table.set(acc, digit, next);
                next += count;
            }
        }
        acc.sync_block();
    }

    /// Copies this block's part from the second buffer to the first.
    #[inline(always)]
    fn copy<A: Acc>(&self, acc: A) {
        for run in acc.runs_in_block(self.of_block(acc)) {
            copy(acc, &self.keys, run.clone());
            if size_of::<V>() > 0 {
                copy(acc, &self.values, run);
            }
        }
    }
}

/// The buffer that a step reads, and the one that it writes.
#[inline(always)]
fn from_to<'s, 'a, T>([first, second]: &'s [SpanMut<'a, T>; 2], from: usize) -> [&'s SpanMut<'a, T>; 2] {
    if from == 0 { [first, second] } else { [second, first] }
}

#[inline(always)]
fn copy<T: Pod, A: Acc>(acc: A, [to, from]: &[SpanMut<'_, T>; 2], run: Range<usize>) {
    let (to, from) = (to.slice(acc, run.clone()), from.slice(acc, run));
    // SAFETY: nobody stores into the second buffer in this phase.
    let from = unsafe { from.as_slice(acc) };
    // SAFETY: this part of the first buffer is this thread's.
    unsafe { to.as_mut_slice(acc) }.copy_from_slice(from);
}

#[cfg(all(test, feature = "std", not(loom)))]
mod test {
    use super::*;

    fn plan(varying: u64) -> Vec<Step> {
        let rest = (1..)
            .map(|step| Step::of(varying, step))
            .take_while(|&step| step != Step::Nothing);
        [Step::of(varying, 0)].into_iter().chain(rest).collect()
    }

    #[test]
    fn bits_that_agree_cost_no_step() {
        let sort = |shift, from| Step::Sort { shift, from };
        assert_eq!(plan(0), [Step::Nothing]);
        assert_eq!(plan(0xff), [sort(0, 0), Step::Copy]);
        assert_eq!(plan(0x1ff), [sort(0, 0), sort(8, 1)]);
        assert_eq!(plan(0xff00), [Step::Nothing, sort(8, 0), Step::Copy]);
        assert_eq!(plan(0xff0), [sort(0, 0), sort(8, 1)]);
        assert_eq!(plan(0x1_fe00), [Step::Nothing, sort(9, 0), Step::Copy]);
        assert_eq!(
            plan(u64::from(u32::MAX)),
            [sort(0, 0), sort(8, 1), sort(16, 0), sort(24, 1)]
        );
        assert_eq!(plan(1 << 63 | 1), [sort(0, 0), sort(63, 1)]);
        assert_eq!(plan(1 << 63), [Step::Nothing, sort(63, 0), Step::Copy]);
        assert_eq!(plan(u64::MAX).len(), 8);
    }
}
