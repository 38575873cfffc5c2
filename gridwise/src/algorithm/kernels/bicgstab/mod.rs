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

mod steer;

use self::steer::{Next, Quotient, Then};
pub(crate) use self::steer::{RECORD, Record};
use super::{
    rows::{self, LANES, Rows, first, groups, load, rest, store},
    run::RunView,
};
use crate::kernel::{Acc, Phase, Phased, SpanMut};

/// Numbers of the sums that blocks hand to each other.
pub(crate) const SHADOW_V: usize = 0;
pub(crate) const VV: usize = 1;
pub(crate) const SS: usize = 2;
pub(crate) const TS: usize = 3;
pub(crate) const TT: usize = 4;
pub(crate) const SHADOW_R: usize = 5;
pub(crate) const RR: usize = 6;

#[repr(C)]
pub struct Kernel<'a> {
    pub(crate) rows: Rows<'a>,
    pub(crate) y: SpanMut<'a, f64>,
    pub(crate) best: SpanMut<'a, f64>,
    pub(crate) shadow: SpanMut<'a, f64>,
    pub(crate) r: SpanMut<'a, f64>,
    pub(crate) p: SpanMut<'a, f64>,
    pub(crate) v: SpanMut<'a, f64>,
    pub(crate) s: SpanMut<'a, f64>,
    pub(crate) t: SpanMut<'a, f64>,
    pub(crate) record: SpanMut<'a, f64>,
    pub(crate) run: RunView<'a>,
}

// SAFETY: a thread writes vectors at its own rows only, and other rows are read of `p` in phase 0, which is written in phase 4,
// and of `s` in phase 2, which is written in phase 1. A block's sums are written by its first thread, each in one phase, and
// read in later phases of the step. The record is read at one parity of the step and written at the other. Block barriers stand
// in sums, which every thread makes once in each of the phases 0 to 3, or, all threads alike, not at all. `proceed` reads what one
// thread writes in phase 4.
unsafe impl Phased for Kernel<'_> {
    const NAME: &'static str = "bicgstab";
    type Shared = ();
    const PHASES: usize = 5;

    #[inline(always)]
    fn phase<A: Acc>(self, acc: A, (): (), at: Phase) {
        match at.index {
            0 => self.multiply_direction(acc),
            1 => self.first_half(acc, at.step),
            2 => self.multiply_half(acc, at.step),
            3 => self.second_half(acc, at.step),
            _ => self.move_on(acc, at.step),
        }
    }

    #[inline(always)]
    fn proceed<A: Acc>(self, acc: A, step: usize) -> bool {
        self.run.proceed(acc, step)
    }
}

