//! A loop over independent items, dealt out while it runs: a counter by hand, and rayon's splitting.

use super::launch::median_times;
use super::rayon_pool;
use super::spinning_pool::SpinningPool;
use crate::busy;
use crossbeam_utils::CachePadded;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Items that take a number of steps each, and what all of them together come to.
#[derive(Debug)]
pub struct Items {
    steps: Vec<u32>,
    sum: u64,
}

impl Items {
    /// Items that take that many steps each.
    pub fn new(steps: Vec<u32>) -> Self {
        let sum = (0..steps.len()).fold(0, |sum: u64, index| sum.wrapping_add(item(&steps, index)));
        Self { steps, sum }
    }

    /// `len` items of the same length.
    pub fn even(len: usize, steps: u64) -> Self {
        Self::new(vec![steps as u32; len])
    }

    /// `len` items of growing length, with that mean: as the rows of a triangle.
    pub fn growing(len: usize, mean: u64) -> Self {
        Self::new(
            (0..len)
                .map(|index| (2 * mean * index as u64 / len as u64) as u32)
                .collect(),
        )
    }

    /// `len` items of very different length in random places: the longest takes `longest` steps, the one of rank *r* a part *1/r* of that.
    pub fn zipf(len: usize, longest: u64) -> Self {
        let mut steps: Vec<u32> = (1..=len as u64).map(|rank| (longest / rank).max(1) as u32).collect();
        let mut random = 0x9e37_79b9_7f4a_7c15_u64;
        for index in (1..len).rev() {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            steps.swap(index, random as usize % (index + 1));
        }
        Self::new(steps)
    }

    /// `len` items with that mean, most of it in one place: a tenth of them, past the middle, takes nine tenths of the time. As the rows
    /// of a picture, or of a sparse matrix with a dense block.
    pub fn clustered(len: usize, mean: u64) -> Self {
        let (dense, sparse) = (9 * mean, mean / 9);
        let place = len * 3 / 5..len * 7 / 10;
        Self::new(
            (0..len)
                .map(|index| if place.contains(&index) { dense } else { sparse } as u32)
                .collect(),
        )
    }

    /// Steps of each item.
    pub fn steps(&self) -> &[u32] {
        &self.steps
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.steps.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Panics unless `passes` passes over all items have this sum.
    ///
    /// # Panics
    ///
    /// See above.
    pub fn check(&self, sum: u64, passes: u64) {
        assert_eq!(sum, self.sum.wrapping_mul(passes), "an item was left out or done twice");
    }
}

/// What is done for one item. Never inlined, so that all contenders in Rust run the same instructions: whether the end of the inner loop is predicted
/// depends on them, and is half of the difference between contenders otherwise.
#[inline(never)]
pub fn item(steps: &[u32], index: usize) -> u64 {
    busy::work(u64::from(steps[index]), index as u64 + 1)
}

/// What is done for a range of items.
#[inline(always)]
pub fn range(steps: &[u32], range: std::ops::Range<usize>) -> u64 {
    range.fold(0, |sum, index| sum.wrapping_add(item(steps, index)))
}

/// What a thread does in [`by_hand`]: claims until nothing is left.
#[inline(always)]
fn claimed(steps: &[u32], next: &AtomicUsize, chunk: usize) -> u64 {
    let mut own = 0_u64;
    loop {
        let first = next.fetch_add(chunk, Ordering::Relaxed);
        if first >= steps.len() {
            return own;
        }
        own = own.wrapping_add(range(steps, first..steps.len().min(first + chunk)));
    }
}

/// One counter, and `chunk` items a claim, on threads that spin between the passes.
pub fn by_hand(items: &Items, chunk: usize, passes: u64, threads: usize) -> Duration {
    let mut pool = SpinningPool::new(threads);
    let sum = CachePadded::new(AtomicU64::new(0));
    let next = CachePadded::new(AtomicUsize::new(0));
    let steps = items.steps();
    let start = Instant::now();
    for _ in 0..passes {
        next.store(0, Ordering::Relaxed);
        pool.launch(&|_| {
            let own = claimed(steps, &next, chunk);
            sum.fetch_add(own, Ordering::Relaxed);
        });
    }
    let elapsed = start.elapsed();
    items.check(sum.load(Ordering::Relaxed), passes);
    elapsed
}

/// A parallel iterator, split as rayon likes.
pub fn rayon(items: &Items, passes: u64, threads: usize) -> Duration {
    rayon_pool(threads).install(|| {
        let (mut sum, steps) = (0_u64, items.steps());
        let start = Instant::now();
        for _ in 0..passes {
            let pass = (0..items.len()).into_par_iter().map(|index| item(steps, index));
            sum = sum.wrapping_add(pass.reduce(|| 0, u64::wrapping_add));
        }
        let elapsed = start.elapsed();
        items.check(sum, passes);
        elapsed
    })
}

/// As [`by_hand`], but returns how long the first thread that found nothing more waited for the last: in the median pass, times the passes.
pub fn drain_by_hand(items: &Items, chunk: usize, passes: u64, threads: usize) -> Duration {
    let mut pool = SpinningPool::new(threads);
    let next = CachePadded::new(AtomicUsize::new(0));
    let ends: Vec<CachePadded<AtomicU64>> = (0..threads).map(|_| CachePadded::default()).collect();
    let sum = CachePadded::new(AtomicU64::new(0));
    let steps = items.steps();
    let base = Instant::now();
    let mut spreads = Vec::new();
    for _ in 0..passes {
        next.store(0, Ordering::Relaxed);
        pool.launch(&|rank| {
            let own = claimed(steps, &next, chunk);
            ends[rank].store(base.elapsed().as_nanos() as u64, Ordering::Relaxed);
            sum.fetch_add(own, Ordering::Relaxed);
        });
        spreads.push(spread(ends.iter().map(|end| end.load(Ordering::Relaxed))));
    }
    items.check(sum.load(Ordering::Relaxed), passes);
    median_times(spreads)
}

/// The latest less the earliest, in nanoseconds.
pub fn spread(ends: impl Iterator<Item = u64> + Clone) -> Duration {
    Duration::from_nanos(ends.clone().max().unwrap_or(0) - ends.min().unwrap_or(0))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_peer_does_every_item_once() {
        for items in [
            Items::even(1000, 3),
            Items::growing(1001, 5),
            Items::zipf(500, 100),
            Items::clustered(500, 9),
        ] {
            std::thread::scope(|scope| {
                let sample = scope.spawn(|| {
                    for chunk in [1, 7, 64] {
                        assert!(by_hand(&items, chunk, 2, 2) > Duration::ZERO);
                        let _ = drain_by_hand(&items, chunk, 2, 2);
                    }
                    assert!(rayon(&items, 2, 2) > Duration::ZERO);
                });
                sample.join().unwrap();
            });
        }
    }

    #[test]
    #[should_panic(expected = "left out")]
    fn an_item_left_out_is_found_out() {
        let items = Items::even(10, 3);
        items.check(range(items.steps(), 0..9), 1);
    }
}
