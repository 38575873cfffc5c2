//! The block collectives on the checking device: every schedule is silent, and every weaker collective is found.

use std::ops::Range;

use crate::{
    backend::check::mutation::{Subject, append, wrong},
    check::{Builder, Explore, Model, Report},
    prelude::*,
};

/// A collective, used twice in a row, so that the second use meets what the first has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Collective {
    Broadcast,
    Reduce,
    Scan,
}

#[repr(C)]
struct Twice<'a> {
    collective: Collective,
    results: SpanMut<'a, u64>,
}

fn appended(threads: Range<usize>) -> u64 {
    threads.map(|thread| thread as u64 + 1).fold(0, append)
}

// SAFETY: a thread writes its own elements.
unsafe impl Kernel for Twice<'_> {
    const NAME: &'static str = "twice";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let (thread, threads) = (acc.thread_index(), acc.thread_count());
        let own = thread as u64 + 1;
        for round in 0..2 {
            let [first, second] = match self.collective {
                Collective::Broadcast => [acc.broadcast(|| own + round as u64), 0],
                Collective::Reduce => [acc.reduce_block(own, append), 0],
                Collective::Scan => {
                    let (before, total) = acc.exclusive_scan_block(own, 0, append);
                    [before, total]
                }
            };
            let at = 2 * (round * threads + thread);
            self.results.set(acc, at, first);
            self.results.set(acc, at + 1, second);
        }
    }
}

fn explore(collective: Collective, threads: usize, warp_size: usize) -> Report {
    let mut model = Model::small();
    model.warp_size = warp_size;
    model.exact = true;
    Builder::new().model(model).explore(Explore::Exhaustive).run(|device| {
        let queue = device.queue();
        let mut results = device.zeroed(4 * threads).unwrap();
        let kernel = Twice {
            collective,
            results: results.span_mut(),
        };
        if queue.launch(Blocks::Exactly(1).threads(threads), kernel).is_err() {
            return;
        }
        let results = queue.download(&results).unwrap();
        for (index, result) in results.chunks(2).enumerate() {
            let (round, thread) = (index / threads, index % threads);
            let expected = match collective {
                Collective::Broadcast => [1 + round as u64, 0],
                Collective::Reduce => [appended(0..threads), 0],
                Collective::Scan => [appended(0..thread), appended(0..threads)],
            };
            if result != expected {
                wrong(&format!("{collective:?}: the results of thread {thread} of {threads}"));
            }
        }
    })
}

#[test]
fn collectives_are_silent_and_right_under_every_schedule() {
    for collective in [Collective::Broadcast, Collective::Reduce, Collective::Scan] {
        // Lone threads, one warp, two warps, an incomplete second warp, and more warps than lanes.
        for (threads, warp_size) in [(2, 1), (3, 1), (2, 2), (4, 2), (3, 2), (7, 3)] {
            let report = explore(collective, threads, warp_size);
            assert!(
                report.is_clean() && report.complete,
                "{collective:?}, {threads} threads: {report}"
            );
        }
    }
}

#[test]
fn every_weaker_collective_is_found() {
    let subject = Subject {
        name: "block collectives",
        sources: &["kernel/collective/mod.rs"],
        scenarios: &[
            ("broadcast to 2 threads", || explore(Collective::Broadcast, 2, 1)),
            ("reduction by 2 warps", || explore(Collective::Reduce, 4, 2)),
            ("scan by 2 warps", || explore(Collective::Scan, 4, 2)),
        ],
        elsewhere: &[],
        unused: &[],
        equivalent: &[],
    };
    subject.score();
}
