//! The numbers that steer a step, and how it ends: every thread makes the same of them.

use super::{Kernel, RR, SHADOW_R, SHADOW_V, SS, TS, TT, VV};
use crate::{algorithm::kernels::run::outcome, kernel::Acc};

/// The record of a step, at the parity of the step that reads it.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Record {
    /// r̂·r.
    pub(crate) rho: f64,
    /// r·r.
    pub(crate) rr: f64,
    /// The smallest r·r so far.
    pub(crate) best: f64,
    /// r̂·r̂.
    pub(crate) shadow: f64,
    /// Whether no step was made since the iteration started, or started anew: 1 or 0.
    pub(crate) fresh: f64,
}

/// How many numbers that is.
pub(crate) const RECORD: usize = 5;

impl Record {
    pub(crate) fn to_array(self) -> [f64; RECORD] {
        [self.rho, self.rr, self.best, self.shadow, self.fresh]
    }

    #[inline(always)]
    pub(crate) fn from_array([rho, rr, best, shadow, fresh]: [f64; RECORD]) -> Self {
        Self {
            rho,
            rr,
            best,
            shadow,
            fresh,
        }
    }
}

/// A quotient that a step needs.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Quotient {
    Value(f64),
    /// A product that it needs is zero but for rounding.
    Degenerate,
    NotFinite,
}

/// Whether the product of two vectors is nothing but rounding, by their squared lengths.
#[inline(always)]
fn orthogonal(product: f64, a: f64, b: f64) -> bool {
    // Divided before it is squared, so that small residuals do not underflow.
    let lengths = a * b;
    lengths == 0.0 || product == 0.0 || (product / a) * (product / b) <= f64::EPSILON * f64::EPSILON
}

/// Dividend over divisor, unless `degenerate`; with all of `inputs` finite.
#[inline(always)]
fn quotient(dividend: f64, divisor: f64, inputs: [f64; 3], degenerate: bool) -> Quotient {
    if !inputs.iter().all(|input| input.is_finite()) {
        return Quotient::NotFinite;
    }
    let value = dividend / divisor;
    if degenerate || !value.is_finite() {
        return Quotient::Degenerate;
    }
    Quotient::Value(value)
}

/// A squared residual so many times the smallest so far has lost half of the digits: a new start from there is no use.
const ASTRAY: f64 = 1e16;

impl Record {
    /// At the start, or after a new one, with a residual of squared length `rr`, where the smallest was `best`.
    #[inline(always)]
    pub(crate) fn start(rr: f64, best: f64) -> Self {
        Self {
            rho: rr,
            rr,
            best,
            shadow: rr,
            fresh: 1.0,
        }
    }

    /// Whether to start anew where the next step would be noise.
    #[inline(always)]
    fn may_restart(self) -> bool {
        self.fresh == 0.0 && self.rr <= ASTRAY * self.best
    }
}

/// How a step ends.
pub(crate) enum Next {
    /// There is no step.
    Stop(u64),
    /// There is no step, but a new start.
    Restart,
    /// There is a step.
    Move {
        alpha: f64,
        omega: f64,
        after: Record,
        then: Then,
    },
}

/// What comes after a step.
#[derive(Clone, Copy)]
pub(crate) enum Then {
    Turn { beta: f64 },
    Restart,
    Stop(u64),
}

impl Kernel<'_> {
    /// α, from phase 1 on.
    #[inline(always)]
    pub(crate) fn alpha<A: Acc>(&self, acc: A, record: Record) -> Quotient {
        let (shadow_v, vv) = (self.rows.sum(acc, SHADOW_V), self.rows.sum(acc, VV));
        let degenerate = orthogonal(shadow_v, record.shadow, vv);
        quotient(record.rho, shadow_v, [record.rho, shadow_v, vv], degenerate)
    }

    /// ω, from phase 3 on.
    #[inline(always)]
    pub(crate) fn omega<A: Acc>(&self, acc: A) -> Quotient {
        let [ts, tt, ss] = [TS, TT, SS].map(|which| self.rows.sum(acc, which));
        quotient(ts, tt, [ts, tt, ss], orthogonal(ts, tt, ss))
    }

    /// How the step ends: the same in every thread.
    #[inline(always)]
    pub(crate) fn next<A: Acc>(&self, acc: A, record: Record) -> Next {
        let alpha = match self.alpha(acc, record) {
            Quotient::Value(alpha) => alpha,
            Quotient::Degenerate if record.may_restart() => return Next::Restart,
            Quotient::Degenerate => return Next::Stop(outcome::RHO),
            Quotient::NotFinite => return Next::Stop(outcome::NOT_FINITE),
        };
        let omega = match self.omega(acc) {
            Quotient::Value(omega) => Some(omega),
            Quotient::Degenerate => None,
            Quotient::NotFinite => return Next::Stop(outcome::NOT_FINITE),
        };
        let (rho, rr) = (self.rows.sum(acc, SHADOW_R), self.rows.sum(acc, RR));
        if !(rho.is_finite() && rr.is_finite()) {
            return Next::Stop(outcome::NOT_FINITE);
        }
        let after = Record {
            rho,
            rr,
            best: record.best.min(rr),
            fresh: 0.0,
            ..record
        };
        let then = match omega {
            // Where the residual is gone every product is zero, and that is no breakdown.
            _ if rr <= self.run.target => Then::Stop(outcome::CONVERGED),
            Some(omega) if !orthogonal(rho, record.shadow, rr) => Then::Turn {
                beta: (rho / record.rho) * (alpha / omega),
            },
            Some(_) if after.may_restart() => Then::Restart,
            Some(_) => Then::Stop(outcome::RHO),
            None => Then::Stop(outcome::OMEGA),
        };
        Next::Move {
            alpha,
            omega: omega.unwrap_or(0.0),
            after,
            then,
        }
    }
}
