//! The product of a sparse matrix and a vector: rows claimed by chunk.

use super::entries::Entries;
use crate::kernel::{Acc, ChunkCounter, Kernel, Span, SpanMut};

/// See the module.
#[repr(C)]
pub struct Product<'a> {
    pub(crate) chunks: ChunkCounter<'a>,
    pub(crate) entries: Entries<'a>,
    /// An element for each column of the matrix.
    pub(crate) x: Span<'a, f64>,
    pub(crate) y: SpanMut<'a, f64>,
}

// SAFETY: a chunk is claimed by one block, and a row of it belongs to one thread, the only one to write its element of `y`. All
// threads of a block walk the same claims.
unsafe impl Kernel for Product<'_> {
    const NAME: &'static str = "sparse_product";
    type Shared = ();

    #[inline(always)]
    fn run<A: Acc>(self, acc: A, (): ()) {
        let x = self.x.as_slice();
        // SAFETY: the entries ask for columns of the matrix, and `x` has an element for each.
        let element = |column: usize| unsafe { *x.get_unchecked(column) };
        for chunk in self.chunks.claims(acc) {
            for rows in acc.runs_in_block(chunk) {
                let y = self.y.slice(acc, rows.clone());
                self.entries
                    .multiply(rows, element, |i, product| y.set(acc, i, product));
            }
        }
    }
}
