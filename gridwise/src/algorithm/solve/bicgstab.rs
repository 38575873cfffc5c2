//! BiCGSTAB with a Jacobi preconditioner, for matrices of any kind.
//!
//! van der Vorst, *Bi-CGSTAB: a fast and smoothly converging variant of Bi-CG*, 1992, preconditioned from the right: the columns
//! of A are scaled by one over the diagonal, the iteration solves for y, and x = y / diagonal. So the residual is that of the
//! system itself. A column whose diagonal entry is zero stays as it is. A step has five phases:
//!
//! 0. v = A p, and r̂·v and v·v;
//! 1. s = r - α v with α = r̂·r / r̂·v, and s·s;
//! 2. t = A s, and t·s and t·t;
//! 3. r = s - ω t with ω = t·s / t·t, and r̂·r and r·r;
//! 4. y += α p + ω s; p = r + β (p - ω v).
//!
//! y moves in the last phase, so that an iterate that was the best so far is set aside when the iteration leaves it.
//!
//! # Breakdowns
//!
//! Where the shadow residual r̂ is, but for rounding, orthogonal to v or to r, the next numbers would be noise. The iteration starts
//! anew from where it is, with r̂ = p = r, as often as need be. It stops if no step was made since the last start, which would be
//! the same again, or if it has gone astray. Where t is orthogonal to s it stops at once, after half a step: a new start with r = s
//! would meet r̂·v = s·t.

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
