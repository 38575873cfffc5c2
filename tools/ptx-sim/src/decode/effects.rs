//! Instructions that touch memory, other threads, or the order of things.

use super::Symbol;
use super::code::{
    Access, Atomic, AtomicOp, Barrier, BarrierKind, Call, Callee, Collective, CollectiveKind, Op, Predicate, ReduceOp,
    ShuffleMode, Where,
};
use super::instruction::Parts;
use super::lower::{Lower, Name};
use crate::syntax::{Class, LoadError, Operand, Type};

const ORDERS: [&str; 16] = [
    "weak", "relaxed", "acquire", "release", "acq_rel", "volatile", "mmio", "cta", "cluster", "gpu", "sys", "global",
    "const", "shared", "local", "param",
];

/// The space that an instruction names.
pub(super) fn space(parts: &Parts<'_>) -> Where {
    let named = |space: &str| parts.words[1..].contains(&space);
    match () {
        () if named("global") || named("const") => Where::Global,
        () if named("shared") => Where::Shared,
        () if named("local") => Where::Local,
        () if named("param") => Where::Param,
        () => Where::Generic,
    }
}

/// `false`: not one of these.
pub(super) fn lower(lower: &mut Lower<'_>, parts: &Parts<'_>, operands: &[Operand]) -> Result<bool, LoadError> {
    let Some(&name) = parts.words.first() else {
        return Ok(false);
    };
    match (name, operands) {
        ("ld" | "ldu", [d, a]) => return load(lower, parts, d, a),
        ("st", [a, b]) => return store(lower, parts, a, b),
        ("atom", [d, a, rest @ ..]) => return atomic(lower, parts, Some(d), a, rest),
        ("red", [a, rest @ ..]) => return atomic(lower, parts, None, a, rest),
        // The executor's memory is sequentially consistent: a fence has nothing to do.
        ("fence", []) if parts.only(&["sc", "acq_rel", "acquire", "release", "cta", "cluster", "gpu", "sys"]) => {
            lower.emit(Op::Nop)
        }
        ("membar", []) if parts.only(&["cta", "gl", "sys"]) => lower.emit(Op::Nop),
        ("prefetch" | "prefetchu", [_]) => lower.emit(Op::Nop),
        ("bra", [Operand::Name(label)]) if parts.only(&["uni"]) => {
            lower.emit_jump(Op::Jump { to: 0 }, vec![label.clone()])
        }
        ("brx", [index, Operand::Name(list)]) if parts.has("idx") => return indexed_jump(lower, index, list),
        ("call", operands) if parts.only(&["uni"]) => return call(lower, operands),
        ("ret", []) if parts.only(&["uni"]) => lower.emit(if lower.kernel { Op::Exit } else { Op::Return }),
        ("exit", []) => lower.emit(Op::Exit),
        ("trap", []) => lower.emit(Op::Trap),
        ("brkpt", []) => lower.emit(Op::Breakpoint),
        ("nanosleep", [a]) => {
            let a = lower.source(a, U32)?;
            lower.emit(Op::Sleep { a });
        }
        ("pmevent", [_]) => lower.emit(Op::Nop),
        ("activemask", [d]) => {
            let d = lower.target(d)?;
            lower.emit(Op::ActiveMask { d });
        }
        ("isspacep", [Operand::Name(p), a]) => {
            let (p, a) = (lower.target_predicate(p)?, lower.source(a, U64)?);
            lower.emit(Op::IsSpace {
                p,
                a,
                space: space(parts),
            });
        }
        ("bar" | "barrier", operands) if parts.has("warp") => {
            let [members] = operands else { return Ok(false) };
            collective(lower, CollectiveKind::Sync, members)?;
        }
        ("bar" | "barrier", operands) => return barrier(lower, parts, operands),
        ("vote" | "shfl" | "match" | "redux", operands) if parts.has("sync") => {
            return collectives(lower, parts, operands);
        }
        _ => return Ok(false),
    }
    Ok(true)
}

const U32: Type = Type {
    class: Class::Unsigned,
    bits: 32,
};
const U64: Type = Type {
    class: Class::Unsigned,
    bits: 64,
};

/// Space, register and offset of an address.
fn address(lower: &mut Lower<'_>, space: Where, operand: &Operand) -> Result<(Where, u32, i64), LoadError> {
    let Operand::Address(base, offset) = operand else {
        return lower.error("expected an address");
    };
    if let Operand::Name(name) = &**base
        && lower.register(name).is_none()
    {
        // What a call passes lies in the frame, as does what a function was passed.
        let space = match lower.lookup(name) {
            Some(Name::Frame(..)) => Where::Local,
            Some(Name::Param(..)) => Where::Param,
            Some(Name::Shared(..)) => Where::Shared,
            _ => match lower.symbols.names.get(name.as_str()) {
                Some(Symbol::Shared(..) | Symbol::DynamicShared) => Where::Shared,
                Some(Symbol::Global(_)) => Where::Global,
                _ => space,
            },
        };
        let constant = lower.address_of(name)?;
        return Ok((space, lower.constant(constant), *offset));
    }
    let base = lower.source(base, U64)?;
    let space = if space == Where::Param && !lower.kernel {
        Where::Local
    } else {
        space
    };
    Ok((space, base, *offset))
}

