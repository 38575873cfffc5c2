//! What integer and bit instructions compute.

use super::lift::{Binary, Compare, Ternary, Unary, binary, compare, for_integer, ternary, unary};
use crate::syntax::Type;

/// `abs`, `neg`, `not`, `cnot`, `clz`, `popc`, `brev`.
pub(super) fn one(name: &str, ty: Type) -> Option<Unary> {
    match name {
        "abs" => for_integer!(unary, ty, |x| if x < (0 as T) { (0 as T).wrapping_sub(x) } else { x }),
        "neg" => for_integer!(unary, ty, |x| (0 as T).wrapping_sub(x)),
        "not" => for_integer!(unary, ty, |x| !x),
        "cnot" => for_integer!(unary, ty, |x| (x == 0) as T),
        "clz" => for_integer!(unary, ty, |x| x.leading_zeros() as T),
        "popc" => for_integer!(unary, ty, |x| x.count_ones() as T),
        "brev" => for_integer!(unary, ty, |x| x.reverse_bits()),
        _ => None,
    }
}

/// Two operands of one type.
pub(super) fn two(name: &str, ty: Type) -> Option<Binary> {
    match name {
        "add" => for_integer!(binary, ty, |x, y| x.wrapping_add(y)),
        "add.sat" => for_integer!(binary, ty, |x, y| x.saturating_add(y)),
        "sub" => for_integer!(binary, ty, |x, y| x.wrapping_sub(y)),
        "sub.sat" => for_integer!(binary, ty, |x, y| x.saturating_sub(y)),
        "mul.lo" => for_integer!(binary, ty, |x, y| x.wrapping_mul(y)),
        "mul.hi" => for_integer!(binary, ty, |x, y| ((x as W * y as W) >> T::BITS) as T),
        // By zero the hardware gives all ones, and the dividend as remainder.
        "div" => for_integer!(binary, ty, |x, y| if y == 0 { !0 } else { x.wrapping_div(y) }),
        "rem" => for_integer!(binary, ty, |x, y| if y == 0 { x } else { x.wrapping_rem(y) }),
        "min" => for_integer!(binary, ty, |x, y| x.min(y)),
        "max" => for_integer!(binary, ty, |x, y| x.max(y)),
        "and" => for_integer!(binary, ty, |x, y| x & y),
        "or" => for_integer!(binary, ty, |x, y| x | y),
        "xor" => for_integer!(binary, ty, |x, y| x ^ y),
        _ => None,
    }
}

/// `shl` and `shr`: the amount is 32 bits wide whatever the type, and stops at the type's width.
pub(super) fn shift(name: &str, ty: Type) -> Option<Binary> {
    Some(match (name, ty.is_signed(), ty.bits) {
        ("shl", _, 16) => binary!(|x, y| u64::from((x as u16).checked_shl(y as u32).unwrap_or(0))),
        ("shl", _, 32) => binary!(|x, y| u64::from((x as u32).checked_shl(y as u32).unwrap_or(0))),
        ("shl", _, 64) => binary!(|x, y| x.checked_shl(y as u32).unwrap_or(0)),
        ("shr", false, 16) => binary!(|x, y| u64::from((x as u16).checked_shr(y as u32).unwrap_or(0))),
        ("shr", false, 32) => binary!(|x, y| u64::from((x as u32).checked_shr(y as u32).unwrap_or(0))),
        ("shr", false, 64) => binary!(|x, y| x.checked_shr(y as u32).unwrap_or(0)),
        ("shr", true, 16) => binary!(|x, y| u64::from((x as i16 >> (y as u32).min(15)) as u16)),
        ("shr", true, 32) => binary!(|x, y| u64::from((x as i32 >> (y as u32).min(31)) as u32)),
        ("shr", true, 64) => binary!(|x, y| (x as i64 >> (y as u32).min(63)) as u64),
        _ => return None,
    })
}

/// `mul.wide`, `mul24`.
pub(super) fn widening(name: &str, ty: Type) -> Option<Binary> {
    Some(match (name, ty.is_signed(), ty.bits) {
        ("mul.wide", false, 16) => binary!(|x, y| u64::from(x as u16 as u32 * y as u16 as u32)),
        ("mul.wide", true, 16) => binary!(|x, y| u64::from((x as i16 as i32 * y as i16 as i32) as u32)),
        ("mul.wide", false, 32) => binary!(|x, y| x as u32 as u64 * y as u32 as u64),
        ("mul.wide", true, 32) => binary!(|x, y| (x as i32 as i64 * y as i32 as i64) as u64),
        ("mul24.lo", false, 32) => binary!(|x, y| u64::from(((x & 0xff_ffff) * (y & 0xff_ffff)) as u32)),
        ("mul24.lo", true, 32) => binary!(|x, y| u64::from((sign24(x) * sign24(y)) as u32)),
        _ => return None,
    })
}

