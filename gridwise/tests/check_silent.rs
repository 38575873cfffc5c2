//! Sound protocols of the trade, written by hand: the checking device has nothing to say about them.

use gridwise::{
    algorithm::{
        histogram::histogram,
        operator::{AsIndex, Sum},
        scan::inclusive_scan,
        select::compact,
        sort::sort,
    },
    check::{BlockOrder, Builder, Explore, Kind, Model},
    prelude::*,
};

type Words<'a> = SpanMut<'a, u32>;

/// What blocks of a few threads do to plain data and to atomic words.
trait Protocol: Copy {
    /// Blocks and threads in each.
    const GRID: (usize, usize);

    fn run<A: Acc>(self, acc: A, data: &Words<'_>, words: &Words<'_>);
}

#[repr(C)]
struct Sound<'a, P> {
    data: Words<'a>,
    words: Words<'a>,
    protocol: P,
}

// SAFETY: it is what each test is about.
unsafe impl<P: Protocol> Kernel for Sound<'_, P> {
    const NAME: &'static str = "sound";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.protocol.run(acc, &self.data, &self.words);
    }
}

#[track_caller]
fn is_silent<P: Protocol>(protocol: P, result: impl Fn(&[u32])) {
    let (blocks, threads) = P::GRID;
    for (explore, schedules) in [
        (Explore::Random, 200),
        (Explore::Pct { depth: 3 }, 100),
        (Explore::RoundRobin, 1),
    ] {
        for exact in [false, true] {
            let mut model = Model::small();
            (model.multiprocessors, model.exact, model.step_budget) = (blocks, exact, 200_000);
            let builder = Builder::new().model(model).explore(explore).schedules(schedules);
            builder.check(|device| {
                let queue = device.queue();
                let (mut data, mut words) = (device.zeroed(32).unwrap(), device.zeroed(32).unwrap());
                let kernel = Sound {
                    data: data.span_mut(),
                    words: words.span_mut(),
                    protocol,
                };
                queue.launch(Blocks::Exactly(blocks).threads(threads), kernel).unwrap();
                result(&queue.download(&data).unwrap());
            });
        }
    }
}

/// A lock as a list: each waits at a word of its own, which the one before it sets.
#[derive(Clone, Copy)]
struct ListLock;

impl Protocol for ListLock {
    const GRID: (usize, usize) = (3, 1);

    fn run<A: Acc>(self, acc: A, data: &Words<'_>, words: &Words<'_>) {
        let tail = words.atomic(0);
        let me = acc.block_index() as u32 + 1;
        let next = |of: u32| words.atomic(8 + of as usize);
        let free = |of: u32| words.atomic(16 + of as usize);
        for _ in 0..2 {
            next(me).store(acc, 0, Ordering::Relaxed);
            free(me).store(acc, 0, Ordering::Relaxed);
            let before = tail.swap(acc, me, Ordering::AcqRel);
            if before != 0 {
                next(before).store(acc, me, Ordering::Release);
                free(me).wait_until(acc, Ordering::Acquire, |free| free == 1);
            }
            data.set(acc, 0, data.get(acc, 0) + 1);
            let is_last = |after: u32| {
                after == 0
                    && tail
                        .compare_exchange(acc, me, 0, Ordering::Release, Ordering::Relaxed)
                        .is_ok()
            };
            if !is_last(next(me).load(acc, Ordering::Acquire)) {
                let after = next(me).wait_until(acc, Ordering::Acquire, |after| after != 0);
                free(after).store(acc, 1, Ordering::Release);
            }
        }
    }
}

#[test]
fn a_lock_that_is_a_list() {
    is_silent(ListLock, |data| assert_eq!(data[0], 6));
}

/// In each of two rounds a member signals the next and the one after: together they have heard of all four.
#[derive(Clone, Copy)]
struct Dissemination;

impl Protocol for Dissemination {
    const GRID: (usize, usize) = (4, 1);

    fn run<A: Acc>(self, acc: A, data: &Words<'_>, words: &Words<'_>) {
        let me = acc.block_index();
        for episode in 1..4 {
            data.set(acc, me, episode);
            for round in 0..2 {
                let to = (me + (1 << round)) % 4;
                words.atomic(4 * round + to).store(acc, episode, Ordering::Release);
                let own = words.atomic(4 * round + me);
                own.wait_until(acc, Ordering::Acquire, |heard| heard >= episode);
            }
            for other in 0..4 {
                data.get(acc, other);
            }
            // Nobody writes the data again before all have read it.
            words.atomic(16).fetch_add(acc, 1, Ordering::AcqRel);
            words
                .atomic(16)
                .wait_until(acc, Ordering::Acquire, |read| read >= 4 * episode);
        }
    }
}

