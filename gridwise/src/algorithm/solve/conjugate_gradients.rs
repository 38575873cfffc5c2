//! Conjugate gradients with a Jacobi preconditioner, for symmetric positive definite matrices: what it needs on the device. The method is described beside its kernel, in `kernels/conjugate_gradients.rs`.

use super::rows::DeviceRows;
use crate::{
    algorithm::kernels::{
        conjugate_gradients::{Kernel, RECORD, RECORD_BEST, RECORD_RR},
        run::RunView,
    },
    host::{buffer::Buffer, error::Error, queue::Queue},
};

/// The iteration, on the device.
#[derive(Debug)]
pub(super) struct ConjugateGradients {
    pub(super) rows: DeviceRows,
    inverse_diagonal: Buffer<f64>,
    pub(super) x: Buffer<f64>,
    pub(super) best: Buffer<f64>,
    r: Buffer<f64>,
    p: Buffer<f64>,
    q: Buffer<f64>,
    record: Buffer<f64>,
}

impl ConjugateGradients {
    /// The iteration from x = 0; the matrix is cut later.
    pub(super) fn new(queue: &Queue, rows: DeviceRows, b: &[f64], inverse_diagonal: &[f64]) -> Result<Self, Error> {
        let device = queue.device();
        let z: Vec<f64> = b.iter().zip(inverse_diagonal).map(|(r, inverse)| r * inverse).collect();
        let rz = b.iter().zip(&z).map(|(r, z)| r * z).sum();
        let rr = b.iter().map(|r| r * r).sum();
        Ok(Self {
            rows,
            inverse_diagonal: queue.upload(inverse_diagonal)?,
            x: device.zeroed(b.len())?,
            best: device.zeroed(b.len())?,
            r: queue.upload(b)?,
            p: queue.upload(&z)?,
            q: device.zeroed(b.len())?,
            record: queue.upload(&[rz, rr, rr, 0.0, 0.0, 0.0])?,
        })
    }

    /// The kernel for up to `limit` steps more, after `first_step` steps.
    pub(super) fn kernel<'a>(&'a mut self, run: RunView<'a>) -> Kernel<'a> {
        Kernel {
            rows: self.rows.view(),
            inverse_diagonal: self.inverse_diagonal.span(),
            x: self.x.span_mut(),
            best: self.best.span_mut(),
            r: self.r.span_mut(),
            p: self.p.span_mut(),
            q: self.q.span_mut(),
            record: self.record.span_mut(),
            run,
        }
    }

    /// After `steps` steps: whether the last iterate is the best one, so that [`best`](Self::best) does not matter.
    pub(super) fn last_is_best(&self, queue: &Queue, steps: usize) -> Result<bool, Error> {
        let record = queue.elements(self.record.span().range(steps % 2 * RECORD..).range(..RECORD))?;
        Ok(record[RECORD_RR] <= record[RECORD_BEST])
    }
}
