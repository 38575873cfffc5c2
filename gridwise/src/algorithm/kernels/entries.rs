//! The entries of a sparse matrix as kernels see them.

use core::ops::Range;

use crate::kernel::Span;

/// A kernel's view of the entries of a `Csr`: offsets and columns are as it promises.
#[repr(C)]
pub(crate) struct Entries<'a> {
    pub(crate) row_offsets: Span<'a, u32>,
    pub(crate) column_indices: Span<'a, u32>,
    pub(crate) values: Span<'a, f64>,
}

impl Entries<'_> {
    /// Calls `each(i, product)` with the product of row `rows.start + i` and a vector, for every row of `rows`: summed from 0 in the
    /// order of columns, so with the same bits as `Csr::multiply`. `x(column)` is the vector's element; every column it is asked
    /// for is one of the matrix.
    #[inline(always)]
    pub(crate) fn multiply(&self, rows: Range<usize>, x: impl Fn(usize) -> f64, mut each: impl FnMut(usize, f64)) {
        let offsets = &self.row_offsets[rows.start..=rows.end];
        let (columns, values) = (self.column_indices.as_slice(), self.values.as_slice());
        for (i, ends) in offsets.array_windows::<2>().enumerate() {
            let mut sum = 0.0;
            for entry in ends[0] as usize..ends[1] as usize {
                // SAFETY: the offsets of a `Csr` do not exceed its entries.
                let value = unsafe { values.get_unchecked(entry) };
                // SAFETY: as for the value; there are as many columns.
                let column = unsafe { *columns.get_unchecked(entry) };
                sum += value * x(column as usize);
            }
            each(i, sum);
        }
    }
}