#[test]
fn a_dissemination_barrier() {
    is_silent(Dissemination, |data| assert_eq!(data[..4], [3; 4]));
}

/// A bounded ring for any number of producers and consumers: each slot has a sequence number.
#[derive(Clone, Copy)]
struct SequencedRing;

const SLOTS: u32 = 2;

impl SequencedRing {
    fn push<A: Acc>(self, acc: A, data: &Words<'_>, words: &Words<'_>, value: u32) {
        let at = words.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);
        let slot = (at % SLOTS) as usize;
        let sequence = words.atomic(8 + slot);
        sequence.wait_until(acc, Ordering::Acquire, |now| now == at / SLOTS * 2);
        data.set(acc, 16 + slot, value);
        sequence.store(acc, at / SLOTS * 2 + 1, Ordering::Release);
    }

    fn pop<A: Acc>(self, acc: A, data: &Words<'_>, words: &Words<'_>) -> u32 {
        let at = words.atomic(1).fetch_add(acc, 1, Ordering::Relaxed);
        let slot = (at % SLOTS) as usize;
        let sequence = words.atomic(8 + slot);
        sequence.wait_until(acc, Ordering::Acquire, |now| now == at / SLOTS * 2 + 1);
        let value = data.get(acc, 16 + slot);
        sequence.store(acc, at / SLOTS * 2 + 2, Ordering::Release);
        value
    }
}

impl Protocol for SequencedRing {
    const GRID: (usize, usize) = (4, 1);

    fn run<A: Acc>(self, acc: A, data: &Words<'_>, words: &Words<'_>) {
        for i in 0..3 {
            match acc.block_index() {
                me @ 0..2 => self.push(acc, data, words, (3 * me + i) as u32),
                _ => data.set(acc, self.pop(acc, data, words) as usize, 1),
            }
        }
    }
}

#[test]
fn a_ring_with_sequence_numbers() {
    is_silent(SequencedRing, |data| assert_eq!(data[..6], [1; 6]));
}

/// A scan of one pass: a tile publishes its own sum, then what all up to it sum up to, state and value in one word.
#[derive(Clone, Copy)]
struct LookBack;

impl Protocol for LookBack {
    const GRID: (usize, usize) = (4, 2);

    fn run<A: Acc>(self, acc: A, data: &Words<'_>, words: &Words<'_>) {
        const OWN: u32 = 1 << 30;
        const ALL: u32 = 1 << 31;
        let tile = acc.broadcast(|| words.atomic(8).fetch_add(acc, 1, Ordering::Relaxed)) as usize;
        let own = acc.reduce_block((2 * tile + acc.thread_index()) as u32, |a, b| a + b);
        let before = acc.broadcast(|| {
            words.atomic(tile).store(acc, OWN | own, Ordering::Relaxed);
            let mut before = 0;
            for earlier in (0..tile).rev() {
                let state = words.atomic(earlier);
                let state = state.wait_until(acc, Ordering::Relaxed, |state| state & (OWN | ALL) != 0);
                before += state & !(OWN | ALL);
                if state & ALL != 0 {
                    break;
                }
            }
            words.atomic(tile).store(acc, ALL | (before + own), Ordering::Relaxed);
            before
        });
        if acc.thread_index() == 0 {
            data.set(acc, tile, before);
        }
    }
}

#[test]
fn a_scan_that_looks_back() {
    is_silent(LookBack, |data| assert_eq!(data[..4], [0, 1, 6, 15]));
}

/// The first half of the blocks hand a value to the other half in a pointer of one word: the value behind it is acquired by a fence.
#[derive(Clone, Copy)]
struct Handed;

impl Protocol for Handed {
    const GRID: (usize, usize) = (4, 2);

    fn run<A: Acc>(self, acc: A, data: &Words<'_>, words: &Words<'_>) {
        let (me, thread) = (acc.block_index(), acc.thread_index());
        let pair = me % 2;
        if me < 2 {
            data.set(acc, 8 + 2 * pair + thread, 5);
            acc.sync_block();
            if thread == 1 {
                acc.fence(Ordering::Release, Scope::Device);
                words.atomic(pair).store(acc, 1, Ordering::Relaxed);
            }
            return;
        }
        // All threads see it, one acquires, and the barrier hands that on.
        words
            .atomic(pair)
            .wait_until(acc, Ordering::Relaxed, |there| there == 1);
        if thread == 0 {
            acc.fence(Ordering::Acquire, Scope::Device);
        }
        acc.sync_block();
        let got = data.get(acc, 8 + 2 * pair + 1 - thread);
        data.set(acc, 2 * pair + thread, got);
    }
}

