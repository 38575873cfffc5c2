//! Sums of an array.

use super::rayon_pool;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What is summed.
pub trait Number: Copy + Send + Sync + PartialEq + std::fmt::Debug {
    /// All of a slice, in order.
    fn sum(numbers: &[Self]) -> Self;
    /// A sum of two.
    fn plus(self, other: Self) -> Self;
    /// The sum of nothing.
    const ZERO: Self;
}

impl Number for u32 {
    const ZERO: Self = 0;
    fn sum(numbers: &[Self]) -> Self {
        numbers.iter().fold(0, |sum: u32, &number| sum.wrapping_add(number))
    }
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Number for f64 {
    const ZERO: Self = 0.0;
    fn sum(numbers: &[Self]) -> Self {
        numbers.iter().sum()
    }
    fn plus(self, other: Self) -> Self {
        self + other
    }
}

/// One thread. Returns the time of `repeats` sums, and one of them.
pub fn serial<T: Number>(numbers: &[T], repeats: u64) -> (Duration, T) {
    let mut sum = T::ZERO;
    let start = Instant::now();
    for _ in 0..repeats {
        sum = black_box(T::sum(black_box(numbers)));
    }
    (start.elapsed(), sum)
}

/// rayon, a piece a thread, from inside the pool.
pub fn rayon<T: Number>(numbers: &[T], repeats: u64, threads: usize) -> (Duration, T) {
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    let piece = numbers.len().div_ceil(threads).max(1);
    pool.install(|| {
        let mut sum = T::ZERO;
        let start = Instant::now();
        for _ in 0..repeats {
            sum = black_box(numbers)
                .par_chunks(piece)
                .map(T::sum)
                .reduce(|| T::ZERO, T::plus);
        }
        (start.elapsed(), sum)
    })
}

/// rayon as it is first written: a parallel iterator over the elements, rayon choosing the pieces, from inside the pool.
pub fn rayon_elements<T: Number>(numbers: &[T], repeats: u64, threads: usize) -> (Duration, T) {
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    pool.install(|| {
        let mut sum = T::ZERO;
        let start = Instant::now();
        for _ in 0..repeats {
            sum = black_box(numbers).par_iter().copied().reduce(|| T::ZERO, T::plus);
        }
        (start.elapsed(), sum)
    })
}

#[cfg(test)]
mod test {
    use super::*;

    fn agree<T: Number>(numbers: &[T]) {
        let (_, expected) = serial(numbers, 1);
        let numbers = numbers.to_vec();
        // On a thread of its own: peers pin their caller.
        let check = move || {
            assert_eq!(rayon(&numbers, 2, 2).1, expected);
            assert_eq!(rayon_elements(&numbers, 2, 2).1, expected);
        };
        std::thread::scope(|scope| scope.spawn(check).join().unwrap());
    }

    #[test]
    fn every_peer_gives_the_same_sum() {
        for n in [0, 1, 2, 1000, 4097] {
            let integers: Vec<u32> = (0..n).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
            agree(&integers);
            // Whole numbers, whose sums are exact in any order.
            agree(&integers.iter().map(|&i| f64::from(i)).collect::<Vec<_>>());
            #[cfg(openmp)]
            std::thread::scope(|scope| {
                let check = || {
                    use super::super::openmp::{sum_f64, sum_u32};
                    assert_eq!(sum_u32(&integers, 2, 2).1, serial(&integers, 1).1);
                    let floats: Vec<f64> = integers.iter().map(|&i| f64::from(i)).collect();
                    assert_eq!(sum_f64(&floats, 2, 2).1, serial(&floats, 1).1);
                };
                scope.spawn(check).join().unwrap();
            });
        }
    }
}
