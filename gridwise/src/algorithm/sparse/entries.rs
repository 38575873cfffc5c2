//! The entries of a matrix as kernels see them.

use core::ops::Range;

use super::Csr;
use crate::{
    host::{
        buffer::{AllocationError, Buffer},
        queue::Queue,
    },
    kernel::Span,
};

/// The entries of a [`Csr`] on a device.
#[derive(Debug)]
pub(crate) struct DeviceEntries {
    row_offsets: Buffer<u32>,
    column_indices: Buffer<u32>,
    values: Buffer<f64>,
}

impl DeviceEntries {
    /// Copies the matrix to the device, each entry scaled by `scale[column]`.
    pub(crate) fn upload(queue: &Queue, matrix: &Csr, scale: Option<&[f64]>) -> Result<Self, AllocationError> {
        let values = match scale {
            None => queue.upload(matrix.values())?,
            Some(scale) => {
                let entries = matrix.values().iter().zip(matrix.column_indices());
                let scaled: Vec<f64> = entries.map(|(value, &column)| value * scale[column as usize]).collect();
                queue.upload(&scaled)?
            }
        };
        Ok(Self {
            row_offsets: queue.upload(matrix.row_offsets())?,
            column_indices: queue.upload(matrix.column_indices())?,
            values,
        })
    }

    pub(crate) fn row_offsets(&self) -> &[u32] {
        self.row_offsets.span().as_slice()
    }

    pub(crate) fn view(&self) -> Entries<'_> {
        Entries {
            row_offsets: self.row_offsets.span(),
            column_indices: self.column_indices.span(),
            values: self.values.span(),
        }
    }
}

/// A kernel's view of [`DeviceEntries`]: offsets and columns are as [`Csr`] promises.
#[repr(C)]
pub(crate) struct Entries<'a> {
    row_offsets: Span<'a, u32>,
    column_indices: Span<'a, u32>,
    values: Span<'a, f64>,
}

impl Entries<'_> {
    /// Calls `each(i, product)` with the product of row `rows.start + i` and a vector, for every row of `rows`: summed from 0 in the
    /// order of columns, so with the same bits as [`Csr::multiply`]. `x(column)` is the vector's element; every column it is asked
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
