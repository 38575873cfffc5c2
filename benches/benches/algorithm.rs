//! Ready-made algorithms: sums, histograms of bytes, sorting.

use std::time::{Duration, Instant};

use gridwise::{
    Pod,
    algorithm::{
        histogram::histogram,
        operator::{AsIndex, Operator, Sum},
        reduce::reduce,
        sort::sort,
    },
    prelude::*,
};
use gridwise_benches::affinity;
use gridwise_benches::harness::{self, Comparison};
#[cfg(openmp)]
use gridwise_benches::peers::openmp;
use gridwise_benches::peers::{
    histogram::{self, Counts, Spread},
    reduce::{self, Number},
    sort,
};

/// A device with a block a core, and its queue.
fn queue(blocks: usize) -> Queue {
    let device = Device::open(&format!("cpu:blocks={blocks},wait=active")).expect("a device with a block a core");
    device.queue()
}

/// The time of `repeats` runs, and what the last one gave.
fn timed<R: Default>(repeats: u64, mut run: impl FnMut() -> R) -> (Duration, R) {
    let mut last = R::default();
    let start = Instant::now();
    for _ in 0..repeats {
        last = run();
    }
    (start.elapsed(), last)
}

fn main() {
    harness::prepare();
    let threads = affinity::cores();
    let integers: Vec<u32> = (0..64 << 20).map(|i: u32| i.wrapping_mul(2_654_435_761)).collect();
    #[cfg(openmp)]
    sums("u32", &integers, 5, threads, openmp::sum_u32);
    #[cfg(not(openmp))]
    sums("u32", &integers, 5, threads);
    sums_of_few(threads, &integers[..4096]);
    drop(integers);
    // Whole numbers, whose sums are exact in any order.
    let floats: Vec<f64> = (0..64 << 20).map(|i: u32| f64::from(i % 1000)).collect();
    #[cfg(openmp)]
    sums("f64", &floats, 3, threads, openmp::sum_f64);
    #[cfg(not(openmp))]
    sums("f64", &floats, 3, threads);
    drop(floats);
    for (name, spread) in [
        ("uniform", Spread::Uniform),
        ("all equal", Spread::Equal),
        ("skewed", Spread::Skewed),
    ] {
        histograms(name, spread, threads);
    }
    sorts(threads);
}

#[cfg(openmp)]
type Peer<T> = fn(&[T], u64, usize) -> (Duration, T);

fn sums<T: Number + Pod>(name: &str, numbers: &[T], repeats: u64, threads: usize, #[cfg(openmp)] openmp: Peer<T>)
where
    Sum: Operator<T>,
{
    let (_, expected) = reduce::serial(numbers, 1);
    let checked = move |(elapsed, sum): (Duration, T)| {
        assert_eq!(sum, expected);
        elapsed
    };
    let ours = move |blocks: usize, repeats| {
        let queue = queue(blocks);
        let input = queue.upload(numbers).expect("memory");
        let mut sum = T::ZERO;
        let start = Instant::now();
        for _ in 0..repeats {
            sum = reduce(&queue, input.span(), T::ZERO, Sum).expect("a sum");
        }
        checked((start.elapsed(), sum))
    };
    let in_order = move |repeats| {
        let queue = queue(threads);
        let input = queue.upload(numbers).expect("memory");
        let mut sum = T::ZERO;
        let start = Instant::now();
        for _ in 0..repeats {
            sum = reduce(&queue, input.span(), T::ZERO, |a: T, b: T| a.plus(b)).expect("a sum");
        }
        checked((start.elapsed(), sum))
    };
    let comparison = Comparison::new(format!("sum of {} Mi {name}, {threads} threads", numbers.len() >> 20))
        .unit("ms per sum")
        .baseline("rayon, a piece a thread")
        .add("serial", repeats, move |repeats| {
            checked(reduce::serial(numbers, repeats))
        })
        .add("rayon, a piece a thread", repeats, move |repeats| {
            checked(reduce::rayon(numbers, repeats, threads))
        })
        .add("rayon, par_iter", repeats, move |repeats| {
            checked(reduce::rayon_elements(numbers, repeats, threads))
        });
    #[cfg(openmp)]
    let comparison = comparison.add("OpenMP", repeats, move |repeats| {
        checked(openmp(numbers, repeats, threads))
    });
    comparison
        .add("gridwise", repeats, move |repeats| ours(threads, repeats))
        .add("gridwise, order kept", repeats, in_order)
        .add("gridwise, one block", repeats, move |repeats| ours(1, repeats))
        .run();
}

/// The same by a grid barrier: what a reduction would be that gives every block the result.
#[repr(C)]
struct ByBarrier<'a> {
    input: Span<'a, u32>,
    sum: SpanMut<'a, u32>,
}

// SAFETY: one thread writes the sum, which nobody reads.
unsafe impl GridKernel for ByBarrier<'_> {
    const NAME: &'static str = "by_barrier";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, (): ()) {
        let mut sum = 0_u32;
        for run in acc.runs_in_grid(0..self.input.len()) {
            sum = self.input[run]
                .iter()
                .fold(sum, |sum, &number| sum.wrapping_add(number));
        }
        let sum = acc.reduce_grid(sum, u32::wrapping_add);
        if acc.block_index() == 0 && acc.thread_index() == 0 {
            self.sum.set(acc, 0, sum);
        }
    }
}

