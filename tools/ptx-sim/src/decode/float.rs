//! What floating point instructions compute.
//!
//! Rounding is to nearest, ties to even: other modes are refused except in conversions. A single that is not a number comes out as `0x7fffffff`, as
//! on the hardware. The approximations are more exact here than there.

use super::lift::{Binary, Compare, Ternary, Unary, binary, compare, ternary, unary};
use crate::syntax::Type;
use std::cmp::Ordering;

const NAN: u32 = 0x7fff_ffff;

fn flush<const FTZ: bool>(x: f32) -> f32 {
    if FTZ && x.is_subnormal() {
        0.0_f32.copysign(x)
    } else {
        x
    }
}

fn single<const FTZ: bool>(bits: u64) -> f32 {
    flush::<FTZ>(f32::from_bits(bits as u32))
}

fn out<const FTZ: bool>(x: f32) -> u64 {
    u64::from(if x.is_nan() { NAN } else { flush::<FTZ>(x).to_bits() })
}

fn double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// The function for singles, flushed or not, and for doubles.
macro_rules! for_float {
    ($kind:ident, $ty:expr, $ftz:expr, |$($x:ident),+| $body:expr) => {
        match ($ty.bits, $ftz) {
            (32, false) => Some($kind!(|$($x),+| { $(let $x = single::<false>($x);)+ out::<false>($body) })),
            (32, true) => Some($kind!(|$($x),+| { $(let $x = single::<true>($x);)+ out::<true>($body) })),
            (64, false) => Some($kind!(|$($x),+| { $(let $x = double($x);)+ ($body).to_bits() })),
            _ => None,
        }
    };
}

/// One operand.
pub(super) fn one(name: &str, ty: Type, ftz: bool) -> Option<Unary> {
    match name {
        // On the bits, so that a value which is no number keeps its own.
        "neg" if !ftz && ty.bits == 32 => Some(unary!(|x| u64::from(x as u32 ^ 0x8000_0000))),
        "abs" if !ftz && ty.bits == 32 => Some(unary!(|x| u64::from(x as u32 & 0x7fff_ffff))),
        "neg" => for_float!(unary, ty, ftz, |x| -x),
        "abs" => for_float!(unary, ty, ftz, |x| x.abs()),
        "sqrt" => for_float!(unary, ty, ftz, |x| x.sqrt()),
        "rsqrt" => for_float!(unary, ty, ftz, |x| 1.0 / x.sqrt()),
        "rcp" => for_float!(unary, ty, ftz, |x| 1.0 / x),
        "ex2" => for_float!(unary, ty, ftz, |x| x.exp2()),
        "lg2" => for_float!(unary, ty, ftz, |x| x.log2()),
        "sin" => for_float!(unary, ty, ftz, |x| x.sin()),
        "cos" => for_float!(unary, ty, ftz, |x| x.cos()),
        "tanh" => for_float!(unary, ty, ftz, |x| x.tanh()),
        "rni" => for_float!(unary, ty, ftz, |x| x.round_ties_even()),
        "rzi" => for_float!(unary, ty, ftz, |x| x.trunc()),
        "rmi" => for_float!(unary, ty, ftz, |x| x.floor()),
        "rpi" => for_float!(unary, ty, ftz, |x| x.ceil()),
        "sat" => for_float!(unary, ty, ftz, |x| if x > 0.0 { x.min(1.0) } else { 0.0 }),
        _ => None,
    }
}

