//! Nanoseconds per element of the neighbour sum, 16 Mi elements of i32 in chunks of 256.

use gridwise_benches::affinity;
use gridwise_benches::harness::{self, Comparison};
use gridwise_benches::ours::neighbour_sum::{Arrays, Form};
use gridwise_benches::peers::neighbour_sum;
use std::sync::Mutex;

const ELEMENTS: usize = 16 << 20;
const CHUNK: usize = 256;
const PASSES: u64 = 3;

/// The kernel in these forms. `arrays` are on the device already, and written by every form in turn.
fn gridwise<'a>(
    comparison: Comparison<'a>,
    arrays: &'a Mutex<Arrays>,
    forms: &[(&str, Form, usize)],
) -> Comparison<'a> {
    forms.iter().fold(comparison, |comparison, &(name, form, workers)| {
        comparison.add(name, PASSES, move |passes| {
            let mut arrays = arrays.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            arrays.run(form, workers, passes)
        })
    })
}

fn main() {
    harness::prepare();
    let threads = affinity::cores();
    let input = neighbour_sum::input(ELEMENTS);
    let out = Mutex::new(input.clone());
    let arrays = Mutex::new(Arrays::new(&input));
    let comparison = |what: &str| {
        let elements = ELEMENTS >> 20;
        let title = format!("neighbour sum, {elements} Mi elements, chunk {CHUNK}, {threads} threads, {what}");
        Comparison::new(title)
            .unit("ns per element")
            .per_iteration(ELEMENTS as u64)
    };
    let beside_peers = [
        ("gridwise, slices", Form::Slices, threads),
        ("gridwise, bare indices", Form::Indices, threads),
        ("gridwise, slices, one block", Form::Slices, 1),
    ];
    comparison("beside peers")
        .baseline("by hand")
        .with(|comparison| peers(comparison, &input, &out, threads))
        .with(|comparison| gridwise(comparison, &arrays, &beside_peers))
        .run();
    // What the accelerator costs: the baseline is a loop without it, in the same launch.
    let forms = [
        ("raw loop in the kernel", Form::Raw, threads),
        ("slices", Form::Slices, threads),
        ("slices, wrap in the loop", Form::SlicesRemainder, threads),
        ("bare indices", Form::Indices, threads),
        ("bare indices, wrap in the loop", Form::IndicesRemainder, threads),
    ];
    comparison("forms of the kernel")
        .with(|comparison| gridwise(comparison, &arrays, &forms))
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
