//! `cvt`: from one type to another.

use super::lift::{Unary, unary};
use crate::syntax::{Class, Type};

/// How a conversion rounds where it has to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rounding {
    Nearest,
    Zero,
    Down,
    Up,
}

/// The function that converts, or `None` where there is none or it is not known.
pub(super) fn convert(to: Type, from: Type, rounding: Option<Rounding>, saturate: bool) -> Option<Unary> {
    match (to.is_float(), from.is_float()) {
        (false, false) => integers(to, from, saturate),
        (true, false) => from_integer(to, from, rounding?),
        (false, true) => to_integer(to, from, rounding?),
        (true, true) => floats(to, from, rounding),
    }
}

/// The value as a signed number of any width.
macro_rules! wide {
    ($x:expr, $from:ty) => {
        i128::from($x as $from)
    };
}

macro_rules! by_source {
    ($from:expr, |$x:ident| $body:expr) => {
        match ($from.class == Class::Signed, $from.bits) {
            (false, 8) => Some(unary!(|$x| {
                let $x = wide!($x, u8);
                $body
            })),
            (false, 16) => Some(unary!(|$x| {
                let $x = wide!($x, u16);
                $body
            })),
            (false, 32) => Some(unary!(|$x| {
                let $x = wide!($x, u32);
                $body
            })),
            (false, 64) => Some(unary!(|$x| {
                let $x = wide!($x, u64);
                $body
            })),
            (true, 8) => Some(unary!(|$x| {
                let $x = wide!($x, i8);
                $body
            })),
            (true, 16) => Some(unary!(|$x| {
                let $x = wide!($x, i16);
                $body
            })),
            (true, 32) => Some(unary!(|$x| {
                let $x = wide!($x, i32);
                $body
            })),
            (true, 64) => Some(unary!(|$x| {
                let $x = wide!($x, i64);
                $body
            })),
            _ => None,
        }
    };
}

fn integers(to: Type, from: Type, saturate: bool) -> Option<Unary> {
    // A result narrower than its register is extended to it by its sign.
    match (saturate, to.class == Class::Signed, to.bits) {
        (false, false, 8) => by_source!(from, |x| u64::from(x as u8)),
        (false, true, 8) => by_source!(from, |x| x as i8 as u64),
        (false, false, 16) => by_source!(from, |x| u64::from(x as u16)),
        (false, true, 16) => by_source!(from, |x| x as i16 as u64),
        (false, _, 32) => by_source!(from, |x| u64::from(x as u32)),
        (false, _, 64) => by_source!(from, |x| x as u64),
        (true, false, 8) => by_source!(from, |x| x.clamp(0, 0xff) as u64),
        (true, false, 16) => by_source!(from, |x| x.clamp(0, 0xffff) as u64),
        (true, false, 32) => by_source!(from, |x| x.clamp(0, 0xffff_ffff) as u64),
        (true, false, 64) => by_source!(from, |x| x.clamp(0, u64::MAX.into()) as u64),
        (true, true, 8) => by_source!(from, |x| x.clamp(i8::MIN.into(), i8::MAX.into()) as u64),
        (true, true, 16) => by_source!(from, |x| x.clamp(i16::MIN.into(), i16::MAX.into()) as u64),
        (true, true, 32) => by_source!(from, |x| u64::from(x.clamp(i32::MIN.into(), i32::MAX.into()) as u32)),
        (true, true, 64) => by_source!(from, |x| x.clamp(i64::MIN.into(), i64::MAX.into()) as u64),
        _ => None,
    }
}

/// Turns the nearest value into the one on the wanted side: `order` compares it with the exact value.
macro_rules! directed {
    ($nearest:expr, $order:expr, $negative:expr, $rounding:expr) => {{
        let (value, order) = ($nearest, $order);
        let negative: bool = $negative;
        match ($rounding, order) {
            (Rounding::Down, std::cmp::Ordering::Greater) => value.next_down(),
            (Rounding::Up, std::cmp::Ordering::Less) => value.next_up(),
            (Rounding::Zero, std::cmp::Ordering::Greater) if !negative => value.next_down(),
            (Rounding::Zero, std::cmp::Ordering::Less) if negative => value.next_up(),
            _ => value,
        }
    }};
}

fn integer_to_single(x: i128, rounding: Rounding) -> u64 {
    let value = x as f32;
    u64::from(directed!(value, (value as i128).cmp(&x), x < 0, rounding).to_bits())
}

fn integer_to_double(x: i128, rounding: Rounding) -> u64 {
    let value = x as f64;
    directed!(value, (value as i128).cmp(&x), x < 0, rounding).to_bits()
}