/// Two operands.
pub(super) fn two(name: &str, ty: Type, ftz: bool) -> Option<Binary> {
    match name {
        "add" => for_float!(binary, ty, ftz, |x, y| x + y),
        "sub" => for_float!(binary, ty, ftz, |x, y| x - y),
        "mul" => for_float!(binary, ty, ftz, |x, y| x * y),
        "div" => for_float!(binary, ty, ftz, |x, y| x / y),
        "min" => for_float!(binary, ty, ftz, |x, y| if x.is_nan() {
            y
        } else if y.is_nan() || x < y || (x == y && x.is_sign_negative()) {
            x
        } else {
            y
        }),
        "max" => for_float!(binary, ty, ftz, |x, y| if x.is_nan() {
            y
        } else if y.is_nan() || x > y || (x == y && x.is_sign_positive()) {
            x
        } else {
            y
        }),
        "min.NaN" => for_float!(binary, ty, ftz, |x, y| if x.is_nan() || y.is_nan() {
            x + y
        } else if x < y || (x == y && x.is_sign_negative()) {
            x
        } else {
            y
        }),
        "max.NaN" => for_float!(binary, ty, ftz, |x, y| if x.is_nan() || y.is_nan() {
            x + y
        } else if x > y || (x == y && x.is_sign_positive()) {
            x
        } else {
            y
        }),
        // The sign of the first on the magnitude of the second.
        "copysign" => match ty.bits {
            32 => Some(binary!(|x, y| u64::from(
                (x as u32 & 0x8000_0000) | (y as u32 & 0x7fff_ffff)
            ))),
            _ => Some(binary!(|x, y| (x & (1 << 63)) | (y & !(1 << 63)))),
        },
        _ => None,
    }
}

/// `fma`, and `mad`, which is the same thing on every GPU of this century.
pub(super) fn three(name: &str, ty: Type, ftz: bool) -> Option<Ternary> {
    match name {
        "fma" | "mad" => for_float!(ternary, ty, ftz, |x, y, z| x.mul_add(y, z)),
        _ => None,
    }
}

macro_rules! float_compare {
    ($ty:expr, $ftz:expr, |$x:ident, $y:ident| $body:expr) => {
        match ($ty.bits, $ftz) {
            (32, false) => Some(compare!(|$x, $y| {
                let ($x, $y) = (single::<false>($x), single::<false>($y));
                $body
            })),
            (32, true) => Some(compare!(|$x, $y| {
                let ($x, $y) = (single::<true>($x), single::<true>($y));
                $body
            })),
            (64, false) => Some(compare!(|$x, $y| {
                let ($x, $y) = (double($x), double($y));
                $body
            })),
            _ => None,
        }
    };
}

/// `setp` on floats: the relations that end in `u` hold also where an operand is no number.
pub(super) fn comparison(relation: &str, ty: Type, ftz: bool) -> Option<Compare> {
    match relation {
        "eq" => float_compare!(ty, ftz, |x, y| x == y),
        "ne" => float_compare!(ty, ftz, |x, y| x.partial_cmp(&y).is_some_and(Ordering::is_ne)),
        "lt" => float_compare!(ty, ftz, |x, y| x < y),
        "le" => float_compare!(ty, ftz, |x, y| x <= y),
        "gt" => float_compare!(ty, ftz, |x, y| x > y),
        "ge" => float_compare!(ty, ftz, |x, y| x >= y),
        "equ" => float_compare!(ty, ftz, |x, y| x.partial_cmp(&y).is_none_or(Ordering::is_eq)),
        "neu" => float_compare!(ty, ftz, |x, y| x != y),
        "ltu" => float_compare!(ty, ftz, |x, y| x.is_nan() || y.is_nan() || x < y),
        "leu" => float_compare!(ty, ftz, |x, y| x.is_nan() || y.is_nan() || x <= y),
        "gtu" => float_compare!(ty, ftz, |x, y| x.is_nan() || y.is_nan() || x > y),
        "geu" => float_compare!(ty, ftz, |x, y| x.is_nan() || y.is_nan() || x >= y),
        "num" => float_compare!(ty, ftz, |x, y| !x.is_nan() && !y.is_nan()),
        "nan" => float_compare!(ty, ftz, |x, y| x.is_nan() || y.is_nan()),
        _ => None,
    }
}

/// `testp`: a property of one value; the second operand is ignored.
pub(super) fn property(name: &str, ty: Type) -> Option<Compare> {
    match name {
        "finite" => float_compare!(ty, false, |x, _y| x.is_finite()),
        "infinite" => float_compare!(ty, false, |x, _y| x.is_infinite()),
        "number" => float_compare!(ty, false, |x, _y| !x.is_nan()),
        "notanumber" => float_compare!(ty, false, |x, _y| x.is_nan()),
        "normal" => float_compare!(ty, false, |x, _y| x.is_normal()),
        "subnormal" => float_compare!(ty, false, |x, _y| x.is_subnormal() || x == 0.0),
        _ => None,
    }
}
