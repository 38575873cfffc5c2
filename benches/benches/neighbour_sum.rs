//! Nanoseconds per element of the neighbour sum, 16 Mi elements of i32 in chunks of 256.

use gridwise_benches::affinity;
use gridwise_benches::harness::{self, Comparison};
use gridwise_benches::peers::neighbour_sum;
use std::sync::Mutex;

const ELEMENTS: usize = 16 << 20;
const CHUNK: usize = 256;
const PASSES: u64 = 3;

/// gridwise goes here, each by `add`. `input` are the numbers; `out` is written by every contender in turn, so that it is in memory already.
fn gridwise<'a>(comparison: Comparison<'a>, input: &'a [i32], out: &'a Mutex<Vec<i32>>) -> Comparison<'a> {
    let _ = (input, out);
    comparison
}

fn main() {
    harness::prepare();
    let threads = affinity::cores();
    let input = neighbour_sum::input(ELEMENTS);
    let out = Mutex::new(input.clone());
    Comparison::new(format!(
        "neighbour sum, {} Mi elements, chunk {CHUNK}, {threads} threads",
        ELEMENTS >> 20
    ))
    .unit("ns per element")
    .per_iteration(ELEMENTS as u64)
    .baseline("by hand")
    .with(|comparison| peers(comparison, &input, &out, threads))
    .with(|comparison| gridwise(comparison, &input, &out))
    .run();
}

fn peers<'a>(c: Comparison<'a>, input: &'a [i32], out: &'a Mutex<Vec<i32>>, threads: usize) -> Comparison<'a> {
    let sample = move |run: fn(&[i32], &mut [i32], usize, u64, usize) -> _| {
        move |passes| {
            run(
                input,
                &mut out.lock().unwrap_or_else(|poisoned| poisoned.into_inner()),
                CHUNK,
                passes,
                threads,
            )
        }
    };
    let comparison = c
        .add(
            "serial",
            PASSES,
            sample(|input, out, chunk, passes, _| neighbour_sum::serial(input, out, chunk, passes)),
        )
        .add("by hand", PASSES, sample(neighbour_sum::by_hand));
    #[cfg(openmp)]
    let comparison = comparison.add("OpenMP", PASSES, sample(gridwise_benches::peers::openmp::neighbour_sum));
    comparison
        .add("rayon, a piece a thread", PASSES, sample(neighbour_sum::rayon))
        .add("rayon, par_chunks", PASSES, sample(neighbour_sum::rayon_chunks))
}
