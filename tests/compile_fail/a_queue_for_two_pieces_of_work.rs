//! What hands out work is one launch's at a time.

use gridwise::prelude::*;

struct Claim<'a> {
    chunks: ChunkCounter<'a>,
}

// SAFETY: it claims, and does nothing.
unsafe impl Kernel for Claim<'_> {
    const NAME: &'static str = "claim";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        self.chunks.claim(acc);
    }
}

fn main() {
    let device = Device::open("cpu").unwrap();
    let queue = device.queue();
    let mut chunks = queue.chunks(10, Chunking::Fixed(1)).unwrap();
    queue
        .scope(|scope| {
            for _ in 0..2 {
                scope.enqueue(|queue| {
                    let chunks = chunks.fresh(queue);
                    Ok(queue.launch(Blocks::Exactly(1), Claim { chunks })?)
                });
            }
            Ok::<(), gridwise::Error>(())
        })
        .unwrap();
}