fn sign24(x: u64) -> i64 {
    i64::from((x as i32) << 8 >> 8)
}

/// Three operands: `mad`, `sad`, `bfe`, `shf`, `prmt`.
pub(super) fn three(name: &str, ty: Type) -> Option<Ternary> {
    match name {
        "mad.lo" => for_integer!(ternary, ty, |x, y, z| x.wrapping_mul(y).wrapping_add(z)),
        "mad.hi" => for_integer!(ternary, ty, |x, y, z| (((x as W * y as W) >> T::BITS) as T)
            .wrapping_add(z)),
        "sad" => for_integer!(ternary, ty, |x, y, z| z.wrapping_add(if x < y {
            y.wrapping_sub(x)
        } else {
            x.wrapping_sub(y)
        })),
        _ => three_of_one_shape(name, ty),
    }
}

fn three_of_one_shape(name: &str, ty: Type) -> Option<Ternary> {
    Some(match (name, ty.is_signed(), ty.bits) {
        ("mad.wide", false, 16) => {
            ternary!(|x, y, z| u64::from((x as u16 as u32 * y as u16 as u32).wrapping_add(z as u32)))
        }
        ("mad.wide", true, 16) => {
            ternary!(|x, y, z| u64::from((x as i16 as i32 * y as i16 as i32).wrapping_add(z as i32) as u32))
        }
        ("mad.wide", false, 32) => ternary!(|x, y, z| (x as u32 as u64 * y as u32 as u64).wrapping_add(z)),
        ("mad.wide", true, 32) => ternary!(|x, y, z| ((x as i32 as i64 * y as i32 as i64) as u64).wrapping_add(z)),
        ("mad24.lo", false, 32) => {
            ternary!(|x, y, z| u64::from((((x & 0xff_ffff) * (y & 0xff_ffff)) as u32).wrapping_add(z as u32)))
        }
        ("mad24.lo", true, 32) => {
            ternary!(|x, y, z| u64::from(((sign24(x) * sign24(y)) as u32).wrapping_add(z as u32)))
        }
        ("bfe", signed, bits) => match (signed, bits) {
            (false, 32) => ternary!(|x, y, z| bfe(x as u32 as u64, 32, false, y, z)),
            (true, 32) => ternary!(|x, y, z| bfe(x as u32 as u64, 32, true, y, z)),
            (false, 64) => ternary!(|x, y, z| bfe(x, 64, false, y, z)),
            (true, 64) => ternary!(|x, y, z| bfe(x, 64, true, y, z)),
            _ => return None,
        },
        ("shf.l.wrap", ..) => ternary!(|x, y, z| (pair(x, y) << (z & 31)) >> 32),
        ("shf.l.clamp", ..) => {
            ternary!(|x, y, z| u64::from(((u128::from(pair(x, y)) << (z as u32).min(32)) >> 32) as u32))
        }
        ("shf.r.wrap", ..) => ternary!(|x, y, z| u64::from((pair(x, y) >> (z & 31)) as u32)),
        ("shf.r.clamp", ..) => ternary!(|x, y, z| u64::from((pair(x, y) >> (z as u32).min(32)) as u32)),
        ("prmt", ..) => ternary!(|x, y, z| permute(x, y, |i| (z as u32 >> (4 * i)) & 0xf)),
        ("prmt.f4e", ..) => ternary!(|x, y, z| permute(x, y, |i| i + (z as u32 & 3))),
        ("prmt.b4e", ..) => ternary!(|x, y, z| permute(x, y, |i| (z as u32 & 3).wrapping_sub(i) & 7)),
        ("prmt.rc8", ..) => ternary!(|x, y, z| permute(x, y, |_| z as u32 & 3)),
        ("prmt.ecl", ..) => ternary!(|x, y, z| permute(x, y, |i| i.max(z as u32 & 3))),
        ("prmt.ecr", ..) => ternary!(|x, y, z| permute(x, y, |i| i.min(z as u32 & 3))),
        ("prmt.rc16", ..) => ternary!(|x, y, z| permute(x, y, |i| (z as u32 & 1) * 2 + (i & 1))),
        _ => return None,
    })
}

