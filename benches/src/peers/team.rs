//! Threads by hand: one function, run once by each of a team of pinned threads.

use crate::affinity;
use std::ops::Range;
use std::thread;

/// Runs `body(rank)` on `threads` threads, pinned by rank; the caller is rank 0. Returns what rank 0 returned, once all have.
///
/// `body` must not panic where others wait for it: they would wait for ever.
///
/// # Panics
///
/// If `threads` is 0.
pub fn run<R>(threads: usize, body: impl Fn(usize) -> R + Sync) -> R {
    assert!(threads > 0, "a team has at least one thread");
    thread::scope(|scope| {
        let body = &body;
        for rank in 1..threads {
            scope.spawn(move || {
                affinity::pin(rank);
                body(rank);
            });
        }
        affinity::pin(0); // after the others exist: they inherit it
        body(0)
    })
}

/// Share `rank` of `parts` of `0..count`: contiguous, sizes differing by one at most.
pub fn share(count: usize, rank: usize, parts: usize) -> Range<usize> {
    count * rank / parts..count * (rank + 1) / parts
}

#[cfg(test)]
mod test {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn every_rank_runs_once_and_rank_0_answers() {
        let ranks = AtomicUsize::new(0);
        let answer = thread::spawn(move || {
            let answer = run(5, |rank| {
                ranks.fetch_add(1 << (4 * rank), Ordering::Relaxed);
                rank + 10
            });
            (answer, ranks.into_inner())
        });
        assert_eq!(answer.join().unwrap(), (10, 0x11111));
    }

    #[test]
    fn shares_cover_everything_once() {
        for count in [0, 1, 2, 3, 7, 64, 1021] {
            for parts in 1..9 {
                let ends: Vec<_> = (0..parts).map(|rank| share(count, rank, parts)).collect();
                assert!(ends.windows(2).all(|pair| pair[0].end == pair[1].start));
                assert_eq!((ends[0].start, ends[parts - 1].end), (0, count));
            }
        }
    }
}
