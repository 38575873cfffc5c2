//! BiCGSTAB with a Jacobi preconditioner, for matrices of any kind: what it needs on the device. The method is described beside its kernel, in `kernels/bicgstab/mod.rs`.

use super::rows::DeviceRows;
use crate::{
    algorithm::kernels::{
        bicgstab::{Kernel, RECORD, Record},
        run::RunView,
    },
    host::{buffer::Buffer, error::Error, queue::Queue},
};

/// The iteration, on the device.
#[derive(Debug)]
pub(super) struct BiCgStab {
    pub(super) rows: DeviceRows,
    pub(super) y: Buffer<f64>,
    pub(super) best: Buffer<f64>,
    shadow: Buffer<f64>,
    r: Buffer<f64>,
    p: Buffer<f64>,
    v: Buffer<f64>,
    s: Buffer<f64>,
    t: Buffer<f64>,
    record: Buffer<f64>,
}

impl BiCgStab {
    /// The iteration from y = 0; `rows` are of the scaled matrix, which is cut later.
    pub(super) fn new(queue: &Queue, rows: DeviceRows, b: &[f64]) -> Result<Self, Error> {
        let device = queue.device();
        let rr = b.iter().map(|r| r * r).sum();
        let start = Record::start(rr, rr);
        let zeros = || device.zeroed(b.len());
        Ok(Self {
            rows,
            y: zeros()?,
            best: zeros()?,
            shadow: queue.upload(b)?,
            r: queue.upload(b)?,
            p: queue.upload(b)?,
            v: zeros()?,
            s: zeros()?,
            t: zeros()?,
            record: queue.upload(&[start.to_array(), [0.0; RECORD]].concat())?,
        })
    }

    /// The kernel for a run.
    pub(super) fn kernel<'a>(&'a mut self, run: RunView<'a>) -> Kernel<'a> {
        Kernel {
            rows: self.rows.view(),
            y: self.y.span_mut(),
            best: self.best.span_mut(),
            shadow: self.shadow.span_mut(),
            r: self.r.span_mut(),
            p: self.p.span_mut(),
            v: self.v.span_mut(),
            s: self.s.span_mut(),
            t: self.t.span_mut(),
            record: self.record.span_mut(),
            run,
        }
    }

    /// After `steps` steps: whether the last iterate is the best one, so that [`best`](Self::best) does not matter.
    pub(super) fn last_is_best(&self, queue: &Queue, steps: usize) -> Result<bool, Error> {
        let record = queue.elements(self.record.span())?;
        let record = Record::from_array(core::array::from_fn(|k| record[steps % 2 * RECORD + k]));
        Ok(record.rr <= record.best)
    }
}
