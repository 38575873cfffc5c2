//! The product of a sparse matrix and a vector, on a device.

use thiserror::Error;

use super::{Csr, entries::DeviceEntries};
use crate::{
    algorithm::kernels::sparse_product::Product,
    host::{
        buffer::{AllocationError, Buffer},
        launch::{Frames, LaunchError},
        queue::Queue,
        tasks::{Chunking, Chunks},
    },
    kernel::{Span, SpanMut},
};

/// Rows and entries in an average chunk: enough to make a claim cheap.
const CHUNK_WORK: usize = 4096;

/// Chunks for each resident block at least, so that a few long rows do not leave the other blocks idle.
const CHUNKS_A_BLOCK: usize = 16;

/// A sparse matrix on a device, to be multiplied by vectors.
///
/// Rows may be of very different length: blocks claim chunks of rows, each as it has finished the one before. A row is summed by
/// one thread, so a single row that holds most of the matrix is not divided.
///
/// ```
/// use gridwise::{algorithm::sparse::{Csr, DeviceCsr}, prelude::*};
///
/// let matrix = Csr::from_sorted_entries(2, 3, [(0, 0, 1.0), (0, 2, 2.0), (1, 1, 3.0)])?;
/// let device = Device::from_env()?;
/// let queue = device.queue();
/// let mut on_device = DeviceCsr::upload(&queue, &matrix)?;
/// assert_eq!(on_device.multiply(&queue, &[1.0, 10.0, 100.0])?, [201.0, 30.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Determinism
/// The bits are those of [`Csr::multiply`], on every device and grid: a row is summed in the order of its columns, whoever claims it.
#[derive(Debug)]
pub struct DeviceCsr {
    columns: usize,
    rows: usize,
    entries: DeviceEntries,
    chunks: Chunks,
}

/// Why a product was refused or failed.
#[derive(Error)]
#[non_exhaustive]
pub enum ProductError {
    /// The vector does not fit the matrix.
    #[error("the vector has {len} numbers, but the matrix has {columns} columns")]
    VectorLength {
        /// Length of the vector.
        len: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// The place for the product does not fit the matrix.
    #[error("the place for the product has {len} numbers, but the matrix has {rows} rows")]
    ProductLength {
        /// Length of the place.
        len: usize,
        /// Rows of the matrix.
        rows: usize,
    },
    /// There is no memory for a vector.
    #[error(transparent)]
    Allocation(#[from] AllocationError),
    /// The launch was refused, or failed.
    #[error(transparent)]
    Launch(#[from] LaunchError),
}

crate::host::error::debug_as_display!(ProductError);

impl DeviceCsr {
    /// Copies a matrix to the device, to be claimed in chunks of rows of about the same number, by the matrix's size.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub fn upload(queue: &Queue, matrix: &Csr) -> Result<Self, AllocationError> {
        let rows = matrix.rows();
        let entries_a_row = matrix.nonzeros().checked_div(rows).unwrap_or(0);
        let blocks = queue.device().most_resident_blocks().max(1);
        let most = rows.div_ceil(blocks * CHUNKS_A_BLOCK);
        let chunk = (CHUNK_WORK / (entries_a_row + 1)).clamp(1, most.max(1));
        Self::upload_chunked(queue, matrix, Chunking::Fixed(chunk))
    }

    /// [`upload`](Self::upload), with another way to cut the rows into chunks.
    ///
    /// # Errors
    /// As [`upload`](Self::upload).
    pub fn upload_chunked(queue: &Queue, matrix: &Csr, chunking: Chunking) -> Result<Self, AllocationError> {
        Ok(Self {
            columns: matrix.columns(),
            rows: matrix.rows(),
            entries: DeviceEntries::upload(queue, matrix, None)?,
            chunks: queue.chunks(matrix.rows(), chunking)?,
        })
    }

    /// Rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The product with a vector in host memory.
    ///
    /// # Errors
    /// If the vector's length is not the number of columns, there is no memory, or the launch fails.
    pub fn multiply(&mut self, queue: &Queue, x: &[f64]) -> Result<Vec<f64>, ProductError> {
        let x = queue.upload(x)?;
        let mut y: Buffer<f64> = queue.device().zeroed(self.rows)?;
        self.multiply_into(queue, x.span(), y.span_mut())?;
        Ok(queue.download(&y)?)
    }

    /// Stores the product with `x` into `y`, both on the device: one launch.
    ///
    /// # Errors
    /// If `x` has not one element a column, or `y` not one a row; or if the launch fails, which leaves `y` in part written.
    pub fn multiply_into(&mut self, queue: &Queue, x: Span<'_, f64>, y: SpanMut<'_, f64>) -> Result<(), ProductError> {
        let (columns, rows) = (self.columns, self.rows);
        if x.len() != columns {
            return Err(ProductError::VectorLength { len: x.len(), columns });
        }
        if y.len() != rows {
            return Err(ProductError::ProductLength { len: y.len(), rows });
        }
        // At most one block a chunk.
        let frames = Frames::new(self.chunks.count(), 1);
        let kernel = Product {
            chunks: self.chunks.fresh(queue),
            entries: self.entries.view(),
            x,
            y,
        };
        Ok(queue.launch(frames, kernel)?)
    }
}