#[test]
fn a_value_behind_fences_of_one_thread_on_each_side() {
    is_silent(Handed, |data| assert_eq!(data[..4], [5; 4]));
}

/// The threads of a block look for a message together: first by a vote, then by what one of them hands to all.
#[derive(Clone, Copy)]
struct LookTogether;

impl Protocol for LookTogether {
    const GRID: (usize, usize) = (2, 2);

    fn run<A: Acc>(self, acc: A, data: &Words<'_>, words: &Words<'_>) {
        let (thread, message) = (acc.thread_index(), words.atomic(0));
        if acc.block_index() == 0 {
            for number in 1..3 {
                data.set(acc, 2 * number + thread, 5);
                acc.sync_block();
                if thread == 0 {
                    message.store(acc, number as u32, Ordering::Release);
                }
            }
            return;
        }
        let is_there = |number| message.load(acc, Ordering::Acquire) >= number;
        while !acc.sync_block_any(thread == 0 && is_there(1)) {}
        data.set(acc, thread, data.get(acc, 3 - thread));
        while acc.broadcast(|| u32::from(is_there(2))) == 0 {}
        data.set(acc, thread, data.get(acc, 5 - thread));
    }
}

#[test]
fn a_block_that_looks_for_a_message_together() {
    is_silent(LookTogether, |data| assert_eq!(data[..2], [5; 2]));
}

/// Many may read at a time, and one write: the writer waits until the last reader has left, and readers until it has.
#[derive(Clone, Copy)]
struct ReadersAndWriter;

impl Protocol for ReadersAndWriter {
    const GRID: (usize, usize) = (3, 1);

    fn run<A: Acc>(self, acc: A, data: &Words<'_>, words: &Words<'_>) {
        const WRITER: u32 = 1 << 31;
        let lock = words.atomic(0);
        for _ in 0..2 {
            if acc.block_index() == 0 {
                let taken = || lock.compare_exchange(acc, 0, WRITER, Ordering::Acquire, Ordering::Relaxed);
                while taken().is_err() {}
                data.set(acc, 0, data.get(acc, 0) + 1);
                lock.store(acc, 0, Ordering::Release);
                continue;
            }
            loop {
                let now = lock.wait_until(acc, Ordering::Relaxed, |now| now & WRITER == 0);
                let more = lock.compare_exchange(acc, now, now + 1, Ordering::Acquire, Ordering::Relaxed);
                if more.is_ok() {
                    break;
                }
            }
            data.get(acc, 0);
            lock.fetch_sub(acc, 1, Ordering::Release);
        }
    }
}

#[test]
fn a_lock_for_readers_and_a_writer() {
    is_silent(ReadersAndWriter, |data| assert_eq!(data[0], 2));
}

/// Every algorithm whose blocks follow each other, or meet, on inputs of several tiles; the results are those of plain code.
fn algorithms(device: &Device) {
    const LEN: usize = 3000;
    let queue = device.queue();
    let numbers: Vec<u32> = (0..LEN as u32).map(|i| i * 7919 % 1009).collect();
    let input = queue.upload(&numbers).unwrap();

    let mut out = device.zeroed(LEN).unwrap();
    inclusive_scan(&queue, input.span(), out.span_mut(), 0, Sum).unwrap();
    let prefixes = numbers.iter().scan(0, |sum, number| {
        *sum += number;
        Some(*sum)
    });
    assert_eq!(queue.download(&out).unwrap(), prefixes.collect::<Vec<u32>>());

    let even = |number: u32| number.is_multiple_of(2);
    let count = compact(&queue, input.span(), out.span_mut(), even).unwrap();
    let selected: Vec<u32> = numbers.iter().copied().filter(|&number| even(number)).collect();
    assert_eq!(queue.download(&out).unwrap()[..count], selected);

    let counts = histogram(&queue, input.span(), 1009, AsIndex, Strategy::Auto)
        .unwrap()
        .counts;
    assert_eq!(counts.iter().map(|&count| count as usize).sum::<usize>(), LEN);

    let mut sorted = queue.upload(&numbers).unwrap();
    sort(&queue, sorted.span_mut(), Strategy::Auto).unwrap();
    let mut expected = numbers.clone();
    expected.sort();
    assert_eq!(queue.download(&sorted).unwrap(), expected);
}

