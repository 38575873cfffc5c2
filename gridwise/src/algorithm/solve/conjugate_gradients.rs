//! Conjugate gradients with a Jacobi preconditioner, for symmetric positive definite matrices.
//!
//! Hestenes and Stiefel, *Methods of conjugate gradients for solving linear systems*, 1952; preconditioned as in Saad,
//! *Iterative Methods for Sparse Linear Systems*, algorithm 9.1. A step has three phases:
//!
//! 0. q = A p, and p·q;
//! 1. r -= α q with α = r·z / p·q, and r·z and r·r, where z = r / diagonal is made on the way and never stored;
//! 2. x += α p; p = z + β p.
//!
//! x moves in the last phase, not with r, because there the length of the new residual is known: an iterate that was the best so
//! far is set aside only when the iteration leaves it for a worse one, so a residual that falls all the way costs no copies.

use super::{
    rows::{self, DeviceRows, LANES, Rows, first, groups, load, rest, store},
    run::{RunView, outcome},
};
use crate::{
    host::{buffer::Buffer, error::Error, queue::Queue},
    kernel::{Acc, Phase, Phased, Span, SpanMut},
};

/// Numbers of the sums that blocks hand to each other.
const PQ: usize = 0;
const RZ: usize = 1;
const RR: usize = 2;

/// The record of a step, at the parity of the step that reads it: r·z, r·r, and the smallest r·r so far.
const RECORD: usize = 3;
const RECORD_RZ: usize = 0;
const RECORD_RR: usize = 1;
const RECORD_BEST: usize = 2;

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

#[repr(C)]
pub(super) struct Kernel<'a> {
    rows: Rows<'a>,
    inverse_diagonal: Span<'a, f64>,
    x: SpanMut<'a, f64>,
    best: SpanMut<'a, f64>,
    r: SpanMut<'a, f64>,
    p: SpanMut<'a, f64>,
    q: SpanMut<'a, f64>,
    record: SpanMut<'a, f64>,
    run: RunView<'a>,
}

// SAFETY: a thread writes vectors at its own rows only, and other rows are read in phase 0 only, of `p`, which is written in
// phase 2. A block's sums are written by its first thread: number 0 in phase 0 and the others in phase 1, and read in later
// phases of the step. The record is read at one parity of the step and written at the other. Block barriers stand in sums,
// which every thread makes once in each of the phases 0 and 1, or, all threads alike, not at all. `proceed` reads what one
// thread writes in phase 2.
unsafe impl Phased for Kernel<'_> {
    const NAME: &'static str = "conjugate_gradients";
    type Shared = ();
    const PHASES: usize = 3;

    #[inline(always)]
    fn phase<A: Acc>(self, acc: A, (): (), at: Phase) {
        match at.index {
            0 => self.multiply(acc),
            1 => self.shorten_residual(acc, at.step),
            _ => self.move_on(acc, at.step),
        }
    }

    #[inline(always)]
    fn proceed<A: Acc>(self, acc: A, step: usize) -> bool {
        self.run.proceed(acc, step)
    }
}

