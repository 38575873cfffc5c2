//! Neighbour sum over chunks, i32: each element plus the next one of its chunk, wrapping at the chunk's end. Bound by memory once it is written well.

use super::barrier::{Barrier, OneLine};
use super::shared::SharedSlice;
use super::{rayon_pool, team};
use rayon::prelude::*;
use std::time::{Duration, Instant};

/// `n` numbers to begin with, spread over the whole range, so that sums wrap.
pub fn input(n: usize) -> Vec<i32> {
    (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761) as i32).collect()
}

/// One chunk; the last element wraps around to the first, outside the loop.
#[inline(always)]
pub fn chunk_sum(input: &[i32], out: &mut [i32]) {
    let n = out.len();
    let input = &input[..n];
    let (Some(&first), Some(&last)) = (input.first(), input.last()) else {
        return;
    };
    let next = &input[1..];
    for i in 0..n - 1 {
        out[i] = input[i].wrapping_add(next[i]);
    }
    out[n - 1] = last.wrapping_add(first);
}

/// All chunks of these parts; `input` and `out` begin at the beginning of a chunk.
#[inline(always)]
fn chunks_sum(input: &[i32], out: &mut [i32], chunk: usize) {
    for (input, out) in input.chunks(chunk).zip(out.chunks_mut(chunk)) {
        chunk_sum(input, out);
    }
}

/// One thread. Returns the time of `repeats` passes.
pub fn serial(input: &[i32], out: &mut [i32], chunk: usize, repeats: u64) -> Duration {
    let start = Instant::now();
    for _ in 0..repeats {
        chunks_sum(input, out, chunk);
        std::hint::black_box(&mut *out);
    }
    start.elapsed()
}

/// A raw loop on pinned threads, a contiguous share of the chunks each, a barrier after each pass.
pub fn by_hand(input: &[i32], out: &mut [i32], chunk: usize, repeats: u64, threads: usize) -> Duration {
    let n = out.len();
    let out = SharedSlice::new(out);
    let barrier = OneLine::<super::barrier::Pause>::new(threads);
    team::run(threads, |rank| {
        let chunks = team::share(n.div_ceil(chunk), rank, threads);
        let own = (chunks.start * chunk).min(n)..(chunks.end * chunk).min(n);
        barrier.wait(&mut ());
        let start = Instant::now();
        for _ in 0..repeats {
            // SAFETY: ranks own disjoint chunks, and nobody else looks at `out` before all threads have ended.
            let out = unsafe { out.get_mut(own.clone()) };
            chunks_sum(&input[own.clone()], out, chunk);
            barrier.wait(&mut ());
        }
        start.elapsed()
    })
}

/// rayon, one piece of whole chunks a thread, from inside the pool.
pub fn rayon(input: &[i32], out: &mut [i32], chunk: usize, repeats: u64, threads: usize) -> Duration {
    rayon_in_pieces(input, out, chunk, repeats, threads, |chunks| chunks.div_ceil(threads))
}

/// rayon as it is first written: a parallel iterator over the chunks, rayon choosing the pieces, from inside the pool.
pub fn rayon_chunks(input: &[i32], out: &mut [i32], chunk: usize, repeats: u64, threads: usize) -> Duration {
    rayon_in_pieces(input, out, chunk, repeats, threads, |_| 1)
}

fn rayon_in_pieces(
    input: &[i32],
    out: &mut [i32],
    chunk: usize,
    repeats: u64,
    threads: usize,
    chunks_in_piece: impl FnOnce(usize) -> usize,
) -> Duration {
    let piece = chunk * chunks_in_piece(out.len().div_ceil(chunk)).max(1);
    let pool = rayon_pool(threads);
    pool.broadcast(|_| ()); // all awake and pinned
    pool.install(|| {
        let start = Instant::now();
        for _ in 0..repeats {
            let pieces = input.par_chunks(piece).zip(out.par_chunks_mut(piece));
            pieces.for_each(|(input, out)| chunks_sum(input, out, chunk));
        }
        start.elapsed()
    })
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn every_peer_agrees_with_the_definition() {
        let chunk = 16;
        for n in [0, 1, 2, 15, 16, 17, 1000, 1024] {
            let input = &input(n);
            let next = |i: usize| {
                let first = i / chunk * chunk;
                first + (i - first + 1) % chunk.min(n - first)
            };
            let expected: Vec<i32> = (0..n).map(|i| input[i].wrapping_add(input[next(i)])).collect();
            let check = |name: &str, run: &(dyn Fn(&mut [i32]) -> Duration + Sync)| {
                let mut out = vec![0; n];
                // On a thread of its own: peers pin their caller.
                std::thread::scope(|scope| scope.spawn(|| run(&mut out)).join().unwrap());
                assert_eq!(out, expected, "{name}, {n}");
            };
            check("serial", &|out| serial(input, out, chunk, 2));
            check("by hand", &|out| by_hand(input, out, chunk, 2, 2));
            check("rayon", &|out| rayon(input, out, chunk, 2, 3));
            check("rayon over chunks", &|out| rayon_chunks(input, out, chunk, 2, 2));
            #[cfg(openmp)]
            check("OpenMP", &|out| {
                super::super::openmp::neighbour_sum(input, out, chunk, 2, 2)
            });
        }
    }
}
