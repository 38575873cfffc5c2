//! Inclusive prefix sums of u32, and compaction: the elements that 3 divides, in order.

use super::barrier::{Barrier, OneLine, Pause};
use super::{rayon_pool, shared::SharedSlice, team};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Elements of a tile by hand: as in ours.
const TILE: usize = 16 << 10;

/// `n` numbers that look random.
pub fn input(n: usize) -> Vec<u32> {
    (0..n as u32)
        .map(|i| {
            let x = i.wrapping_mul(2_654_435_761);
            x ^ (x >> 15)
        })
        .collect()
}

/// Whether an element is kept.
#[inline(always)]
pub fn keep(element: u32) -> bool {
    element.is_multiple_of(3)
}

#[inline(always)]
fn sum(input: &[u32]) -> u32 {
    input.iter().fold(0, |sum, &x| sum.wrapping_add(x))
}

#[inline(always)]
fn scan(input: &[u32], out: &mut [u32], mut sum: u32) {
    for (out, &x) in out.iter_mut().zip(input) {
        sum = sum.wrapping_add(x);
        *out = sum;
    }
}

/// One thread, one pass. Returns the time of `repeats`.
pub fn scan_serial(input: &[u32], out: &mut [u32], repeats: u64) -> Duration {
    let start = Instant::now();
    for _ in 0..repeats {
        scan(input, out, 0);
        std::hint::black_box(&mut *out);
    }
    start.elapsed()
}

/// Decoupled look-back by hand, on pinned threads: state and sum of a tile in one word each.
pub fn scan_look_back(input: &[u32], out: &mut [u32], repeats: u64, threads: usize) -> Duration {
    const AGGREGATE: u64 = 1 << 32;
    const PREFIX: u64 = 2 << 32;
    let n = input.len();
    let out = SharedSlice::new(out);
    let tiles: Vec<Vec<AtomicU64>> = (0..repeats)
        .map(|_| (0..n.div_ceil(TILE)).map(|_| AtomicU64::new(0)).collect())
        .collect();
    let next: Vec<AtomicUsize> = (0..repeats).map(|_| AtomicUsize::new(0)).collect();
    let barrier = OneLine::<Pause>::new(threads);
    team::run(threads, |_| {
        barrier.wait(&mut ());
        let start = Instant::now();
        for (tiles, next) in tiles.iter().zip(&next) {
            loop {
                let tile = next.fetch_add(1, Ordering::Relaxed);
                if tile >= tiles.len() {
                    break;
                }
                let own = tile * TILE..n.min((tile + 1) * TILE);
                let aggregate = sum(&input[own.clone()]);
                let mut before = 0_u32;
                if tile > 0 {
                    tiles[tile].store(AGGREGATE | u64::from(aggregate), Ordering::Release);
                    let mut at = tile - 1;
                    loop {
                        let word = tiles[at].load(Ordering::Acquire);
                        if word == 0 {
                            std::hint::spin_loop();
                            continue;
                        }
                        before = before.wrapping_add(word as u32);
                        if word & PREFIX != 0 {
                            break;
                        }
                        at -= 1;
                    }
                }
                tiles[tile].store(PREFIX | u64::from(before.wrapping_add(aggregate)), Ordering::Release);
                // SAFETY: a tile is claimed by one thread.
                scan(&input[own.clone()], unsafe { out.get_mut(own) }, before);
            }
            barrier.wait(&mut ());
        }
        start.elapsed()
    })
}

/// rayon, a share a thread, from inside the pool: sums of the shares, then the shares.
pub fn scan_rayon(input: &[u32], out: &mut [u32], repeats: u64, threads: usize) -> Duration {
    let share = input.len().div_ceil(threads).max(1);
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    pool.install(|| {
        let start = Instant::now();
        for _ in 0..repeats {
            let mut before: Vec<u32> = input.par_chunks(share).map(sum).collect();
            let mut all = 0_u32;
            for before in &mut before {
                all = all.wrapping_add(std::mem::replace(before, all));
            }
            let shares = input.par_chunks(share).zip(out.par_chunks_mut(share)).zip(before);
            shares.for_each(|((input, out), before)| scan(input, out, before));
        }
        start.elapsed()
    })
}