/// Registers of a plain or a vector operand.
fn elements(operand: &Operand) -> &[Operand] {
    match operand {
        Operand::Vector(elements) => elements,
        other => std::slice::from_ref(other),
    }
}

fn access(
    lower: &mut Lower<'_>,
    parts: &Parts<'_>,
    address_operand: &Operand,
    count: usize,
) -> Result<Option<Access>, LoadError> {
    let Some(ty) = parts.ty().filter(|t| t.class != Class::Predicate) else {
        return Ok(None);
    };
    let vector = if parts.has("v2") {
        2
    } else if parts.has("v4") {
        4
    } else {
        1
    };
    let known =
        |w: &&str| ORDERS.contains(w) || ["v2", "v4", "nc", "ca", "cg", "cs", "lu", "cv", "wb", "wt"].contains(w);
    if vector != count || !parts.words[1..].iter().all(known) || parts.types.len() != 1 {
        return Ok(None);
    }
    let (space, base, offset) = address(lower, space(parts), address_operand)?;
    let poll = ["volatile", "relaxed", "acquire", "mmio"].iter().any(|w| parts.has(w));
    Ok(Some(Access {
        space,
        base,
        offset,
        size: ty.bytes() as u8,
        count: count as u8,
        signed: ty.is_signed(),
        poll,
        rows: [0; 4],
    }))
}

fn load(lower: &mut Lower<'_>, parts: &Parts<'_>, d: &Operand, a: &Operand) -> Result<bool, LoadError> {
    let targets = elements(d);
    let Some(mut access) = access(lower, parts, a, targets.len())? else {
        return Ok(false);
    };
    for (row, target) in access.rows.iter_mut().zip(targets) {
        *row = lower.target(target)?;
    }
    lower.emit(Op::Load(access));
    Ok(true)
}

fn store(lower: &mut Lower<'_>, parts: &Parts<'_>, a: &Operand, b: &Operand) -> Result<bool, LoadError> {
    let sources = elements(b);
    let Some(mut access) = access(lower, parts, a, sources.len())? else {
        return Ok(false);
    };
    let ty = parts.ty().unwrap_or(U64);
    for (row, source) in access.rows.iter_mut().zip(sources) {
        *row = lower.source(source, ty)?;
    }
    lower.emit(Op::Store(access));
    Ok(true)
}

fn atomic(
    lower: &mut Lower<'_>,
    parts: &Parts<'_>,
    d: Option<&Operand>,
    a: &Operand,
    rest: &[Operand],
) -> Result<bool, LoadError> {
    let Some(ty) = parts.ty() else { return Ok(false) };
    let operations: Vec<&str> = parts.words[1..]
        .iter()
        .copied()
        .filter(|w| !ORDERS.contains(w))
        .collect();
    let [operation] = operations[..] else { return Ok(false) };
    let op = match (operation, ty.class, ty.bits) {
        ("and", Class::Bits, 32 | 64) => AtomicOp::And,
        ("or", Class::Bits, 32 | 64) => AtomicOp::Or,
        ("xor", Class::Bits, 32 | 64) => AtomicOp::Xor,
        ("exch", Class::Bits, 32 | 64) if d.is_some() => AtomicOp::Exchange,
        ("cas", Class::Bits, 16 | 32 | 64) if d.is_some() => AtomicOp::CompareExchange,
        ("add", Class::Float, 32) => AtomicOp::AddSingle,
        ("add", Class::Float, 64) => AtomicOp::AddDouble,
        // There is no `add.s64`: the assembler refuses it.
        ("add", Class::Unsigned, 32 | 64) | ("add", Class::Signed, 32) => AtomicOp::Add,
        ("inc", Class::Unsigned, 32) => AtomicOp::Increment,
        ("dec", Class::Unsigned, 32) => AtomicOp::Decrement,
        ("min", Class::Unsigned, 32 | 64) => AtomicOp::MinUnsigned,
        ("max", Class::Unsigned, 32 | 64) => AtomicOp::MaxUnsigned,
        ("min", Class::Signed, 32 | 64) => AtomicOp::MinSigned,
        ("max", Class::Signed, 32 | 64) => AtomicOp::MaxSigned,
        _ => return Ok(false),
    };
    // A reduction gives nothing back, so it cannot acquire.
    if d.is_none() && (parts.has("acquire") || parts.has("acq_rel")) {
        return Ok(false);
    }
    let (b, c) = match (op, rest) {
        (AtomicOp::CompareExchange, [b, c]) => (lower.source(b, ty)?, lower.source(c, ty)?),
        (AtomicOp::CompareExchange, _) => return Ok(false),
        (_, [b]) => (lower.source(b, ty)?, 0),
        _ => return Ok(false),
    };
    let d = match d {
        Some(d) => Some(lower.target(d)?),
        None => None,
    };
    let (space, base, offset) = address(lower, space(parts), a)?;
    if matches!(space, Where::Local | Where::Param) {
        return lower.error("atomics work on device and shared memory only");
    }
    lower.emit(Op::Atomic(Box::new(Atomic {
        op,
        space,
        base,
        offset,
        size: ty.bytes() as u8,
        d,
        b,
        c,
    })));
    Ok(true)
}