impl Kernel<'_> {
    #[inline(always)]
    fn record_of<A: Acc>(&self, acc: A, step: usize) -> Record {
        let slot = self.run.steps_before(step) % 2 * RECORD;
        Record::from_array(core::array::from_fn(|k| self.record.get(acc, slot + k)))
    }

    /// v = A p, and r̂·v and v·v.
    #[inline(always)]
    fn multiply_direction<A: Acc>(&self, acc: A) {
        let (mut shadow_v, mut vv) = (0.0, 0.0);
        for run in acc.runs_in_block(self.rows.of_block(acc)) {
            let (shadow, v) = (self.shadow.slice(acc, run.clone()), self.v.slice(acc, run.clone()));
            let each = |i, product| {
                v.set(acc, i, product);
                shadow_v += shadow.get(acc, i) * product;
                vv += product * product;
            };
            // SAFETY: `p` has an element a row of the matrix, which is square.
            unsafe { self.rows.multiply(acc, run, &self.p, each) };
        }
        self.rows.store_sums(acc, SHADOW_V, [shadow_v, vv]);
    }

    /// s = r - α v, and s·s. Without α, nothing.
    #[inline(always)]
    fn first_half<A: Acc>(&self, acc: A, step: usize) {
        let Quotient::Value(alpha) = self.alpha(acc, self.record_of(acc, step)) else {
            return;
        };
        let mut ss = [0.0; LANES];
        for run in acc.runs_in_block(self.rows.of_block(acc)) {
            let views = Difference::new([&self.r, &self.v, &self.s].map(|span| span.slice(acc, run.clone())));
            for i in groups(run.len()) {
                // SAFETY: the views have `run.len()` rows, and the group lies below.
                let s = unsafe { views.take::<A, LANES>(acc, alpha, i) };
                (0..LANES).for_each(|lane| ss[lane] += s[lane] * s[lane]);
            }
            for i in rest(run.len()) {
                // SAFETY: as above.
                let [s] = unsafe { views.take(acc, alpha, i) };
                ss[0] += s * s;
            }
        }
        self.rows.store_sums(acc, SS, [ss.iter().sum()]);
    }

    /// t = A s, and t·s and t·t.
    #[inline(always)]
    fn multiply_half<A: Acc>(&self, acc: A, step: usize) {
        let Quotient::Value(_) = self.alpha(acc, self.record_of(acc, step)) else {
            return;
        };
        let (mut ts, mut tt) = (0.0, 0.0);
        for run in acc.runs_in_block(self.rows.of_block(acc)) {
            let (s, t) = (self.s.slice(acc, run.clone()), self.t.slice(acc, run.clone()));
            let each = |i, product| {
                t.set(acc, i, product);
                ts += s.get(acc, i) * product;
                tt += product * product;
            };
            // SAFETY: `s` has an element a row of the matrix, which is square.
            unsafe { self.rows.multiply(acc, run, &self.s, each) };
        }
        self.rows.store_sums(acc, TS, [ts, tt]);
    }

    /// r = s - ω t, and r̂·r and r·r. Without ω, r = s.
    #[inline(always)]
    fn second_half<A: Acc>(&self, acc: A, step: usize) {
        let Quotient::Value(_) = self.alpha(acc, self.record_of(acc, step)) else {
            return;
        };
        let omega = match self.omega(acc) {
            Quotient::Value(omega) => omega,
            Quotient::Degenerate => 0.0,
            Quotient::NotFinite => return,
        };
        let (mut shadow_r, mut rr) = ([0.0; LANES], [0.0; LANES]);
        for run in acc.runs_in_block(self.rows.of_block(acc)) {
            let shadow = self.shadow.slice(acc, run.clone());
            let views = Difference::new([&self.s, &self.t, &self.r].map(|span| span.slice(acc, run.clone())));
            for i in groups(run.len()) {
                // SAFETY: the views have `run.len()` rows, and the group lies below.
                let r = unsafe { views.take::<A, LANES>(acc, omega, i) };
                // SAFETY: as above.
                let shadow: [f64; LANES] = unsafe { load(acc, &shadow, i) };
                for lane in 0..LANES {
                    shadow_r[lane] += shadow[lane] * r[lane];
                    rr[lane] += r[lane] * r[lane];
                }
            }
            for i in rest(run.len()) {
                // SAFETY: as above.
                let [r] = unsafe { views.take(acc, omega, i) };
                first(&mut shadow_r)[0] += shadow.get(acc, i) * r;
                first(&mut rr)[0] += r * r;
            }
        }
        self.rows
            .store_sums(acc, SHADOW_R, [shadow_r.iter().sum(), rr.iter().sum()]);
    }

    /// y += α p + ω s; p = r + β (p - ω v), or a new start; and one thread records the step.
    #[inline(always)]
    fn move_on<A: Acc>(&self, acc: A, step: usize) {
        let record = self.record_of(acc, step);
        match self.next(acc, record) {
            Next::Stop(status) => {
                if self.leads(acc) {
                    self.run.stop(acc, step, status);
                }
            }
            Next::Restart => {
                self.start_anew(acc);
                self.remember(acc, step, Record::start(record.rr, record.best));
            }
            Next::Move {
                alpha,
                omega,
                after,
                then,
            } => {
                let leaves_best = record.rr <= record.best && after.rr > record.best;
                let beta = if let Then::Turn { beta } = then { beta } else { 0.0 };
                self.take_step(acc, leaves_best, [alpha, omega, beta]);
                let mut now = after;
                if let Then::Restart = then {
                    self.start_anew(acc);
                    now = Record::start(after.rr, after.best);
                }
                self.remember(acc, step, now);
                if let Then::Stop(status) = then
                    && self.leads(acc)
                {
                    self.run.stop(acc, step, status);
                }
            }
        }
    }

    #[inline(always)]
    fn take_step<A: Acc>(&self, acc: A, leaves_best: bool, [alpha, omega, beta]: [f64; 3]) {
        for run in acc.runs_in_block(self.rows.of_block(acc)) {
            let [y, best, p, s, r, v] =
                [&self.y, &self.best, &self.p, &self.s, &self.r, &self.v].map(|span| span.slice(acc, run.clone()));
            if leaves_best {
                rows::copy(acc, &y, &best);
            }
            for i in 0..run.len() {
                let along = p.get(acc, i);
                y.set(acc, i, y.get(acc, i) + (alpha * along + omega * s.get(acc, i)));
                p.set(acc, i, r.get(acc, i) + beta * (along - omega * v.get(acc, i)));
            }
        }
    }

    /// r̂ = p = r.
    #[inline(always)]
    fn start_anew<A: Acc>(&self, acc: A) {
        for run in acc.runs_in_block(self.rows.of_block(acc)) {
            let [r, p, shadow] = [&self.r, &self.p, &self.shadow].map(|span| span.slice(acc, run.clone()));
            rows::copy(acc, &r, &p);
            rows::copy(acc, &r, &shadow);
        }
    }

    #[inline(always)]
    fn leads<A: Acc>(&self, acc: A) -> bool {
        acc.block_index() == 0 && acc.thread_index() == 0
    }

    /// Stores the record for the next step.
    #[inline(always)]
    fn remember<A: Acc>(&self, acc: A, step: usize, record: Record) {
        if self.leads(acc) {
            let slot = self.run.steps_before(step + 1) % 2 * RECORD;
            for (k, number) in record.to_array().into_iter().enumerate() {
                self.record.set(acc, slot + k, number);
            }
            self.run.record(acc, step, record.rr);
        }
    }
}

/// Views of the same rows.
struct Difference<'a> {
    of: SpanMut<'a, f64>,
    and: SpanMut<'a, f64>,
    to: SpanMut<'a, f64>,
}

impl<'a> Difference<'a> {
    #[inline(always)]
    fn new([of, and, to]: [SpanMut<'a, f64>; 3]) -> Self {
        Self { of, and, to }
    }

    /// `to = of - factor * and` at `N` rows from `i` on, and returns it. All loads come before the stores, which might otherwise
    /// seem to overlap them.
    ///
    /// # Safety
    /// The views have that many rows.
    #[inline(always)]
    unsafe fn take<A: Acc, const N: usize>(&self, acc: A, factor: f64, i: usize) -> [f64; N] {
        // SAFETY: by the caller.
        let of: [f64; N] = unsafe { load(acc, &self.of, i) };
        // SAFETY: by the caller.
        let and: [f64; N] = unsafe { load(acc, &self.and, i) };
        let difference = core::array::from_fn(|lane| of[lane] - factor * and[lane]);
        // SAFETY: by the caller.
        unsafe { store(acc, &self.to, i, difference) };
        difference
    }
}
