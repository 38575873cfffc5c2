//! Scalar functions lifted to the 32 lanes of a warp.
//!
//! A register is a row of 32 values, one a lane, each zero-extended to 64 bits. What an instruction computes is written as a function of one lane's
//! values; these macros make the function over rows that the executor calls.

/// One register of a warp: a value for each lane.
pub(crate) type Row = [u64; 32];

/// Every lane of a warp.
pub(crate) const ALL: u32 = u32::MAX;

/// `(registers, destination, operand, lanes)`
pub(crate) type Unary = fn(&mut [Row], u32, u32, u32);
/// `(registers, destination, operand, operand, lanes)`
pub(crate) type Binary = fn(&mut [Row], u32, u32, u32, u32);
/// `(registers, destination, operand, operand, operand, lanes)`
pub(crate) type Ternary = fn(&mut [Row], u32, u32, u32, u32, u32);
/// `(registers, operand, operand, lanes)`: the lanes for which it holds.
pub(crate) type Compare = fn(&[Row], u32, u32, u32) -> u32;

/// The lanes in a mask, lowest first.
pub(crate) struct Lanes(pub(crate) u32);

impl Iterator for Lanes {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let lane = self.0.trailing_zeros();
        self.0 &= self.0 - 1;
        Some(lane as usize)
    }
}

#[inline(always)]
pub(crate) fn lift1(rows: &mut [Row], d: u32, a: u32, lanes: u32, f: impl Fn(u64) -> u64) {
    let (d, a) = (d as usize, a as usize);
    if lanes == ALL {
        let x = rows[a];
        for (out, x) in rows[d].iter_mut().zip(x) {
            *out = f(x);
        }
    } else {
        for lane in Lanes(lanes) {
            rows[d][lane] = f(rows[a][lane]);
        }
    }
}

#[inline(always)]
pub(crate) fn lift2(rows: &mut [Row], d: u32, a: u32, b: u32, lanes: u32, f: impl Fn(u64, u64) -> u64) {
    let (d, a, b) = (d as usize, a as usize, b as usize);
    if lanes == ALL {
        let (x, y) = (rows[a], rows[b]);
        for ((out, x), y) in rows[d].iter_mut().zip(x).zip(y) {
            *out = f(x, y);
        }
    } else {
        for lane in Lanes(lanes) {
            rows[d][lane] = f(rows[a][lane], rows[b][lane]);
        }
    }
}

#[inline(always)]
pub(crate) fn lift3(rows: &mut [Row], d: u32, a: u32, b: u32, c: u32, lanes: u32, f: impl Fn(u64, u64, u64) -> u64) {
    let (d, a, b, c) = (d as usize, a as usize, b as usize, c as usize);
    if lanes == ALL {
        let (x, y, z) = (rows[a], rows[b], rows[c]);
        for (((out, x), y), z) in rows[d].iter_mut().zip(x).zip(y).zip(z) {
            *out = f(x, y, z);
        }
    } else {
        for lane in Lanes(lanes) {
            rows[d][lane] = f(rows[a][lane], rows[b][lane], rows[c][lane]);
        }
    }
}

#[inline(always)]
pub(crate) fn lift_compare(rows: &[Row], a: u32, b: u32, lanes: u32, f: impl Fn(u64, u64) -> bool) -> u32 {
    let (x, y) = (&rows[a as usize], &rows[b as usize]);
    let mut bits = 0;
    if lanes == ALL {
        for lane in 0..32 {
            bits |= u32::from(f(x[lane], y[lane])) << lane;
        }
    } else {
        for lane in Lanes(lanes) {
            bits |= u32::from(f(x[lane], y[lane])) << lane;
        }
    }
    bits
}

/// A [`Unary`] from `|x| …` over `u64`.
macro_rules! unary {
    (|$x:ident| $body:expr) => {{
        fn run(rows: &mut [$crate::decode::lift::Row], d: u32, a: u32, lanes: u32) {
            $crate::decode::lift::lift1(rows, d, a, lanes, |$x: u64| -> u64 { $body });
        }
        run as $crate::decode::lift::Unary
    }};
}

/// A [`Binary`] from `|x, y| …` over `u64`.
macro_rules! binary {
    (|$x:ident, $y:ident| $body:expr) => {{
        fn run(rows: &mut [$crate::decode::lift::Row], d: u32, a: u32, b: u32, lanes: u32) {
            $crate::decode::lift::lift2(rows, d, a, b, lanes, |$x: u64, $y: u64| -> u64 { $body });
        }
        run as $crate::decode::lift::Binary
    }};
}

/// A [`Ternary`] from `|x, y, z| …` over `u64`.
macro_rules! ternary {
    (|$x:ident, $y:ident, $z:ident| $body:expr) => {{
        fn run(rows: &mut [$crate::decode::lift::Row], d: u32, a: u32, b: u32, c: u32, lanes: u32) {
            $crate::decode::lift::lift3(rows, d, a, b, c, lanes, |$x: u64, $y: u64, $z: u64| -> u64 { $body });
        }
        run as $crate::decode::lift::Ternary
    }};
}

/// A [`Compare`] from `|x, y| …` over `u64`.
macro_rules! compare {
    (|$x:ident, $y:ident| $body:expr) => {{
        fn run(rows: &[$crate::decode::lift::Row], a: u32, b: u32, lanes: u32) -> u32 {
            $crate::decode::lift::lift_compare(rows, a, b, lanes, |$x: u64, $y: u64| -> bool { $body })
        }
        run as $crate::decode::lift::Compare
    }};
}

/// The function for an integer type, from an expression over that type `T` (twice as wide: `W`).
macro_rules! for_integer {
    ($kind:ident, $ty:expr, |$($x:ident),+| $body:expr) => {
        match ($ty.is_signed(), $ty.bits) {
            (false, 8) => Some(for_integer!(@ $kind, u8, u8, u16, u16, |$($x),+| $body)),
            (false, 16) => Some(for_integer!(@ $kind, u16, u16, u32, u32, |$($x),+| $body)),
            (false, 32) => Some(for_integer!(@ $kind, u32, u32, u64, u64, |$($x),+| $body)),
            (false, 64) => Some(for_integer!(@ $kind, u64, u64, u128, u128, |$($x),+| $body)),
            (true, 8) => Some(for_integer!(@ $kind, i8, u8, i16, u16, |$($x),+| $body)),
            (true, 16) => Some(for_integer!(@ $kind, i16, u16, i32, u32, |$($x),+| $body)),
            (true, 32) => Some(for_integer!(@ $kind, i32, u32, i64, u64, |$($x),+| $body)),
            (true, 64) => Some(for_integer!(@ $kind, i64, u64, i128, u128, |$($x),+| $body)),
            _ => None,
        }
    };
    (@ compare, $t:ty, $u:ty, $w:ty, $uw:ty, |$($x:ident),+| $body:expr) => {
        compare!(|$($x),+| {
            #[allow(dead_code)]
            type T = $t;
            $(let $x = $x as T;)+
            $body
        })
    };
    (@ $kind:ident, $t:ty, $u:ty, $w:ty, $uw:ty, |$($x:ident),+| $body:expr) => {
        $kind!(|$($x),+| {
            #[allow(dead_code)]
            type T = $t;
            #[allow(dead_code)]
            type W = $w;
            $(let $x = $x as T;)+
            let result: T = $body;
            result as $u as u64
        })
    };
}

pub(crate) use {binary, compare, for_integer, ternary, unary};