fn indexed_jump(lower: &mut Lower<'_>, index: &Operand, list: &str) -> Result<bool, LoadError> {
    let Some(Name::Targets(labels)) = lower.lookup(list).cloned() else {
        return lower.error(format!("`{list}` is no list of targets"));
    };
    let index = lower.source(index, U32)?;
    lower.emit_jump(
        Op::Table32 {
            index,
            targets: Box::default(),
        },
        labels,
    );
    Ok(true)
}

/// Places in the frame of what a call passes.
fn passed(lower: &Lower<'_>, operands: &[Operand]) -> Result<Vec<(u32, u32)>, LoadError> {
    operands
        .iter()
        .map(|operand| match operand {
            Operand::Name(name) => match lower.lookup(name) {
                Some(Name::Frame(offset, size)) => Ok((*offset, *size)),
                _ => lower.error(format!("`{name}` is no variable of space `.param`")),
            },
            _ => lower.error("calls pass variables of space `.param` only"),
        })
        .collect()
}

fn call(lower: &mut Lower<'_>, operands: &[Operand]) -> Result<bool, LoadError> {
    let (returns, operands) = match operands {
        [Operand::List(returns), rest @ ..] => (passed(lower, returns)?, rest),
        _ => (Vec::new(), operands),
    };
    let (name, arguments, prototype) = match operands {
        [Operand::Name(name)] => (name, Vec::new(), None),
        [Operand::Name(name), Operand::List(arguments)] => (name, passed(lower, arguments)?, None),
        [Operand::Name(name), Operand::List(arguments), Operand::Name(prototype)] => {
            (name, passed(lower, arguments)?, Some(prototype))
        }
        _ => return Ok(false),
    };
    let sizes = |passed: &[(u32, u32)]| passed.iter().map(|p| p.1).collect::<Vec<u32>>();
    let (callee, takes, gives) = if let Some((_, row)) = lower.register(name) {
        let Some(Name::Prototype(prototype)) = prototype.and_then(|p| lower.lookup(p)) else {
            return lower.error("a call through a register needs a prototype");
        };
        let shape = (
            prototype.params.iter().map(|v| v.size).collect(),
            prototype.returns.iter().map(|v| v.size).collect(),
        );
        lower.calls_unknown = true;
        (Callee::Register(row), shape.0, shape.1)
    } else {
        let Some(Symbol::Function(index)) = lower.symbols.names.get(name.as_str()) else {
            return lower.error(format!("`{name}` is called and defined nowhere"));
        };
        let Some(function) = lower
            .symbols
            .source
            .functions
            .iter()
            .filter(|f| f.body.is_some())
            .nth(*index as usize)
        else {
            return Ok(false);
        };
        lower.calls.push(*index);
        let shape: (Vec<u32>, Vec<u32>) = (
            function.params.iter().map(|v| v.size).collect(),
            function.returns.iter().map(|v| v.size).collect(),
        );
        (Callee::Function(*index), shape.0, shape.1)
    };
    if takes != sizes(&arguments) || gives != sizes(&returns) {
        return lower.error(format!("the call of `{name}` passes other sizes than it takes"));
    }
    lower.emit(Op::Call(Box::new(Call {
        callee,
        arguments,
        returns,
    })));
    Ok(true)
}

