//! The tutorial kernel: each element plus its right neighbour within a chunk, through shared memory and two block barriers.
//!
//! `cargo run --release --example 01_neighbour_sum`

use gridwise::prelude::*;

const CHUNK: usize = 256;

#[repr(C)]
struct NeighbourSum<'a> {
    input: Span<'a, i32>,
    out: SpanMut<'a, i32>,
}

// SAFETY: `out[i]` is written only by the thread that owns `i`; `chunk` is written and read in phases separated by block
// barriers, which every thread of the block reaches once a frame.
unsafe impl Kernel for NeighbourSum<'_> {
    const NAME: &'static str = "neighbour_sum";
    type Shared = SharedArray<i32, CHUNK>;

    fn run<A: Acc>(self, acc: A, chunk: Self::Shared) {
        for frame in acc.blocks_in_grid(0..self.out.len(), CHUNK) {
            // Slice first: one check a frame instead of one an element.
            let (input, out) = (&self.input[frame.clone()], self.out.slice(acc, frame));
            let n = input.len();
            let chunk = chunk.prefix(n);
            for i in acc.threads_in_block(0..n) {
                chunk.set(acc, i, input[i]);
            }
            acc.sync_block();
            for i in acc.threads_in_block(0..n) {
                // Not `(i + 1) % n`: from the comparison the compiler knows that the index is inside the chunk.
                let next = if i + 1 < n { i + 1 } else { 0 };
                out.set(acc, i, chunk.get(acc, i) + chunk.get(acc, next));
            }
            acc.sync_block(); // the next frame overwrites the chunk
        }
    }
}

fn main() -> Result<(), gridwise::Error> {
    let input: Vec<i32> = (0..1_000_003).map(|i| i * 7 % 1000).collect();

    let device = Device::from_env()?;
    let queue = device.queue();
    let on_device = queue.upload(&input)?;
    let mut out = device.zeroed::<i32>(input.len())?;
    let frames = Frames::new(input.len(), CHUNK);
    queue.launch(
        frames,
        NeighbourSum {
            input: on_device.span(),
            out: out.span_mut(),
        },
    )?;
    let sums = queue.download(&out)?;

    let expected: Vec<i32> = input
        .chunks(CHUNK)
        .flat_map(|c| (0..c.len()).map(|i| c[i] + c[(i + 1) % c.len()]))
        .collect();
    assert_eq!(sums, expected);
    println!(
        "{}: {} sums of neighbours, as the sequential loop gives them",
        device.name(),
        sums.len()
    );
    Ok(())
}
