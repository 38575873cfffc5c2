//! What kernels promise to the checking device: elements stored once, queues left empty, state that is put back.

use gridwise::{
    check::{Builder, Explore, Finding, Kind, Model, Report},
    prelude::*,
};

/// Runs one schedule, and gives the findings.
fn findings(test: impl Fn(&Device)) -> Vec<Finding> {
    explore(Explore::RoundRobin, 1, test).findings
}

fn explore(explore: Explore, schedules: usize, test: impl Fn(&Device)) -> Report {
    let mut model = Model::small();
    model.multiprocessors = 4;
    Builder::new()
        .model(model)
        .explore(explore)
        .schedules(schedules)
        .run(test)
}

fn only(findings: &[Finding], kind: Kind) -> &Finding {
    match findings {
        [finding] if finding.kind == kind => finding,
        other => panic!("one {kind:?} was expected: {other:?}"),
    }
}

/// How a kernel of this file cuts its indices.
#[derive(Clone, Copy, PartialEq)]
enum Map {
    /// Each thread every n-th index.
    Right,
    /// One index a thread, as if the grid were large enough.
    NoStride,
    /// The ends of the blocks' parts overlap by one.
    Overlapping,
}

/// Stores the square of every index.
#[repr(C)]
struct Squares<'a> {
    out: SpanMut<'a, u32>,
    map: Map,
    steps: usize,
}

// SAFETY: as each test says; the wrong ones run on the checking device alone.
unsafe impl GridKernel for Squares<'_> {
    const NAME: &'static str = "squares";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        let len = self.out.len();
        let (threads, blocks) = (acc.thread_count(), acc.block_count());
        for _ in 0..self.steps {
            self.out.promise_stored_once(acc);
            let store = |i: usize| self.out.set(acc, i, (i * i) as u32);
            let me = acc.thread_index_in_grid();
            match self.map {
                Map::Right => (me..len).step_by(acc.thread_count_in_grid()).for_each(store),
                Map::NoStride => store(me),
                Map::Overlapping => {
                    let part = len / blocks;
                    let (start, end) = (acc.block_index() * part, (acc.block_index() + 1) * part + 1);
                    (start + acc.thread_index()..end.min(len))
                        .step_by(threads)
                        .for_each(store)
                }
            }
            acc.sync_grid();
        }
    }
}

fn squares(map: Map, len: usize, steps: usize) -> Vec<Finding> {
    findings(|device| {
        let mut out = device.zeroed(len).unwrap();
        let kernel = Squares {
            out: out.span_mut(),
            map,
            steps,
        };
        let _ = device.queue().launch_cooperative(Blocks::Exactly(2).threads(2), kernel);
    })
}

#[test]
fn an_index_map_that_covers_everything_once_is_silent_in_every_step() {
    for steps in [1, 2, 5] {
        assert!(squares(Map::Right, 30, steps).is_empty());
    }
}

#[test]
fn indices_that_are_never_stored_are_listed_with_their_buffer() {
    for steps in [1, 3] {
        let findings = squares(Map::NoStride, 10, steps);
        let finding = only(&findings, Kind::NeverCovered);
        let text = finding.to_string();
        for part in [
            "element 4 of buffer 0, made at gridwise/tests/check_promises.rs",
            "6 of 10 elements were not stored: 4 to 9",
            "promise at gridwise/tests/check_promises.rs",
        ] {
            assert!(text.contains(part), "`{part}` is not in {text}");
        }
    }
}

#[test]
fn an_index_that_is_stored_twice_is_named_with_both_stores() {
    let findings = squares(Map::Overlapping, 8, 1);
    let twice: Vec<_> = findings
        .iter()
        .filter(|finding| finding.kind == Kind::CoveredTwice)
        .collect();
    let [finding] = twice.as_slice() else {
        panic!("{findings:?}")
    };
    let second = finding.second.unwrap();
    assert_ne!(finding.first.block, second.block);
    let text = finding.to_string();
    for part in [
        "element 4 of buffer 0, made at gridwise/tests/check_promises.rs",
        "first    plain store at gridwise/tests/check_promises.rs",
        "second   plain store at gridwise/tests/check_promises.rs",
        "promised at gridwise/tests/check_promises.rs",
    ] {
        assert!(text.contains(part), "`{part}` is not in {text}");
    }
}

/// Marks what blocks claim of a queue.
#[repr(C)]
struct Claimed<'a, const STEP: usize> {
    chunks: ChunkCounter<'a>,
    pieces: TwoLevelQueue<'a>,
    marks: SpanMut<'a, u32>,
    leave: Leave,
}

#[derive(Clone, Copy, PartialEq)]
enum Leave {
    Nothing,
    Unsaid,
    Said,
}

// SAFETY: what a block claims is its own.
unsafe impl<const STEP: usize> Kernel for Claimed<'_, STEP> {
    const NAME: &'static str = "claimed";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let half = self.marks.len() / 2;
        let (of_chunks, of_pieces) = (self.marks.slice(acc, ..half), self.marks.slice(acc, half..));
        if self.leave == Leave::Nothing {
            of_chunks.promise_stored_once(acc);
            of_pieces.promise_stored_once(acc);
        }
        for chunk in self.chunks.claims(acc) {
            for i in chunk.skip(acc.thread_index()).step_by(STEP * acc.thread_count()) {
                of_chunks.set(acc, i, 1);
            }
            if self.leave != Leave::Nothing {
                break;
            }
        }
        for piece in self.pieces.claims(acc) {
            for i in acc.threads_in_block(piece) {
                of_pieces.set(acc, i, 1);
            }
            if self.leave != Leave::Nothing {
                break;
            }
        }
        if self.leave == Leave::Said {
            self.chunks.leave_the_rest(acc);
            self.pieces.leave_the_rest(acc);
        }
    }
}