fn barrier(lower: &mut Lower<'_>, parts: &Parts<'_>, operands: &[Operand]) -> Result<bool, LoadError> {
    if !parts.only(&["cta", "sync", "arrive", "red", "aligned", "popc", "and", "or"]) {
        return Ok(false);
    }
    let aligned = parts.words[0] == "bar" || parts.has("aligned");
    let mut barrier = Barrier {
        kind: BarrierKind::Sync,
        id: 0,
        count: None,
        aligned,
        d: 0,
        p: Predicate::TRUE,
    };
    let rest = if parts.has("red") {
        let [d, rest @ .., p] = operands else { return Ok(false) };
        barrier.p = lower.predicate(p)?;
        let as_predicate = |lower: &mut Lower<'_>| match d {
            Operand::Name(name) => lower.target_predicate(name),
            _ => lower.error("expected a predicate"),
        };
        (barrier.kind, barrier.d) = match () {
            () if parts.has("popc") => (BarrierKind::Count, lower.target(d)?),
            () if parts.has("and") => (BarrierKind::And, as_predicate(lower)?),
            () if parts.has("or") => (BarrierKind::Or, as_predicate(lower)?),
            () => return Ok(false),
        };
        rest
    } else if parts.has("arrive") {
        barrier.kind = BarrierKind::Arrive;
        operands
    } else if parts.has("sync") {
        operands
    } else {
        return Ok(false);
    };
    match rest {
        [id] => barrier.id = lower.source(id, U32)?,
        [id, count] => {
            barrier.id = lower.source(id, U32)?;
            barrier.count = Some(lower.source(count, U32)?);
        }
        _ => return Ok(false),
    }
    if barrier.kind == BarrierKind::Arrive && barrier.count.is_none() {
        return Ok(false);
    }
    lower.emit(Op::Barrier(Box::new(barrier)));
    Ok(true)
}

fn collective(lower: &mut Lower<'_>, kind: CollectiveKind, members: &Operand) -> Result<bool, LoadError> {
    let members = lower.source(members, U32)?;
    lower.emit(Op::Collective(Box::new(Collective { kind, members })));
    Ok(true)
}

/// A result with an optional predicate: `d` or `d|p`.
fn with_predicate(lower: &mut Lower<'_>, operand: &Operand) -> Result<(u32, Option<u32>), LoadError> {
    match operand {
        Operand::Pair(d, p) => Ok((
            lower.target(&Operand::Name(d.clone()))?,
            Some(lower.target_predicate(p)?),
        )),
        other => Ok((lower.target(other)?, None)),
    }
}

fn collectives(lower: &mut Lower<'_>, parts: &Parts<'_>, operands: &[Operand]) -> Result<bool, LoadError> {
    let words: Vec<&str> = parts.words.iter().copied().filter(|w| *w != "sync").collect();
    let Some(ty) = parts.ty() else { return Ok(false) };
    match (&words[..], operands) {
        (["shfl", mode], [d, a, b, c, members]) if ty.bits == 32 => {
            let mode = match *mode {
                "up" => ShuffleMode::Up,
                "down" => ShuffleMode::Down,
                "bfly" => ShuffleMode::Butterfly,
                "idx" => ShuffleMode::Index,
                _ => return Ok(false),
            };
            let (d, p) = with_predicate(lower, d)?;
            let (a, b, c) = (lower.source(a, ty)?, lower.source(b, U32)?, lower.source(c, U32)?);
            collective(lower, CollectiveKind::Shuffle { mode, d, p, a, b, c }, members)
        }
        (["vote", "ballot"], [d, p, members]) => {
            let (d, p) = (lower.target(d)?, lower.predicate(p)?);
            collective(lower, CollectiveKind::Ballot { d, p }, members)
        }
        (["vote", mode], [Operand::Name(d), p, members]) => {
            let (d, p) = (lower.target_predicate(d)?, lower.predicate(p)?);
            let kind = match *mode {
                "all" => CollectiveKind::All { d, p },
                "any" => CollectiveKind::Any { d, p },
                "uni" => CollectiveKind::Uniform { d, p },
                _ => return Ok(false),
            };
            collective(lower, kind, members)
        }
        (["match", "any"], [d, a, members]) => {
            let (d, a) = (lower.target(d)?, lower.source(a, ty)?);
            collective(lower, CollectiveKind::MatchAny { d, a, bits: ty.bits }, members)
        }
        (["match", "all"], [d, a, members]) => {
            let (d, p) = with_predicate(lower, d)?;
            let a = lower.source(a, ty)?;
            collective(lower, CollectiveKind::MatchAll { d, p, a, bits: ty.bits }, members)
        }
        (["redux", op], [d, a, members]) if ty.bits == 32 && !ty.is_float() => {
            let op = match (*op, ty.is_signed()) {
                ("add", _) => ReduceOp::Add,
                ("and", _) => ReduceOp::And,
                ("or", _) => ReduceOp::Or,
                ("xor", _) => ReduceOp::Xor,
                ("min", false) => ReduceOp::MinUnsigned,
                ("max", false) => ReduceOp::MaxUnsigned,
                ("min", true) => ReduceOp::MinSigned,
                ("max", true) => ReduceOp::MaxSigned,
                _ => return Ok(false),
            };
            let (d, a) = (lower.target(d)?, lower.source(a, ty)?);
            collective(lower, CollectiveKind::Reduce { op, d, a }, members)
        }
        _ => Ok(false),
    }
}
