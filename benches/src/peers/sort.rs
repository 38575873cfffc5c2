//! Sorting numbers.

use super::rayon_pool;
use rayon::prelude::*;
use std::time::{Duration, Instant};
use voracious_radix_sort::RadixSort;

/// `n` numbers spread over the whole range, in no order.
pub fn input(n: usize) -> Vec<u32> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u32
    };
    (0..n).map(|_| random()).collect()
}

/// The time to sort a copy of the numbers, `repeats` times, without the copying; and the last result.
fn timed(numbers: &[u32], repeats: u64, mut sort: impl FnMut(&mut [u32])) -> (Duration, Vec<u32>) {
    let mut sorted = numbers.to_vec();
    let mut elapsed = Duration::ZERO;
    for _ in 0..repeats {
        sorted.copy_from_slice(numbers);
        let start = Instant::now();
        sort(&mut sorted);
        elapsed += start.elapsed();
    }
    (elapsed, sorted)
}

/// `sort_unstable` of the standard library.
pub fn std(numbers: &[u32], repeats: u64) -> (Duration, Vec<u32>) {
    timed(numbers, repeats, |numbers| numbers.sort_unstable())
}

/// The radix sort of the crate radsort, one thread.
pub fn radsort(numbers: &[u32], repeats: u64) -> (Duration, Vec<u32>) {
    timed(numbers, repeats, radsort::sort)
}

/// rayon's `par_sort_unstable`, from inside the pool.
pub fn rayon(numbers: &[u32], repeats: u64, threads: usize) -> (Duration, Vec<u32>) {
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    pool.install(|| timed(numbers, repeats, |numbers| numbers.par_sort_unstable()))
}

/// The radix sort of the crate voracious_radix_sort, on that many threads, from inside the pool. It is not stable.
pub fn voracious(numbers: &[u32], repeats: u64, threads: usize) -> (Duration, Vec<u32>) {
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    pool.install(|| timed(numbers, repeats, |numbers| numbers.voracious_mt_sort(threads)))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_peer_sorts() {
        for n in [0, 1, 1000, 100_000] {
            let numbers = &input(n);
            let (_, expected) = std(numbers, 1);
            // On a thread of its own: peers pin their caller.
            let check = || {
                assert_eq!(radsort(numbers, 2).1, expected);
                assert_eq!(rayon(numbers, 2, 2).1, expected);
                assert_eq!(voracious(numbers, 2, 2).1, expected);
            };
            std::thread::scope(|scope| scope.spawn(check).join().unwrap());
        }
    }
}
