//! The chunk counter and the two-level queue: each index is handed out once.

use super::*;
use crate::host::tasks::Chunking;

/// Counts how often each index is handed out.
#[repr(C)]
struct Handed<'a, C> {
    claims: C,
    counts: SpanMut<'a, u32>,
}

// SAFETY: each index is handed out once, which is what the tests are about.
unsafe impl Kernel for Handed<'_, ChunkCounter<'_>> {
    const NAME: &'static str = "chunks";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for chunk in self.claims.claims(acc) {
            count(acc, &self.counts, chunk);
        }
    }
}

// SAFETY: as above.
unsafe impl Kernel for Handed<'_, TwoLevelQueue<'_>> {
    const NAME: &'static str = "pieces";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        for piece in self.claims.claims(acc) {
            count(acc, &self.counts, piece);
        }
    }
}

fn count<A: Acc>(acc: A, counts: &SpanMut<'_, u32>, range: std::ops::Range<usize>) {
    for index in acc.threads_in_block(range) {
        counts.set(acc, index, counts.get(acc, index) + 1);
    }
}

fn each_once(queue: &Queue, counts: &Buffer<u32>) {
    if queue.download(counts).unwrap().iter().any(|count| *count != 1) {
        wrong("how often indices are handed out");
    }
}

fn chunks(how: How, threads: usize, len: usize, chunking: Chunking) -> Report {
    explore(how, 2, |device| {
        let queue = device.queue();
        let mut counts = device.zeroed(len).unwrap();
        let mut chunks = queue.chunks(len, chunking).unwrap();
        let kernel = Handed {
            claims: chunks.fresh(&queue),
            counts: counts.span_mut(),
        };
        if queue.launch(Blocks::Exactly(2).threads(threads), kernel).is_ok() {
            each_once(&queue, &counts);
        }
    })
}

fn pieces(how: How, threads: usize, len: usize, per_block: usize, small: usize) -> Report {
    explore(how, 2, |device| {
        let queue = device.queue();
        let mut counts = device.zeroed(len).unwrap();
        let mut pieces = queue.pieces(len, per_block, small).unwrap();
        let kernel = Handed {
            claims: pieces.fresh(&queue),
            counts: counts.span_mut(),
        };
        if queue.launch(Blocks::Exactly(2).threads(threads), kernel).is_ok() {
            each_once(&queue, &counts);
        }
    })
}

#[test]
fn chunk_counters_are_silent_under_every_schedule() {
    let factoring = Chunking::Factoring { minimum: 1 };
    let guided = Chunking::Guided { divisor: 2, minimum: 1 };
    for (name, chunking) in [
        ("fixed", Chunking::Fixed(2)),
        ("factoring", factoring),
        ("guided", guided),
    ] {
        for threads in [1, 2] {
            is_silent(
                &format!("{name}, {threads} threads"),
                &chunks(How::All, threads, 5, chunking),
            );
        }
    }
}

#[test]
fn two_level_queues_are_silent_under_every_schedule() {
    for threads in [1, 2] {
        is_silent(
            &format!("2 pieces, {threads} threads"),
            &pieces(How::All, threads, 4, 1, 1),
        );
    }
}

#[test]
fn every_weaker_chunk_counter_is_found() {
    let subject = Subject {
        name: "chunk counter",
        sources: &["kernel/queue/chunk_counter.rs"],
        scenarios: &[("fixed", || chunks(How::First, 1, 4, Chunking::Fixed(2)))],
        elsewhere: &[],
        unused: &[],
        equivalent: &[],
    };
    subject.score();
}

#[test]
fn every_weaker_two_level_queue_is_found() {
    let subject = Subject {
        name: "two-level queue",
        sources: &["kernel/queue/two_level.rs"],
        scenarios: &[("2 pieces", || pieces(How::First, 1, 4, 1, 1))],
        elsewhere: &[],
        unused: &[],
        equivalent: &[Equivalent {
            line: "let piece = self.words.atomic(0).fetch_add(acc, 1, Ordering::Relaxed);",
            changes: &["Split"],
            because: "Two blocks may then own one large piece, and an old count may come back. Small pieces are claimed from the \
                      piece's own counter, whoever owns it, and whoever stores n has claimed n - 1: no piece is left out or \
                      handed out twice.",
        }],
    };
    subject.score();
}