/// Two registers as one of 64 bits, the first below.
fn pair(low: u64, high: u64) -> u64 {
    (low & 0xffff_ffff) | (high << 32)
}

/// A field of `z` bits from bit `y` on; what lies beyond the value is its sign.
fn bfe(x: u64, bits: u32, signed: bool, y: u64, z: u64) -> u64 {
    let (start, length) = ((y & 0xff) as u32, (z & 0xff) as u32);
    let sign = if !signed || length == 0 {
        0
    } else {
        (x >> (start + length - 1).min(bits - 1)) & 1
    };
    let mut out = 0;
    for i in 0..bits {
        let at = start + i;
        let bit = if i < length && at < bits { (x >> at) & 1 } else { sign };
        out |= bit << i;
    }
    out
}

/// `bfi`: the low `length` bits of `x` put into `y` from bit `start` on.
pub(crate) fn insert(x: u64, y: u64, start: u64, length: u64, bits: u32) -> u64 {
    let (start, length) = ((start & 0xff) as u32, (length & 0xff) as u32);
    let mut out = y;
    for i in 0..length.min(bits) {
        let at = start + i;
        if at < bits {
            out = (out & !(1 << at)) | (((x >> i) & 1) << at);
        }
    }
    if bits == 32 { out & 0xffff_ffff } else { out }
}

/// `lop3`: any function of three bits, from its table.
pub(crate) fn table(x: u64, y: u64, z: u64, table: u8) -> u64 {
    let mut out = 0;
    for row in 0..8 {
        if table >> row & 1 == 1 {
            let pick = |value: u64, bit: u32| if row >> bit & 1 == 1 { value } else { !value };
            out |= pick(x, 2) & pick(y, 1) & pick(z, 0);
        }
    }
    out & 0xffff_ffff
}

/// Four of eight bytes; bit 3 of a selector spreads the byte's sign.
fn permute(x: u64, y: u64, select: impl Fn(u32) -> u32) -> u64 {
    let bytes = pair(x, y).to_le_bytes();
    let mut out = 0;
    for i in 0..4 {
        let selector = select(i);
        let mut byte = bytes[(selector & 7) as usize];
        if selector & 8 != 0 {
            byte = if byte & 0x80 == 0 { 0 } else { 0xff };
        }
        out |= u64::from(byte) << (8 * i);
    }
    out
}

/// `bfind`: the most significant bit that is not the sign; all ones if there is none.
pub(super) fn find(ty: Type, distance: bool) -> Option<Unary> {
    Some(match (ty.is_signed(), ty.bits, distance) {
        (false, 32, false) => unary!(|x| highest(u64::from(x as u32), 32, false)),
        (false, 32, true) => unary!(|x| highest(u64::from(x as u32), 32, true)),
        (true, 32, false) => unary!(|x| highest(u64::from((x as i32 ^ (x as i32 >> 31)) as u32), 32, false)),
        (true, 32, true) => unary!(|x| highest(u64::from((x as i32 ^ (x as i32 >> 31)) as u32), 32, true)),
        (false, 64, false) => unary!(|x| highest(x, 64, false)),
        (false, 64, true) => unary!(|x| highest(x, 64, true)),
        (true, 64, false) => unary!(|x| highest((x as i64 ^ (x as i64 >> 63)) as u64, 64, false)),
        (true, 64, true) => unary!(|x| highest((x as i64 ^ (x as i64 >> 63)) as u64, 64, true)),
        _ => return None,
    })
}

fn highest(x: u64, bits: u32, distance: bool) -> u64 {
    if x == 0 {
        return 0xffff_ffff;
    }
    let at = 63 - x.leading_zeros();
    u64::from(if distance { bits - 1 - at } else { at })
}

/// `setp` on integers.
pub(super) fn comparison(relation: &str, ty: Type) -> Option<Compare> {
    match relation {
        "eq" => for_integer!(compare, ty, |x, y| x == y),
        "ne" => for_integer!(compare, ty, |x, y| x != y),
        "lt" | "lo" => for_integer!(compare, ty, |x, y| x < y),
        "le" | "ls" => for_integer!(compare, ty, |x, y| x <= y),
        "gt" | "hi" => for_integer!(compare, ty, |x, y| x > y),
        "ge" | "hs" => for_integer!(compare, ty, |x, y| x >= y),
        _ => None,
    }
}
