//! The entries of a matrix on a device.

use std::borrow::Cow;

use super::Csr;
use crate::{
    algorithm::kernels::entries::Entries,
    host::{
        buffer::{AllocationError, Buffer, CopyError},
        queue::Queue,
    },
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

    pub(crate) fn row_offsets(&self, queue: &Queue) -> Result<Cow<'_, [u32]>, CopyError> {
        queue.elements(self.row_offsets.span())
    }

    pub(crate) fn view(&self) -> Entries<'_> {
        Entries {
            row_offsets: self.row_offsets.span(),
            column_indices: self.column_indices.span(),
            values: self.values.span(),
        }
    }
}