/// Each tile waits for all tiles before it: nobody recomputes anything.
#[repr(C)]
struct WaitsForEarlierTiles<'a> {
    look_back: gridwise::kernel::LookBack<'a, u32>,
    begun: Words<'a>,
    before: Words<'a>,
}

// SAFETY: a tile's element is written by the one block that has claimed it.
unsafe impl Kernel for WaitsForEarlierTiles<'_> {
    const NAME: &'static str = "waits_for_earlier_tiles";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        while let Some(tile) = self.look_back.claim(acc) {
            let begun = |tile| self.begun.atomic(tile);
            begun(tile).store(acc, 1, Ordering::Release);
            let value = |tile| {
                begun(tile).wait_until(acc, Ordering::Acquire, |begun| begun == 1);
                tile as u32 + 1
            };
            let before = self.look_back.exclusive(acc, tile, value(tile), |a, b| a + b, value);
            self.before.set(acc, tile, before.unwrap_or(0));
        }
    }
}

// fault A5.1: a tile is a block's by its index, and waits for tiles of blocks that start after its own has ended.
#[test]
fn tiles_are_claimed_in_the_order_in_which_blocks_start() {
    for order in [BlockOrder::Ascending, BlockOrder::Descending, BlockOrder::Random] {
        for resident in [1, 2, 6] {
            let mut model = Model::small();
            (model.multiprocessors, model.block_order) = (resident, order);
            Builder::new().model(model).schedules(20).check(|device| {
                let queue = device.queue();
                let mut memory = queue.look_back(6).unwrap();
                let (mut begun, mut before) = (device.zeroed(6).unwrap(), device.zeroed(6).unwrap());
                let kernel = WaitsForEarlierTiles {
                    look_back: memory.fresh(&queue),
                    begun: begun.span_mut(),
                    before: before.span_mut(),
                };
                queue.launch(Blocks::Exactly(6).threads(1), kernel).unwrap();
                assert_eq!(queue.download(&before).unwrap(), [0, 1, 3, 6, 10, 15]);
            });
        }
    }
}

// fault A5.2: all but one place is taken by other work.
#[test]
fn algorithms_of_the_library_whatever_block_starts_first() {
    for order in [BlockOrder::Descending, BlockOrder::Random] {
        for held in [0, 3] {
            let mut model = Model::small();
            (model.multiprocessors, model.block_order, model.held) = (4, order, held);
            Builder::new().model(model).schedules(3).check(algorithms);
        }
    }
}

#[test]
fn a_scan_of_the_library_where_a_block_may_stop() {
    const LEN: usize = 3000;
    let mut model = Model::small();
    (model.multiprocessors, model.progress) = (4, false);
    Builder::new().model(model).schedules(20).check(|device| {
        let queue = device.queue();
        let input = queue.upload(&vec![1_u32; LEN]).unwrap();
        let mut out = device.zeroed(LEN).unwrap();
        inclusive_scan(&queue, input.span(), out.span_mut(), 0, Sum).unwrap();
        let prefixes: Vec<u32> = (1..=LEN as u32).collect();
        assert_eq!(queue.download(&out).unwrap(), prefixes);
    });
}

// fault A5.5: a wait that needs progress, on a device that promises none. Both back ends promise it; this one can be told not to.
#[test]
fn a_selection_of_the_library_needs_blocks_that_have_started_to_go_on_and_nothing_else() {
    let select = |progress| {
        let mut model = Model::small();
        (model.multiprocessors, model.block_order, model.progress) = (4, BlockOrder::Random, progress);
        Builder::new().model(model).schedules(20).run(|device| {
            let queue = device.queue();
            let input = queue.upload(&[1_u32; 500]).unwrap();
            let mut out = device.zeroed(500).unwrap();
            let selected = compact(&queue, input.span(), out.span_mut(), |_| true);
            assert!(selected.is_ok_and(|selected| selected == 500));
        })
    };
    let report = select(true);
    assert!(report.is_clean() && report.schedules == 20, "{report}");
    let report = select(false);
    assert!(
        matches!(&report.findings[..], [one] if one.kind == Kind::NoProgress),
        "{report}"
    );
}
