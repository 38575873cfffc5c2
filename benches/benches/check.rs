//! How fast the checking device is: operations of a kernel it judges a second, and schedules a second.

use gridwise::{
    check::{Builder, Explore, Model},
    prelude::*,
};

const CHUNK: usize = 64;
const BLOCKS: usize = 4;
const THREADS: usize = 32;
const LEN: usize = 4 * BLOCKS * CHUNK;
const ROUNDS: usize = 4;

/// Each element plus its right neighbour within a chunk, through shared memory.
#[repr(C)]
struct NeighbourSum<'a> {
    input: Span<'a, i32>,
    out: SpanMut<'a, i32>,
}

// SAFETY: an element of `out` is written by its owner; the chunk is written and read between block barriers.
unsafe impl Kernel for NeighbourSum<'_> {
    const NAME: &'static str = "neighbour_sum";
    type Shared = SharedArray<i32, CHUNK>;

    fn run<A: Acc>(self, acc: A, chunk: Self::Shared) {
        for frame in acc.blocks_in_grid(0..self.out.len(), CHUNK) {
            let (input, out) = (&self.input[frame.clone()], self.out.slice(acc, frame));
            let n = input.len();
            for i in acc.threads_in_block(0..n) {
                chunk.set(acc, i, input[i]);
            }
            acc.sync_block();
            for i in acc.threads_in_block(0..n) {
                out.set(acc, i, chunk.get(acc, i) + chunk.get(acc, (i + 1) % n));
            }
            acc.sync_block();
        }
    }
}

/// Meets at the grid barrier.
#[repr(C)]
struct Rounds;

// SAFETY: it touches no memory; all threads meet the same barriers.
unsafe impl GridKernel for Rounds {
    const NAME: &'static str = "rounds";
    type Shared = ();

    fn run<A: GridAcc>(self, acc: A, _: ()) {
        for _ in 0..ROUNDS {
            acc.sync_grid();
        }
    }
}

fn measure(name: &str, explore: Explore, exact: bool, test: impl Fn(&Device)) {
    let mut model = Model::small();
    model.multiprocessors = BLOCKS;
    model.exact = exact;
    let report = Builder::new().model(model).explore(explore).schedules(300).check(test);
    let seconds = report.elapsed.as_secs_f64();
    println!(
        "{name:40} {:7.2} million operations/s {:8.0} schedules/s",
        report.operations as f64 / seconds / 1e6,
        report.schedules as f64 / seconds
    );
}

fn main() {
    let grid = Blocks::Exactly(BLOCKS).threads(THREADS);
    let sum = |device: &Device| {
        let queue = device.queue();
        let input = queue.upload(&[1; LEN]).expect("memory");
        let mut out = device.zeroed(LEN).expect("memory");
        let kernel = NeighbourSum {
            input: input.span(),
            out: out.span_mut(),
        };
        queue.launch(grid, kernel).expect("no faults");
    };
    let barrier = |device: &Device| {
        device.queue().launch_cooperative(grid, Rounds).expect("no faults");
    };
    println!("{BLOCKS} blocks of {THREADS} threads, one core");
    for exact in [false, true] {
        let mode = if exact { "exact" } else { "fast" };
        for (how, explore) in [("random", Explore::Random), ("pct", Explore::Pct { depth: 3 })] {
            measure(&format!("neighbour sum, {how}, {mode}"), explore, exact, sum);
            measure(&format!("grid barrier, {how}, {mode}"), explore, exact, barrier);
        }
    }
}