fn claimed<const STEP: usize>(device: &Device, leave: Leave) {
    let queue = device.queue();
    let len = 40;
    let mut chunks = queue.chunks(len, Chunking::Fixed(5)).unwrap();
    let mut pieces = queue.pieces(len, 2, 3).unwrap();
    let mut marks = device.zeroed(2 * len).unwrap();
    let kernel = Claimed::<STEP> {
        chunks: chunks.fresh(&queue),
        pieces: pieces.fresh(&queue),
        marks: marks.span_mut(),
        leave,
    };
    let _ = queue.launch(Blocks::Exactly(3).threads(2), kernel);
}

#[test]
fn what_blocks_claim_covers_everything_once() {
    let report = explore(Explore::Random, 30, |device| claimed::<1>(device, Leave::Nothing));
    assert!(report.is_clean(), "{report}");
    let found = findings(|device| claimed::<2>(device, Leave::Nothing));
    only(&found, Kind::NeverCovered);
}

#[test]
fn chunks_and_pieces_that_nobody_claims_are_unfinished_work() {
    let report = explore(Explore::Random, 10, |device| claimed::<1>(device, Leave::Unsaid));
    assert_eq!(report.findings.len(), 2, "{report}");
    for (finding, part) in report.findings.iter().zip([
        "stands at 15, and everything is taken at 40",
        "everything is taken at 2",
    ]) {
        assert_eq!(finding.kind, Kind::UnfinishedWork, "{report}");
        assert!(finding.to_string().contains(part), "{report}");
        assert!(finding.first.location.file().ends_with("check_promises.rs"), "{report}");
    }
    let report = explore(Explore::Random, 10, |device| claimed::<1>(device, Leave::Said));
    assert!(report.is_clean(), "{report}");
}

/// A counter that the last to come puts back, or does not.
#[repr(C)]
struct Counted<'a> {
    words: SpanMut<'a, u32>,
    puts_back: bool,
}

// SAFETY: atomics.
unsafe impl Kernel for Counted<'_> {
    const NAME: &'static str = "counted";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let count = self.words.atomic(1);
        count.promise_began_at(acc, 0);
        if self.puts_back {
            count.promise_ends_at(acc, 0);
        }
        if count.fetch_add(acc, 1, Ordering::Relaxed) + 1 == acc.block_count() as u32 && self.puts_back {
            count.store(acc, 0, Ordering::Relaxed);
        }
    }
}

#[test]
fn state_that_an_earlier_launch_left_is_named_with_its_last_store() {
    for (puts_back, resets, silent) in [(true, false, true), (false, true, true), (false, false, false)] {
        let found = findings(|device| {
            let queue = device.queue();
            let mut words = device.zeroed(2).unwrap();
            for _ in 0..2 {
                let kernel = Counted {
                    words: words.span_mut(),
                    puts_back,
                };
                let _ = queue.launch(Blocks::Exactly(3).threads(1), kernel);
                if resets {
                    queue.fill(words.span_mut(), 0);
                }
            }
        });
        assert_eq!(found.is_empty(), silent, "{found:?}");
        if silent {
            continue;
        }
        let text = only(&found, Kind::StaleState).to_string();
        for part in [
            "element 1 of buffer 0",
            "first    last store at gridwise/tests/check_promises.rs",
            "second   promise at gridwise/tests/check_promises.rs",
            "it held 3 when the launch began, and 0 is promised",
        ] {
            assert!(text.contains(part), "`{part}` is not in {text}");
        }
    }
}

/// Pushes more than it pops.
#[repr(C)]
struct OwnQueue<'a> {
    words: SpanMut<'a, u32>,
    pops: u32,
}

// SAFETY: atomics.
unsafe impl Kernel for OwnQueue<'_> {
    const NAME: &'static str = "own_queue";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let left = self.words.atomic(0);
        left.promise_ends_at(acc, 0);
        left.fetch_add(acc, 2, Ordering::Relaxed);
        left.fetch_sub(acc, self.pops, Ordering::Relaxed);
    }
}

#[test]
fn a_queue_of_ones_own_that_is_not_empty_is_unfinished_work() {
    for (pops, silent) in [(2, true), (1, false)] {
        let found = findings(|device| {
            let mut words = device.zeroed(1).unwrap();
            let words = words.span_mut();
            let _ = device
                .queue()
                .launch(Blocks::Exactly(2).threads(1), OwnQueue { words, pops });
        });
        assert_eq!(found.is_empty(), silent, "{found:?}");
        if !silent {
            let text = only(&found, Kind::UnfinishedWork).to_string();
            assert!(
                text.contains("it holds 2 at the end of the launch, and 0 is promised"),
                "{text}"
            );
            assert!(
                text.contains("second   last store at gridwise/tests/check_promises.rs"),
                "{text}"
            );
        }
    }
}