/// Moves what is kept of `input` to the front of `out`; returns how much it is. Without a branch, as long as there is room.
#[inline(always)]
fn compact(input: &[u32], out: &mut [u32]) -> usize {
    let mut at = 0;
    let mut elements = input.iter();
    while at < out.len()
        && let Some(&element) = elements.next()
    {
        out[at] = element;
        at += usize::from(keep(element));
    }
    at
}

/// One thread, one pass. Returns the time of `repeats`, and how many are kept.
pub fn compact_serial(input: &[u32], out: &mut [u32], repeats: u64) -> (Duration, usize) {
    let (start, mut kept) = (Instant::now(), 0);
    for _ in 0..repeats {
        kept = compact(input, out);
        std::hint::black_box(&mut *out);
    }
    (start.elapsed(), kept)
}

/// rayon, two passes: numbers kept of the shares, then the shares, each into its own part.
pub fn compact_rayon(input: &[u32], out: &mut [u32], repeats: u64, threads: usize) -> (Duration, usize) {
    let share = input.len().div_ceil(threads).max(1);
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ());
    pool.install(|| {
        let (start, mut kept) = (Instant::now(), 0);
        for _ in 0..repeats {
            let counts: Vec<usize> = input
                .par_chunks(share)
                .map(|share| share.iter().filter(|&&element| keep(element)).count())
                .collect();
            let (mut parts, mut rest) = (Vec::new(), &mut *out);
            for &count in &counts {
                let (part, after) = rest.split_at_mut(count);
                parts.push(part);
                rest = after;
            }
            input.par_chunks(share).zip(parts).for_each(|(input, part)| {
                compact(input, part);
            });
            kept = counts.iter().sum();
        }
        (start.elapsed(), kept)
    })
}

/// rayon as it is first written: filter and collect.
pub fn compact_rayon_filter(input: &[u32], repeats: u64, threads: usize) -> (Duration, Vec<u32>) {
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ());
    pool.install(|| {
        let (start, mut kept) = (Instant::now(), Vec::new());
        for _ in 0..repeats {
            kept = input.par_iter().copied().filter(|&element| keep(element)).collect();
        }
        (start.elapsed(), kept)
    })
}

#[cfg(test)]
mod test {
    use super::*;

    const LENGTHS: [usize; 6] = [0, 1, TILE - 1, TILE, TILE + 1, 5 * TILE + 77];

    #[test]
    fn every_peer_gives_the_prefixes_of_the_serial_loop() {
        for n in LENGTHS {
            let input = &input(n);
            let mut expected = vec![0; n];
            scan_serial(input, &mut expected, 1);
            let check = |name: &str, run: &(dyn Fn(&mut [u32]) -> Duration + Sync)| {
                let mut out = vec![0; n];
                // On a thread of its own: peers pin their caller.
                std::thread::scope(|scope| scope.spawn(|| run(&mut out)).join().unwrap());
                assert!(out == expected, "{name}, {n}");
            };
            check("look-back", &|out| scan_look_back(input, out, 2, 3));
            check("rayon", &|out| scan_rayon(input, out, 2, 2));
            #[cfg(openmp)]
            check("OpenMP", &|out| super::super::openmp::scan(input, out, 2, 2));
        }
    }

    #[test]
    fn every_peer_keeps_what_the_filter_keeps() {
        for n in LENGTHS {
            let input = &input(n);
            let expected: Vec<u32> = input.iter().copied().filter(|&element| keep(element)).collect();
            let check = |name: &str, run: &(dyn Fn(&mut [u32]) -> (Duration, usize) + Sync)| {
                let mut out = vec![0; n];
                let (_, kept) = std::thread::scope(|scope| scope.spawn(|| run(&mut out)).join().unwrap());
                assert!(out[..kept] == expected, "{name}, {n}");
            };
            check("serial", &|out| compact_serial(input, out, 2));
            check("rayon", &|out| compact_rayon(input, out, 2, 2));
            #[cfg(openmp)]
            check("OpenMP", &|out| super::super::openmp::compact(input, out, 2, 2));
            assert!(compact_rayon_filter(input, 1, 2).1 == expected);
        }
    }
}
