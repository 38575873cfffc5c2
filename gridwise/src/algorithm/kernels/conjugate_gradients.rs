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
    rows::{self, LANES, Rows, first, groups, load, rest, store},
    run::{RunView, outcome},
};
use crate::kernel::{Acc, Phase, Phased, Span, SpanMut};

/// Numbers of the sums that blocks hand to each other.
pub(crate) const PQ: usize = 0;
pub(crate) const RZ: usize = 1;
pub(crate) const RR: usize = 2;

/// The record of a step, at the parity of the step that reads it: r·z, r·r, and the smallest r·r so far.
pub(crate) const RECORD: usize = 3;
pub(crate) const RECORD_RZ: usize = 0;
pub(crate) const RECORD_RR: usize = 1;
pub(crate) const RECORD_BEST: usize = 2;

#[repr(C)]
pub struct Kernel<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) inverse_diagonal: Span<'a, f64>,
    pub(crate) x: SpanMut<'a, f64>,
    pub(crate) best: SpanMut<'a, f64>,
    pub(crate) r: SpanMut<'a, f64>,
    pub(crate) p: SpanMut<'a, f64>,
    pub(crate) q: SpanMut<'a, f64>,
    pub(crate) record: SpanMut<'a, f64>,
    pub(crate) run: RunView<'a>,
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
