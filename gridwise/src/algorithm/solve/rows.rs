//! The matrix on a device, cut into rows of blocks.

use crate::{
    algorithm::{
        kernels::rows::{Rows, SUMS},
        sparse::{Csr, DeviceEntries},
    },
    host::{buffer::Buffer, error::Error, queue::Queue},
};

/// The matrix on a device, and which rows each block owns.
#[derive(Debug)]
pub(super) struct DeviceRows {
    entries: DeviceEntries,
    /// Block `b` owns the rows from `cuts[b]` to `cuts[b + 1]`.
    cuts: Buffer<u64>,
    /// [`SUMS`] numbers a block.
    sums: Buffer<f64>,
}

/// The first row of each of `blocks` stretches of about the same work, and the end of the last.
pub(super) fn cuts(row_offsets: &[u32], blocks: usize) -> Vec<u64> {
    let rows = row_offsets.len() - 1;
    let work_before = |row: usize| row as u128 + u128::from(row_offsets[row]);
    let first_row = |block: usize| {
        let wanted = work_before(rows) * block as u128 / blocks as u128;
        // The work before a row rises with every row.
        let (mut low, mut high) = (0, rows);
        while low < high {
            let middle = low + (high - low) / 2;
            if work_before(middle) < wanted {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // The nearer of the two ends of the row that the wish falls into.
        let overshoot = work_before(low) - wanted;
        if low > 0 && wanted - work_before(low - 1) < overshoot {
            low -= 1;
        }
        low as u64
    };
    (0..=blocks).map(first_row).collect()
}

impl DeviceRows {
    /// Copies the matrix to the device, each entry scaled by `scale(column)`. It is cut by [`cut`](Self::cut).
    pub(super) fn new(queue: &Queue, matrix: &Csr, scale: Option<&[f64]>) -> Result<Self, Error> {
        Ok(Self {
            entries: DeviceEntries::upload(queue, matrix, scale)?,
            cuts: queue.upload(&[])?,
            sums: queue.upload(&[])?,
        })
    }

    /// Cuts the matrix for a grid of that many blocks.
    pub(super) fn cut(&mut self, queue: &Queue, blocks: usize) -> Result<(), Error> {
        let cuts = cuts(&self.entries.row_offsets(queue)?, blocks);
        self.cuts = queue.upload(&cuts)?;
        self.sums = queue.device().zeroed(blocks * SUMS)?;
        Ok(())
    }

    pub(super) fn view(&mut self) -> Rows<'_> {
        Rows {
            entries: self.entries.view(),
            cuts: self.cuts.span(),
            sums: self.sums.span_mut(),
        }
    }
}