/// Few numbers: what a reduction costs beside the adding.
fn sums_of_few(threads: usize, numbers: &[u32]) {
    const REPEATS: u64 = 2000;
    // Two frames, so that there are two blocks.
    let numbers = &[numbers, numbers].concat()[..];
    let ours = move |repeats| {
        let queue = queue(threads);
        let input = queue.upload(numbers).expect("memory");
        timed(repeats, || reduce(&queue, input.span(), 0, Sum).expect("a sum")).0
    };
    let by_barrier = move |repeats| {
        let queue = queue(threads);
        let input = queue.upload(numbers).expect("memory");
        let mut sum = queue.device().zeroed(1).expect("memory");
        let mut run = || {
            let kernel = ByBarrier {
                input: input.span(),
                sum: sum.span_mut(),
            };
            queue.launch_cooperative(Blocks::Resident, kernel).expect("a launch");
            queue.download(&sum).expect("memory")[0]
        };
        timed(repeats, &mut run).0
    };
    Comparison::new(format!("sum of {} u32, {threads} threads", numbers.len()))
        .unit("ns per sum")
        .baseline("rayon, a piece a thread")
        .add("serial", REPEATS, move |repeats| reduce::serial(numbers, repeats).0)
        .add("rayon, a piece a thread", REPEATS, move |repeats| {
            reduce::rayon(numbers, repeats, threads).0
        })
        .add("gridwise", REPEATS, ours)
        .add("gridwise, reduce_grid in a cooperative launch", REPEATS, by_barrier)
        .run();
}

fn histograms(name: &str, spread: Spread, threads: usize) {
    const REPEATS: u64 = 3;
    let bytes = &histogram::input(64 << 20, spread)[..];
    let (_, expected) = &histogram::serial::<8>(bytes, 1);
    let checked = move |(elapsed, counts): (Duration, Counts)| {
        assert!(counts == *expected);
        elapsed
    };
    let ours = move |blocks: usize, strategy: Strategy| {
        move |repeats| {
            let queue = queue(blocks);
            let input = queue.upload(bytes).expect("memory");
            let count = || {
                histogram(&queue, input.span(), 256, AsIndex, strategy)
                    .expect("a histogram")
                    .counts
            };
            checked(timed(repeats, count))
        }
    };
    let comparison = Comparison::new(format!(
        "histogram of {} Mi u8, {name}, {threads} threads",
        bytes.len() >> 20
    ))
    .unit("ms per histogram")
    .baseline("rayon, a table a thread")
    .add("serial", REPEATS, move |repeats| {
        checked(histogram::serial::<1>(bytes, repeats))
    })
    .add("rayon, a table a thread", REPEATS, move |repeats| {
        checked(histogram::rayon::<1>(bytes, repeats, threads))
    })
    .add("rayon, eight tables a thread", REPEATS, move |repeats| {
        checked(histogram::rayon::<8>(bytes, repeats, threads))
    });
    #[cfg(openmp)]
    let comparison = comparison
        .add("OpenMP, a table a thread", REPEATS, move |repeats| {
            checked(openmp::histogram(bytes, 1, repeats, threads))
        })
        .add("OpenMP, eight tables a thread", REPEATS, move |repeats| {
            checked(openmp::histogram(bytes, 8, repeats, threads))
        });
    comparison
        .add("gridwise, persistent", REPEATS, ours(threads, Strategy::Persistent))
        .add("gridwise, relaunch", REPEATS, ours(threads, Strategy::Relaunch))
        .add("gridwise, one block", REPEATS, ours(1, Strategy::Persistent))
        .run();
}

fn sorts(threads: usize) {
    let numbers = &sort::input(16 << 20)[..];
    let (_, expected) = &sort::radsort(numbers, 1);
    let checked = move |(elapsed, sorted): (Duration, Vec<u32>)| {
        assert!(sorted == *expected);
        elapsed
    };
    let ours = move |blocks: usize, strategy: Strategy| {
        move |repeats| {
            let queue = queue(blocks);
            let mut keys = queue.upload(numbers).expect("memory");
            let mut elapsed = Duration::ZERO;
            for _ in 0..repeats {
                queue.write(numbers, keys.span_mut()).expect("as many");
                let start = Instant::now();
                sort(&queue, keys.span_mut(), strategy).expect("sorted keys");
                elapsed += start.elapsed();
            }
            checked((elapsed, queue.download(&keys).expect("memory")))
        }
    };
    Comparison::new(format!("sort of {} Mi u32, {threads} threads", numbers.len() >> 20))
        .unit("ms per sort")
        .baseline("radsort")
        .add("sort_unstable", 1, move |repeats| checked(sort::std(numbers, repeats)))
        .add("radsort", 1, move |repeats| checked(sort::radsort(numbers, repeats)))
        .add("rayon, par_sort_unstable", 1, move |repeats| {
            checked(sort::rayon(numbers, repeats, threads))
        })
        .add("voracious_radix_sort", 1, move |repeats| {
            checked(sort::voracious(numbers, repeats, threads))
        })
        .add("gridwise, persistent", 1, ours(threads, Strategy::Persistent))
        .add("gridwise, relaunch", 1, ours(threads, Strategy::Relaunch))
        .add("gridwise, one block", 1, ours(1, Strategy::Persistent))
        .run();
}