impl Kernel<'_> {
    /// q = A p, and p·q.
    #[inline(always)]
    fn multiply<A: Acc>(&self, acc: A) {
        let mut pq = 0.0;
        for run in acc.runs_in_block(self.rows.of_block(acc)) {
            let (p, q) = (self.p.slice(acc, run.clone()), self.q.slice(acc, run.clone()));
            let each = |i, product| {
                q.set(acc, i, product);
                pq += p.get(acc, i) * product;
            };
            // SAFETY: `p` has an element a row of the matrix, which is square.
            unsafe { self.rows.multiply(acc, run, &self.p, each) };
        }
        self.rows.store_sums(acc, PQ, [pq]);
    }

    /// r·z and r·r at the start of the step, and the smallest r·r so far.
    #[inline(always)]
    fn record_of<A: Acc>(&self, acc: A, step: usize) -> [f64; RECORD] {
        let slot = self.run.steps_before(step) % 2 * RECORD;
        core::array::from_fn(|k| self.record.get(acc, slot + k))
    }

    /// r -= α q, r·z and r·r. Without a usable p·q, nothing.
    #[inline(always)]
    fn shorten_residual<A: Acc>(&self, acc: A, step: usize) {
        let pq = self.rows.sum(acc, PQ);
        if !usable(pq) {
            return;
        }
        let alpha = self.record_of(acc, step)[RECORD_RZ] / pq;
        let (mut rz, mut rr) = ([0.0; LANES], [0.0; LANES]);
        for run in acc.runs_in_block(self.rows.of_block(acc)) {
            let views = Residual {
                r: self.r.slice(acc, run.clone()),
                q: self.q.slice(acc, run.clone()),
                inverse_diagonal: &self.inverse_diagonal[run.clone()],
            };
            for i in groups(run.len()) {
                // SAFETY: the views have `run.len()` rows, and the group lies below.
                unsafe { views.shorten(acc, alpha, i, &mut rz, &mut rr) };
            }
            for i in rest(run.len()) {
                // SAFETY: as above.
                unsafe { views.shorten(acc, alpha, i, first(&mut rz), first(&mut rr)) };
            }
        }
        self.rows.store_sums(acc, RZ, [rz.iter().sum(), rr.iter().sum()]);
    }

    /// x += α p; p = z + β p; and one thread records the step.
    #[inline(always)]
    fn move_on<A: Acc>(&self, acc: A, step: usize) {
        let leader = acc.block_index() == 0 && acc.thread_index() == 0;
        let pq = self.rows.sum(acc, PQ);
        let [rz, rr, best] = self.record_of(acc, step);
        if !usable(pq) {
            if leader {
                let status = if pq.is_finite() {
                    outcome::NOT_POSITIVE_DEFINITE
                } else {
                    outcome::NOT_FINITE
                };
                self.run.stop(acc, step, status);
            }
            return;
        }
        let (next_rz, next_rr) = (self.rows.sum(acc, RZ), self.rows.sum(acc, RR));
        if !(next_rz.is_finite() && next_rr.is_finite()) {
            if leader {
                self.run.stop(acc, step, outcome::NOT_FINITE);
            }
            return;
        }
        let (alpha, beta) = (rz / pq, next_rz / rz);
        let leaves_best = rr <= best && next_rr > best;
        for run in acc.runs_in_block(self.rows.of_block(acc)) {
            let (x, r, p) = (
                self.x.slice(acc, run.clone()),
                self.r.slice(acc, run.clone()),
                self.p.slice(acc, run.clone()),
            );
            if leaves_best {
                rows::copy(acc, &x, &self.best.slice(acc, run.clone()));
            }
            let inverse_diagonal = &self.inverse_diagonal[run.clone()];
            for (i, inverse) in inverse_diagonal.iter().enumerate() {
                // SAFETY: all views have `run.len()` elements.
                let along = unsafe { p.get_unchecked(acc, i) };
                // SAFETY: as above.
                let moved = unsafe { x.get_unchecked(acc, i) } + alpha * along;
                // SAFETY: as above.
                let turned = unsafe { r.get_unchecked(acc, i) } * inverse + beta * along;
                // SAFETY: as above.
                unsafe { x.set_unchecked(acc, i, moved) };
                // SAFETY: as above.
                unsafe { p.set_unchecked(acc, i, turned) };
            }
        }
        if leader {
            let slot = self.run.steps_before(step + 1) % 2 * RECORD;
            self.record.set(acc, slot + RECORD_RZ, next_rz);
            self.record.set(acc, slot + RECORD_RR, next_rr);
            self.record.set(acc, slot + RECORD_BEST, best.min(next_rr));
            self.run.record(acc, step, next_rr);
        }
    }
}

/// Whether the curvature p·q lets the step be taken.
#[inline(always)]
fn usable(pq: f64) -> bool {
    pq.is_finite() && pq > 0.0
}

/// Views of the same rows.
struct Residual<'a> {
    r: SpanMut<'a, f64>,
    q: SpanMut<'a, f64>,
    inverse_diagonal: &'a [f64],
}

impl Residual<'_> {
    /// `N` rows from `i` on. All loads come before the stores, which might otherwise seem to overlap them.
    ///
    /// # Safety
    /// The views have that many rows.
    #[inline(always)]
    unsafe fn shorten<A: Acc, const N: usize>(
        &self,
        acc: A,
        alpha: f64,
        i: usize,
        rz: &mut [f64; N],
        rr: &mut [f64; N],
    ) {
        // SAFETY: by the caller.
        let q: [f64; N] = unsafe { load(acc, &self.q, i) };
        // SAFETY: by the caller.
        let before: [f64; N] = unsafe { load(acc, &self.r, i) };
        // SAFETY: by the caller.
        let inverse: [f64; N] = core::array::from_fn(|lane| unsafe { *self.inverse_diagonal.get_unchecked(i + lane) });
        let r: [f64; N] = core::array::from_fn(|lane| before[lane] - alpha * q[lane]);
        for lane in 0..N {
            rz[lane] += r[lane] * (r[lane] * inverse[lane]);
            rr[lane] += r[lane] * r[lane];
        }
        // SAFETY: by the caller.
        unsafe { store(acc, &self.r, i, r) };
    }
}
