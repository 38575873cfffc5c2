//! Histograms of bytes.

use super::rayon_pool;
use rayon::prelude::*;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// How often each byte occurs.
pub type Counts = Vec<u64>;

/// How the bytes are distributed.
#[derive(Clone, Copy, Debug)]
pub enum Spread {
    /// All values alike.
    Uniform,
    /// One value alone.
    Equal,
    /// Few values most of the time, and in no order.
    Skewed,
}

/// `len` bytes.
pub fn input(len: usize, spread: Spread) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut byte = move || match spread {
        Spread::Uniform => (random() >> 32) as u8,
        Spread::Equal => 77,
        // Half of the bytes are 0, a quarter 1, and so on; a few are any.
        Spread::Skewed => match random() >> 32 {
            any if any % 16 == 0 => (any >> 8) as u8,
            other => (other >> 8).trailing_ones() as u8,
        },
    };
    (0..len).map(|_| byte()).collect()
}

/// One table, or several that are counted into in turn, for equal bytes that follow each other.
#[inline(always)]
fn count<const TABLES: usize>(bytes: &[u8]) -> Vec<[u32; 256]> {
    let mut tables = vec![[0_u32; 256]; TABLES];
    let (chunks, rest) = bytes.as_chunks::<TABLES>();
    for chunk in chunks {
        for (table, &byte) in tables.iter_mut().zip(chunk) {
            table[usize::from(byte)] += 1;
        }
    }
    for &byte in rest {
        tables[0][usize::from(byte)] += 1;
    }
    tables
}

fn sum(tables: impl IntoIterator<Item = [u32; 256]>) -> Counts {
    let mut counts = vec![0; 256];
    for table in tables {
        counts
            .iter_mut()
            .zip(table)
            .for_each(|(count, of_table)| *count += u64::from(of_table));
    }
    counts
}

/// One thread, `TABLES` tables. Returns the time of `repeats` histograms, and one of them.
pub fn serial<const TABLES: usize>(bytes: &[u8], repeats: u64) -> (Duration, Counts) {
    let mut counts = Counts::new();
    let start = Instant::now();
    for _ in 0..repeats {
        counts = sum(count::<TABLES>(black_box(bytes)));
    }
    (start.elapsed(), counts)
}

/// rayon, a piece and `TABLES` tables a thread, from inside the pool.
pub fn rayon<const TABLES: usize>(bytes: &[u8], repeats: u64, threads: usize) -> (Duration, Counts) {
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    let piece = bytes.len().div_ceil(threads).max(1);
    pool.install(|| {
        let mut counts = Counts::new();
        let start = Instant::now();
        for _ in 0..repeats {
            let tables: Vec<_> = black_box(bytes)
                .par_chunks(piece)
                .flat_map_iter(count::<TABLES>)
                .collect();
            counts = sum(tables);
        }
        (start.elapsed(), counts)
    })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_peer_counts_alike() {
        for n in [0, 1, 7, 8, 4099] {
            for spread in [Spread::Uniform, Spread::Equal, Spread::Skewed] {
                let bytes = &input(n, spread);
                let mut expected = vec![0; 256];
                bytes.iter().for_each(|&byte| expected[usize::from(byte)] += 1);
                // On a thread of its own: peers pin their caller.
                let check = || {
                    assert_eq!(serial::<1>(bytes, 2).1, expected);
                    assert_eq!(serial::<8>(bytes, 2).1, expected);
                    assert_eq!(rayon::<1>(bytes, 2, 2).1, expected);
                    assert_eq!(rayon::<8>(bytes, 2, 2).1, expected);
                    #[cfg(openmp)]
                    for tables in [1, 8] {
                        assert_eq!(super::super::openmp::histogram(bytes, tables, 2, 2).1, expected);
                    }
                };
                std::thread::scope(|scope| scope.spawn(check).join().unwrap());
            }
        }
    }
}
