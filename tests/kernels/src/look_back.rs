//! Kernels of the suite `look_back`.

use gridwise::prelude::*;

/// The block with the first tile publishes nothing until the one with the second has its prefix.
#[repr(C)]
pub struct HeldUp<'a> {
    pub look_back: LookBack<'a, u64>,
    /// What lies before each tile.
    pub before: SpanMut<'a, u64>,
    /// One word: 1 once the second tile's block has its prefix.
    pub done: SpanMut<'a, u32>,
}

// SAFETY: a tile's element is written by the one block that has claimed it.
unsafe impl Kernel for HeldUp<'_> {
    const NAME: &'static str = "held_up";
    type Shared = ();

    fn run<A: Acc>(self, acc: A, _: ()) {
        let leads = acc.thread_index() == 0;
        while let Some(tile) = self.look_back.claim(acc) {
            let done = self.done.atomic(0);
            if tile == 0 && leads {
                done.wait_until(acc, Ordering::Relaxed, |done| done == 1);
            }
            let of_tile = |tile| 10 + tile as u64;
            let before = self
                .look_back
                .exclusive(acc, tile, of_tile(tile), |a, b| a + b, of_tile);
            if leads {
                self.before.set(acc, tile, before.unwrap_or(0));
                if tile == 1 {
                    done.store(acc, 1, Ordering::Relaxed);
                }
            }
        }
    }
}
