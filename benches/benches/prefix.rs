//! Nanoseconds per element of inclusive prefix sums and of compaction, 64 Mi elements of u32.

use gridwise::algorithm::{operator::Sum, scan::inclusive_scan, select::compact};
use gridwise::host::{buffer::Buffer, device::WaitPolicy};
use gridwise_benches::harness::{self, Comparison};
use gridwise_benches::peers::prefix;
use gridwise_benches::{affinity, ours};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const ELEMENTS: usize = 64 << 20;

/// Input and result on a device, kept from sample to sample.
struct Arrays {
    input: Buffer<u32>,
    out: Buffer<u32>,
}

impl Arrays {
    fn scan(&mut self, workers: usize, passes: u64) -> Duration {
        let queue = ours::device(workers, WaitPolicy::Active).queue();
        let start = Instant::now();
        for _ in 0..passes {
            inclusive_scan(&queue, self.input.span(), self.out.span_mut(), 0, Sum).expect("nothing can fail");
        }
        start.elapsed()
    }

    fn compact(&mut self, workers: usize, passes: u64) -> Duration {
        let queue = ours::device(workers, WaitPolicy::Active).queue();
        let start = Instant::now();
        for _ in 0..passes {
            compact(&queue, self.input.span(), self.out.span_mut(), prefix::keep).expect("nothing can fail");
        }
        start.elapsed()
    }
}

fn main() {
    harness::prepare();
    let threads = affinity::cores();
    let queue = ours::device(1, WaitPolicy::Passive).queue();
    let input = prefix::input(ELEMENTS);
    let arrays = Mutex::new(Arrays {
        input: queue.upload(&input).expect("there is memory"),
        out: queue.upload(&input).expect("there is memory"),
    });
    let out = Mutex::new(vec![0; ELEMENTS]);
    let (input, out) = (&input, &out);
    let lock = || arrays.lock().unwrap_or_else(PoisonError::into_inner);
    let title = |what: &str| format!("{what}, {} Mi elements of u32, {threads} threads", ELEMENTS >> 20);
    let peer = |run: fn(&[u32], &mut [u32], u64, usize) -> Duration| {
        move |passes| {
            run(
                input,
                &mut out.lock().unwrap_or_else(PoisonError::into_inner),
                passes,
                threads,
            )
        }
    };
    let comparison = Comparison::new(title("inclusive prefix sums"))
        .unit("ns per element")
        .per_iteration(ELEMENTS as u64)
        .baseline("look-back by hand")
        .add(
            "serial",
            1,
            peer(|input, out, passes, _| prefix::scan_serial(input, out, passes)),
        )
        .add("look-back by hand", 1, peer(prefix::scan_look_back))
        .add("rayon, two passes", 1, peer(prefix::scan_rayon));
    #[cfg(openmp)]
    let comparison = comparison.add("OpenMP, two passes", 1, peer(gridwise_benches::peers::openmp::scan));
    comparison
        .add("gridwise", 1, |passes| lock().scan(threads, passes))
        .add("gridwise, one block", 1, |passes| lock().scan(1, passes))
        .run();

    let comparison = Comparison::new(title("compaction of every third"))
        .unit("ns per element")
        .per_iteration(ELEMENTS as u64)
        .baseline("rayon, two passes")
        .add(
            "serial",
            1,
            peer(|input, out, passes, _| prefix::compact_serial(input, out, passes).0),
        )
        .add(
            "rayon, two passes",
            1,
            peer(|input, out, passes, threads| prefix::compact_rayon(input, out, passes, threads).0),
        )
        .add(
            "rayon, filter and collect",
            1,
            peer(|input, _, passes, threads| prefix::compact_rayon_filter(input, passes, threads).0),
        );
    #[cfg(openmp)]
    let comparison = comparison.add(
        "OpenMP, two passes",
        1,
        peer(|input, out, passes, threads| gridwise_benches::peers::openmp::compact(input, out, passes, threads).0),
    );
    comparison
        .add("gridwise", 1, |passes| lock().compact(threads, passes))
        .add("gridwise, one block", 1, |passes| lock().compact(1, passes))
        .run();
}
