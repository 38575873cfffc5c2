//! Instructions that compute: from names to functions of [`super::integer`], [`super::float`] and [`super::convert`].

use super::code::{Logic, Op, Predicate, Where};
use super::convert::{self, Rounding};
use super::lift::{Unary, ternary, unary};
use super::lower::Lower;
use super::{effects, float, integer};
use crate::syntax::{Class, Instruction, LoadError, Operand, Type};

/// An instruction's name taken apart: words that are in it, and the types at its end.
pub(super) struct Parts<'a> {
    pub(super) words: Vec<&'a str>,
    pub(super) types: Vec<Type>,
}

impl<'a> Parts<'a> {
    fn new(instruction: &'a Instruction) -> Parts<'a> {
        let mut parts = Parts {
            words: Vec::new(),
            types: Vec::new(),
        };
        for word in &instruction.name {
            match Type::parse(word) {
                Some(ty) => parts.types.push(ty),
                None => parts.words.push(word),
            }
        }
        parts
    }

    pub(super) fn has(&self, word: &str) -> bool {
        self.words.contains(&word)
    }

    /// The only type, or the last.
    pub(super) fn ty(&self) -> Option<Type> {
        self.types.last().copied()
    }

    /// Whether nothing but these words follows the first.
    pub(super) fn only(&self, allowed: &[&str]) -> bool {
        self.words[1..].iter().all(|w| allowed.contains(w))
    }
}

/// Emits the instruction.
pub(super) fn lower(lower: &mut Lower<'_>, instruction: &Instruction) -> Result<(), LoadError> {
    let parts = Parts::new(instruction);
    let done = compute(lower, &parts, &instruction.operands)? || effects::lower(lower, &parts, &instruction.operands)?;
    if done {
        Ok(())
    } else {
        lower.error(format!("unknown instruction `{}`", instruction.full_name()))
    }
}

/// `false`: not one of these.
fn compute(lower: &mut Lower<'_>, parts: &Parts<'_>, operands: &[Operand]) -> Result<bool, LoadError> {
    let Some(&name) = parts.words.first() else {
        return Ok(false);
    };
    let Some(ty) = parts.ty() else { return Ok(false) };
    match (name, operands) {
        ("mov", [d, a]) if parts.only(&[]) => return mov(lower, ty, d, a),
        ("setp", [d, rest @ ..]) => return setp(lower, parts, ty, d, rest),
        ("selp", [d, a, b, p]) if parts.only(&[]) => {
            let (d, a, b) = (lower.target(d)?, lower.source(a, ty)?, lower.source(b, ty)?);
            let p = lower.predicate(p)?;
            lower.emit(Op::Select { d, a, b, p });
        }
        ("slct", [d, a, b, c]) if parts.only(&["ftz"]) => {
            let f = match (ty.class, ty.bits) {
                (Class::Signed, 32) => ternary!(|x, y, z| if z as i32 >= 0 { x } else { y }),
                (Class::Float, 32) => ternary!(|x, y, z| if f32::from_bits(z as u32) >= 0.0 { x } else { y }),
                _ => return Ok(false),
            };
            let kind = parts.types[0];
            let (d, a, b, c) = (
                lower.target(d)?,
                lower.source(a, kind)?,
                lower.source(b, kind)?,
                lower.source(c, ty)?,
            );
            lower.emit(Op::Ternary { f, d, a, b, c });
        }
        ("and" | "or" | "xor" | "not", [Operand::Name(p), rest @ ..]) if ty.class == Class::Predicate => {
            let p = lower.target_predicate(p)?;
            let (how, a, b) = match (name, rest) {
                ("not", [a]) => (Logic::Xor, lower.predicate(a)?, Predicate::TRUE),
                ("and", [a, b]) => (Logic::And, lower.predicate(a)?, lower.predicate(b)?),
                ("or", [a, b]) => (Logic::Or, lower.predicate(a)?, lower.predicate(b)?),
                ("xor", [a, b]) => (Logic::Xor, lower.predicate(a)?, lower.predicate(b)?),
                _ => return Ok(false),
            };
            lower.emit(Op::Logic { how, p, a, b });
        }
        ("lop3", [d, a, b, c, Operand::Int(table)]) if parts.only(&[]) => {
            let (d, a, b, c) = (
                lower.target(d)?,
                lower.source(a, ty)?,
                lower.source(b, ty)?,
                lower.source(c, ty)?,
            );
            lower.emit(Op::Table {
                d,
                a,
                b,
                c,
                table: *table as u8,
            });
        }
        ("bfi", [d, a, b, start, length]) if parts.only(&[]) => {
            let (d, a, b) = (lower.target(d)?, lower.source(a, ty)?, lower.source(b, ty)?);
            let (start, length) = (lower.source(start, ty)?, lower.source(length, ty)?);
            lower.emit(Op::Insert {
                d,
                a,
                b,
                start,
                length,
                bits: ty.bits,
            });
        }
        ("cvt", [d, a]) => return cvt(lower, parts, d, a),
        ("cvta", [d, a]) => return cvta(lower, parts, d, a),
        ("testp", [Operand::Name(p), a]) => {
            let Some(f) = parts.words.get(1).and_then(|w| float::property(w, ty)) else {
                return Ok(false);
            };
            let (p, a) = (lower.target_predicate(p)?, lower.source(a, ty)?);
            lower.emit(Op::Compare {
                f,
                p,
                q: None,
                a,
                b: a,
                with: None,
            });
        }
        ("add" | "addc" | "sub" | "subc", [d, a, b])
            if !ty.is_float() && (parts.has("cc") || name.ends_with('c')) && parts.only(&["cc"]) =>
        {
            let (d, a, b) = (lower.target(d)?, lower.source(a, ty)?, lower.source(b, ty)?);
            let (subtract, read) = (name.starts_with("sub"), name.ends_with('c'));
            lower.emit(Op::Carry {
                d,
                a,
                b,
                bits: ty.bits,
                subtract,
                read,
                write: parts.has("cc"),
            });
        }
        _ if ty.is_float() => return floats(lower, parts, name, ty, operands),
        _ => return integers(lower, parts, name, ty, operands),
    }
    Ok(true)
}

fn integers(
    lower: &mut Lower<'_>,
    parts: &Parts<'_>,
    name: &str,
    ty: Type,
    operands: &[Operand],
) -> Result<bool, LoadError> {
    let full = parts.words.join(".");
    match operands {
        [d, a] => {
            let found = if name == "bfind" && parts.only(&["shiftamt"]) {
                integer::find(ty, parts.has("shiftamt"))
            } else {
                integer::one(&full, ty)
            };
            let Some(f) = found else { return Ok(false) };
            let (d, a) = (lower.target(d)?, lower.source(a, ty)?);
            lower.emit(Op::Unary { f, d, a });
        }
        [d, a, b] => {
            let found = integer::two(&full, ty)
                .or_else(|| integer::shift(&full, ty))
                .or_else(|| integer::widening(&full, ty));
            let Some(f) = found else { return Ok(false) };
            let (d, a, b) = (lower.target(d)?, lower.source(a, ty)?, lower.source(b, ty)?);
            lower.emit(Op::Binary { f, d, a, b });
        }
        [d, a, b, c] => {
            let Some(f) = integer::three(&full, ty) else {
                return Ok(false);
            };
            let (d, a, b, c) = (
                lower.target(d)?,
                lower.source(a, ty)?,
                lower.source(b, ty)?,
                lower.source(c, ty)?,
            );
            lower.emit(Op::Ternary { f, d, a, b, c });
        }
        _ => return Ok(false),
    }
    Ok(true)
}

fn floats(
    lower: &mut Lower<'_>,
    parts: &Parts<'_>,
    name: &str,
    ty: Type,
    operands: &[Operand],
) -> Result<bool, LoadError> {
    // Approximations are computed exactly; other rounding modes than to the nearest are not known.
    let ftz = parts.has("ftz");
    if !parts.only(&["rn", "ftz", "sat", "approx", "full", "NaN"]) {
        return Ok(false);
    }
    let name = if parts.has("NaN") {
        format!("{name}.NaN")
    } else {
        name.to_owned()
    };
    let d = match operands {
        [d, a] => {
            let Some(f) = float::one(&name, ty, ftz) else {
                return Ok(false);
            };
            let (d, a) = (lower.target(d)?, lower.source(a, ty)?);
            lower.emit(Op::Unary { f, d, a });
            d
        }
        [d, a, b] => {
            let Some(f) = float::two(&name, ty, ftz) else {
                return Ok(false);
            };
            let (d, a, b) = (lower.target(d)?, lower.source(a, ty)?, lower.source(b, ty)?);
            lower.emit(Op::Binary { f, d, a, b });
            d
        }
        [d, a, b, c] => {
            let Some(f) = float::three(&name, ty, ftz) else {
                return Ok(false);
            };
            let (d, a, b, c) = (
                lower.target(d)?,
                lower.source(a, ty)?,
                lower.source(b, ty)?,
                lower.source(c, ty)?,
            );
            lower.emit(Op::Ternary { f, d, a, b, c });
            d
        }
        _ => return Ok(false),
    };
    if parts.has("sat") {
        saturate(lower, d, ty);
    }
    Ok(true)
}

fn saturate(lower: &mut Lower<'_>, d: u32, ty: Type) {
    if let Some(f) = float::one("sat", ty, false) {
        lower.emit(Op::Unary { f, d, a: d });
    }
}

/// Copies the bits of the type.
pub(super) fn copy(ty: Type) -> Unary {
    match ty.bits {
        8 => unary!(|x| u64::from(x as u8)),
        16 => unary!(|x| u64::from(x as u16)),
        32 => unary!(|x| u64::from(x as u32)),
        _ => unary!(|x| x),
    }
}

fn mov(lower: &mut Lower<'_>, ty: Type, d: &Operand, a: &Operand) -> Result<bool, LoadError> {
    match (d, a) {
        (Operand::Name(p), a) if ty.class == Class::Predicate => {
            let (p, a) = (lower.target_predicate(p)?, lower.predicate(a)?);
            lower.emit(Op::Logic {
                how: Logic::And,
                p,
                a,
                b: Predicate::TRUE,
            });
        }
        (Operand::Vector(targets), a) if (2..=4).contains(&targets.len()) => {
            let a = lower.source(a, ty)?;
            let mut rows = [0; 4];
            for (row, target) in rows.iter_mut().zip(targets) {
                *row = lower.target(target)?;
            }
            lower.emit(Op::Unpack {
                d: rows,
                a,
                count: targets.len() as u8,
                bits: (ty.bits / targets.len() as u32) as u8,
            });
        }
        (d, Operand::Vector(sources)) if (2..=4).contains(&sources.len()) => {
            let mut parts = [0; 4];
            for (part, source) in parts.iter_mut().zip(sources) {
                *part = lower.source(source, ty)?;
            }
            let d = lower.target(d)?;
            lower.emit(Op::Pack {
                d,
                parts,
                count: sources.len() as u8,
                bits: (ty.bits / sources.len() as u32) as u8,
            });
        }
        _ => {
            let (d, a) = (lower.target(d)?, lower.source(a, ty)?);
            lower.emit(Op::Unary { f: copy(ty), d, a });
        }
    }
    Ok(true)
}

fn setp(lower: &mut Lower<'_>, parts: &Parts<'_>, ty: Type, d: &Operand, rest: &[Operand]) -> Result<bool, LoadError> {
    let ftz = parts.has("ftz");
    let words: Vec<&str> = parts.words[1..].iter().copied().filter(|w| *w != "ftz").collect();
    let (relation, logic) = match words[..] {
        [relation] => (relation, None),
        [relation, "and"] => (relation, Some(Logic::And)),
        [relation, "or"] => (relation, Some(Logic::Or)),
        [relation, "xor"] => (relation, Some(Logic::Xor)),
        _ => return Ok(false),
    };
    let found = if ty.is_float() {
        float::comparison(relation, ty, ftz)
    } else {
        integer::comparison(relation, ty)
    };
    let Some(f) = found else { return Ok(false) };
    let (p, q) = match d {
        Operand::Name(p) => (lower.target_predicate(p)?, None),
        Operand::Pair(p, q) => (lower.target_predicate(p)?, Some(lower.target_predicate(q)?)),
        _ => return Ok(false),
    };
    let (a, b, with) = match (rest, logic) {
        ([a, b], None) => (a, b, None),
        ([a, b, c], Some(logic)) => (a, b, Some((logic, lower.predicate(c)?))),
        _ => return Ok(false),
    };
    let (a, b) = (lower.source(a, ty)?, lower.source(b, ty)?);
    lower.emit(Op::Compare { f, p, q, a, b, with });
    Ok(true)
}

fn cvt(lower: &mut Lower<'_>, parts: &Parts<'_>, d: &Operand, a: &Operand) -> Result<bool, LoadError> {
    let &[to, from] = &parts.types[..] else {
        return Ok(false);
    };
    if !parts.only(&["rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", "ftz", "sat"]) {
        return Ok(false);
    }
    let rounding = |suffix: &str| {
        let with = |name: &str| parts.has(&format!("{name}{suffix}"));
        match () {
            () if with("rn") => Some(Rounding::Nearest),
            () if with("rz") => Some(Rounding::Zero),
            () if with("rm") => Some(Rounding::Down),
            () if with("rp") => Some(Rounding::Up),
            () => None,
        }
    };
    let whole = ["rni", "rzi", "rmi", "rpi"].into_iter().find(|w| parts.has(w));
    let found = match (to.is_float() && to == from, whole) {
        // To a whole number that stays a float.
        (true, Some(whole)) => float::one(whole, to, parts.has("ftz")),
        _ if parts.has("ftz") => return Ok(false),
        _ if to.is_float() => convert::convert(to, from, rounding(""), false),
        _ => convert::convert(to, from, rounding("i"), parts.has("sat")),
    };
    let Some(f) = found else { return Ok(false) };
    let (d, a) = (lower.target(d)?, lower.source(a, from)?);
    lower.emit(Op::Unary { f, d, a });
    if to.is_float() && parts.has("sat") {
        saturate(lower, d, to);
    }
    Ok(true)
}

/// The window of a space in the generic address space: its first address. Device memory has no window; its addresses are what they are.
pub(crate) const SHARED_WINDOW: u64 = 1 << 60;
pub(crate) const LOCAL_WINDOW: u64 = 2 << 60;
pub(crate) const PARAM_WINDOW: u64 = 3 << 60;

fn cvta(lower: &mut Lower<'_>, parts: &Parts<'_>, d: &Operand, a: &Operand) -> Result<bool, LoadError> {
    let Some(ty) = parts.ty() else { return Ok(false) };
    if ty.bits != 64 || !parts.only(&["to", "global", "const", "shared", "local", "param"]) {
        return Ok(false);
    }
    let space = effects::space(parts);
    let f = match (parts.has("to"), space) {
        (_, Where::Global) => copy(ty),
        (false, Where::Shared) => unary!(|x| x.wrapping_add(SHARED_WINDOW)),
        (false, Where::Local) => unary!(|x| x.wrapping_add(LOCAL_WINDOW)),
        (false, Where::Param) => unary!(|x| x.wrapping_add(PARAM_WINDOW)),
        (true, Where::Shared) => unary!(|x| x.wrapping_sub(SHARED_WINDOW)),
        (true, Where::Local) => unary!(|x| x.wrapping_sub(LOCAL_WINDOW)),
        (true, Where::Param) => unary!(|x| x.wrapping_sub(PARAM_WINDOW)),
        (_, Where::Generic) => return Ok(false),
    };
    let (d, a) = (lower.target(d)?, lower.source(a, ty)?);
    lower.emit(Op::Unary { f, d, a });
    Ok(true)
}