fn from_integer(to: Type, from: Type, rounding: Rounding) -> Option<Unary> {
    match (to.bits, rounding) {
        (32, Rounding::Nearest) => by_source!(from, |x| integer_to_single(x, Rounding::Nearest)),
        (32, Rounding::Zero) => by_source!(from, |x| integer_to_single(x, Rounding::Zero)),
        (32, Rounding::Down) => by_source!(from, |x| integer_to_single(x, Rounding::Down)),
        (32, Rounding::Up) => by_source!(from, |x| integer_to_single(x, Rounding::Up)),
        (64, Rounding::Nearest) => by_source!(from, |x| integer_to_double(x, Rounding::Nearest)),
        (64, Rounding::Zero) => by_source!(from, |x| integer_to_double(x, Rounding::Zero)),
        (64, Rounding::Down) => by_source!(from, |x| integer_to_double(x, Rounding::Down)),
        (64, Rounding::Up) => by_source!(from, |x| integer_to_double(x, Rounding::Up)),
        _ => None,
    }
}

/// A whole number in the range of the type: outside it the nearest end. What is no number becomes zero, or the top bit alone where 64 bits are
/// involved on either side.
fn clamp_to(x: f64, from_double: bool, to_signed: bool, bits: u32) -> u64 {
    if x.is_nan() {
        return if from_double || bits == 64 { 1 << (bits - 1) } else { 0 };
    }
    match (to_signed, bits) {
        (false, 8) => u64::from(x as u8),
        (false, 16) => u64::from(x as u16),
        (false, 32) => u64::from(x as u32),
        (false, _) => x as u64,
        (true, 8) => x as i8 as u64,
        (true, 16) => x as i16 as u64,
        (true, 32) => u64::from(x as i32 as u32),
        (true, _) => x as i64 as u64,
    }
}

macro_rules! by_target {
    ($to:expr, $double:literal, |$x:ident| $value:expr) => {
        match ($to.class == Class::Signed, $to.bits) {
            (false, 8) => Some(unary!(|$x| clamp_to($value, $double, false, 8))),
            (false, 16) => Some(unary!(|$x| clamp_to($value, $double, false, 16))),
            (false, 32) => Some(unary!(|$x| clamp_to($value, $double, false, 32))),
            (false, 64) => Some(unary!(|$x| clamp_to($value, $double, false, 64))),
            (true, 8) => Some(unary!(|$x| clamp_to($value, $double, true, 8))),
            (true, 16) => Some(unary!(|$x| clamp_to($value, $double, true, 16))),
            (true, 32) => Some(unary!(|$x| clamp_to($value, $double, true, 32))),
            (true, 64) => Some(unary!(|$x| clamp_to($value, $double, true, 64))),
            _ => None,
        }
    };
}

fn single(x: u64) -> f64 {
    f64::from(f32::from_bits(x as u32))
}

fn to_integer(to: Type, from: Type, rounding: Rounding) -> Option<Unary> {
    match (from.bits, rounding) {
        (32, Rounding::Nearest) => by_target!(to, false, |x| single(x).round_ties_even()),
        (32, Rounding::Zero) => by_target!(to, false, |x| single(x).trunc()),
        (32, Rounding::Down) => by_target!(to, false, |x| single(x).floor()),
        (32, Rounding::Up) => by_target!(to, false, |x| single(x).ceil()),
        (64, Rounding::Nearest) => by_target!(to, true, |x| f64::from_bits(x).round_ties_even()),
        (64, Rounding::Zero) => by_target!(to, true, |x| f64::from_bits(x).trunc()),
        (64, Rounding::Down) => by_target!(to, true, |x| f64::from_bits(x).floor()),
        (64, Rounding::Up) => by_target!(to, true, |x| f64::from_bits(x).ceil()),
        _ => None,
    }
}

fn narrow(bits: u64, rounding: Rounding) -> u64 {
    let exact = f64::from_bits(bits);
    if exact.is_nan() {
        return 0x7fff_ffff;
    }
    let value = exact as f32;
    let order = f64::from(value)
        .partial_cmp(&exact)
        .unwrap_or(std::cmp::Ordering::Equal);
    u64::from(directed!(value, order, exact < 0.0, rounding).to_bits())
}

fn floats(to: Type, from: Type, rounding: Option<Rounding>) -> Option<Unary> {
    match (to.bits, from.bits, rounding) {
        (64, 32, None) => Some(unary!(|x| single(x).to_bits())),
        (32, 64, Some(Rounding::Nearest)) => Some(unary!(|x| narrow(x, Rounding::Nearest))),
        (32, 64, Some(Rounding::Zero)) => Some(unary!(|x| narrow(x, Rounding::Zero))),
        (32, 64, Some(Rounding::Down)) => Some(unary!(|x| narrow(x, Rounding::Down))),
        (32, 64, Some(Rounding::Up)) => Some(unary!(|x| narrow(x, Rounding::Up))),
        (32, 32, None) => Some(unary!(|x| u64::from(x as u32))),
        (64, 64, None) => Some(unary!(|x| x)),
        _ => None,
    }
}
