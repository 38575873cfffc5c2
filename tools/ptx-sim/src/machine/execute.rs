//! The instructions of one warp.

use super::block::Block;
use super::warp::{Return, Warp};
use super::{FUNCTIONS, Launch, State, access, collective, report};
use crate::decode::code::{Call, Callee, MaskOf, Op, Special, Where};
use crate::decode::instruction::{LOCAL_WINDOW, PARAM_WINDOW, SHARED_WINDOW};
use crate::decode::integer;
use crate::decode::lift::{Lanes, Row};
use crate::fault::{Fault, FaultKind};

/// About how long a turn takes on a device.
const NANOSECONDS_PER_TURN: u32 = 32;

/// Why a warp's turn ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Event {
    /// Its time is up, or all of its threads wait or have ended.
    Pause,
    /// These lanes arrived at a barrier of the block.
    Barrier { pc: u32, lanes: u32 },
}

/// Runs a warp for so many instructions at most.
pub(super) fn run(
    launch: &Launch<'_>,
    state: &mut State,
    block: &mut Block,
    index: usize,
    mut budget: u32,
) -> Result<Event, Fault> {
    let steps = &launch.module.steps[..];
    // Mostly the first group goes on; now and then another has the whole turn, so that nobody waits for ever for a lane of the same warp.
    let draw = state.random.next();
    let chosen = (draw & 3 == 0).then(|| block.warps[index].any(draw >> 2));
    if launch.device.memory.generation() != state.generation {
        state.generation = launch.device.memory.generation();
        state.ranges.fill(crate::memory::Range::EMPTY);
    }
    'group: loop {
        let warp = &mut block.warps[index];
        if warp.ready == 0 || budget == 0 {
            return Ok(Event::Pause);
        }
        let leader = chosen
            .filter(|&lane| warp.ready >> lane & 1 == 1)
            .unwrap_or_else(|| warp.first());
        let mut lanes = warp.group(leader);
        let mut pc = warp.pc[leader];
        let function = &launch.module.functions[warp.function[leader] as usize];
        let (rows_at, predicates_at) = (warp.rows_at[leader] as usize, warp.predicates_at[leader] as usize);
        loop {
            if budget == 0 {
                warp.stand(lanes, pc);
                return Ok(Event::Pause);
            }
            budget -= 1;
            let step = &steps[pc as usize];
            if step.join && warp.ready != lanes {
                // Others may have come here by another way.
                let here = warp.others(lanes, pc, rows_at as u32);
                lanes |= here;
            }
            let predicates = &mut warp.predicates[predicates_at..predicates_at + function.predicates as usize];
            let active = lanes & step.guard.lanes(predicates);
            state.statistics.warp_instructions += 1;
            state.statistics.thread_instructions += u64::from(lanes.count_ones());
            if active == 0 {
                pc += 1;
                continue;
            }
            let rows = &mut warp.rows[rows_at..rows_at + function.rows as usize];
            match &step.op {
                Op::Nop => {}
                Op::Unary { f, d, a } => f(rows, *d, *a, active),
                Op::Binary { f, d, a, b } => f(rows, *d, *a, *b, active),
                Op::Ternary { f, d, a, b, c } => f(rows, *d, *a, *b, *c, active),
                Op::Compare { f, p, q, a, b, with } => {
                    let holds = f(rows, *a, *b, active);
                    let (first, second) = match with {
                        None => (holds, !holds),
                        Some((logic, c)) => {
                            let c = c.lanes(predicates);
                            (logic.apply(holds, c), logic.apply(!holds, c))
                        }
                    };
                    set(&mut predicates[*p as usize], active, first);
                    if let Some(q) = q {
                        set(&mut predicates[*q as usize], active, second);
                    }
                }
                Op::Select { d, a, b, p } => {
                    let first = p.lanes(predicates);
                    for lane in Lanes(active) {
                        let row = if first >> lane & 1 == 1 { a } else { b };
                        rows[*d as usize][lane] = rows[*row as usize][lane];
                    }
                }
                Op::Logic { how, p, a, b } => {
                    let value = how.apply(a.lanes(predicates), b.lanes(predicates));
                    set(&mut predicates[*p as usize], active, value);
                }
                Op::Table { d, a, b, c, table } => {
                    for lane in Lanes(active) {
                        rows[*d as usize][lane] = integer::table(
                            rows[*a as usize][lane],
                            rows[*b as usize][lane],
                            rows[*c as usize][lane],
                            *table,
                        );
                    }
                }
                Op::Insert {
                    d,
                    a,
                    b,
                    start,
                    length,
                    bits,
                } => {
                    for lane in Lanes(active) {
                        let get = |row: u32| rows[row as usize][lane];
                        rows[*d as usize][lane] = integer::insert(get(*a), get(*b), get(*start), get(*length), *bits);
                    }
                }
                Op::Carry {
                    d,
                    a,
                    b,
                    bits,
                    subtract,
                    read,
                    write,
                } => {
                    let carry = predicates[crate::decode::code::Predicate::CARRY as usize];
                    let mut out = 0;
                    for lane in Lanes(active) {
                        let carry_in = *read && carry >> lane & 1 == 1;
                        let (value, carry_out) = add_with_carry(
                            rows[*a as usize][lane],
                            rows[*b as usize][lane],
                            carry_in,
                            *bits,
                            *subtract,
                        );
                        rows[*d as usize][lane] = value;
                        out |= u32::from(carry_out) << lane;
                    }
                    if *write {
                        set(
                            &mut predicates[crate::decode::code::Predicate::CARRY as usize],
                            active,
                            out,
                        );
                    }
                }
                Op::Pack { d, parts, count, bits } => pack(rows, *d, &parts[..usize::from(*count)], *bits, active),
                Op::Unpack { d, a, count, bits } => unpack(rows, &d[..usize::from(*count)], *a, *bits, active),
                Op::Special { d, what } => {
                    let block = (block.index, block.multiprocessor);
                    for lane in Lanes(active) {
                        rows[*d as usize][lane] = special(launch, state, block, warp.index, lane, *what);
                    }
                }
                Op::IsSpace { p, a, space } => {
                    let mut holds = 0;
                    for lane in Lanes(active) {
                        holds |= u32::from(window(rows[*a as usize][lane]).0 == *space) << lane;
                    }
                    set(&mut predicates[*p as usize], active, holds);
                }
                Op::ActiveMask { d } => {
                    for lane in Lanes(active) {
                        rows[*d as usize][lane] = active.into();
                    }
                }
                Op::Load(load) => {
                    if let Err(wrong) = access::load(launch, state, warp, &block.shared, load, pc, rows_at, active) {
                        return Err(wrong.fault(launch, block, index, pc));
                    }
                    if load.poll {
                        budget = budget.min(8);
                    }
                }
                Op::Store(store) => {
                    if let Err(wrong) =
                        access::store(launch, state, warp, &mut block.shared, store, pc, rows_at, active)
                    {
                        return Err(wrong.fault(launch, block, index, pc));
                    }
                }
                Op::Atomic(atomic) => {
                    if let Err(wrong) =
                        access::atomic(launch, state, warp, &mut block.shared, atomic, pc, rows_at, active)
                    {
                        return Err(wrong.fault(launch, block, index, pc));
                    }
                    budget = budget.min(32);
                }
                Op::Jump { to } => {
                    if active == lanes && (warp.ready == lanes || chosen == Some(leader)) {
                        pc = *to;
                        continue;
                    }
                    warp.stand(active, *to);
                    warp.stand(lanes & !active, pc + 1);
                    continue 'group;
                }
                Op::Table32 {
                    index: selector,
                    targets,
                } => {
                    let selector = rows[*selector as usize];
                    for lane in Lanes(active) {
                        let Some(&to) = targets.get(selector[lane] as u32 as usize) else {
                            return Err(report::at(
                                launch,
                                block,
                                index,
                                lane,
                                pc,
                                FaultKind::IllegalInstruction,
                                "an index outside of the table of targets",
                            ));
                        };
                        warp.pc[lane] = to;
                    }
                    warp.stand(lanes & !active, pc + 1);
                    continue 'group;
                }
                Op::Sleep { a } => {
                    // Others of the warp need not sleep.
                    if lanes == warp.ready {
                        warp.turns_to_skip = (rows[*a as usize][leader] as u32 / NANOSECONDS_PER_TURN).clamp(1, 64);
                    }
                    warp.stand(lanes, pc + 1);
                    return Ok(Event::Pause);
                }
                Op::Call(call) => {
                    warp.stand(lanes & !active, pc + 1);
                    if let Err((lane, kind)) = enter(launch, warp, call, pc, active, rows_at) {
                        return Err(report::at(launch, block, index, lane, pc, kind, ""));
                    }
                    continue 'group;
                }
                Op::Return => {
                    warp.stand(lanes & !active, pc + 1);
                    leave(launch, warp, active);
                    continue 'group;
                }
                Op::Exit => {
                    warp.stand(lanes & !active, pc + 1);
                    warp.live &= !active;
                    warp.ready &= !active;
                    // Those that waited for them need not any more.
                    collective::meet(launch, state, warp);
                    continue 'group;
                }
                Op::Trap | Op::Breakpoint => {
                    let what = if matches!(step.op, Op::Breakpoint) {
                        "a breakpoint"
                    } else {
                        ""
                    };
                    let lane = active.trailing_zeros() as usize;
                    return Err(report::at(launch, block, index, lane, pc, FaultKind::Trap, what));
                }
                Op::Barrier(_) => {
                    warp.stand(lanes & !active, pc + 1);
                    warp.stand(active, pc);
                    return Ok(Event::Barrier { pc, lanes: active });
                }
                Op::Collective(_) => {
                    warp.stand(lanes & !active, pc + 1);
                    warp.stand(active, pc);
                    if let Err((lane, detail)) = collective::arrive(launch, state, warp, pc, active, rows_at) {
                        return Err(report::at(
                            launch,
                            block,
                            index,
                            lane,
                            pc,
                            FaultKind::WarpDivergence,
                            detail,
                        ));
                    }
                    continue 'group;
                }
            }
            pc += 1;
        }
    }
}

impl Warp {
    /// These lanes stand at an instruction.
    #[inline(always)]
    pub(super) fn stand(&mut self, lanes: u32, pc: u32) {
        for lane in Lanes(lanes) {
            self.pc[lane] = pc;
        }
    }

    /// Lanes outside of a group that stand where it is.
    fn others(&self, lanes: u32, pc: u32, rows_at: u32) -> u32 {
        let mut out = 0;
        for lane in Lanes(self.ready & !lanes) {
            out |= u32::from(self.pc[lane] == pc && self.rows_at[lane] == rows_at) << lane;
        }
        out
    }
}

#[inline(always)]
pub(super) fn set(predicate: &mut u32, lanes: u32, value: u32) {
    *predicate = (*predicate & !lanes) | (value & lanes);
}

/// The space that a generic address points into, and the address there.
#[inline(always)]
pub(super) fn window(address: u64) -> (Where, u64) {
    match address >> 60 {
        0 => (Where::Global, address),
        1 => (Where::Shared, address - SHARED_WINDOW),
        2 => (Where::Local, address - LOCAL_WINDOW),
        3 => (Where::Param, address - PARAM_WINDOW),
        _ => (Where::Generic, address),
    }
}

fn add_with_carry(a: u64, b: u64, carry: bool, bits: u32, subtract: bool) -> (u64, bool) {
    let mask = if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
    let (a, b) = (u128::from(a & mask), u128::from(b & mask));
    // A subtraction's carry is a borrow.
    let wide = if subtract {
        a.wrapping_sub(b).wrapping_sub(carry.into())
    } else {
        a + b + u128::from(carry)
    };
    (wide as u64 & mask, wide >> bits & 1 == 1)
}

fn pack(rows: &mut [Row], d: u32, parts: &[u32], bits: u8, lanes: u32) {
    let mask = (1_u64 << bits) - 1;
    for lane in Lanes(lanes) {
        let mut value = 0;
        for (i, &part) in parts.iter().enumerate() {
            value |= (rows[part as usize][lane] & mask) << (i * usize::from(bits));
        }
        rows[d as usize][lane] = value;
    }
}

fn unpack(rows: &mut [Row], d: &[u32], a: u32, bits: u8, lanes: u32) {
    let mask = (1_u64 << bits) - 1;
    for lane in Lanes(lanes) {
        let value = rows[a as usize][lane];
        for (i, &part) in d.iter().enumerate() {
            rows[part as usize][lane] = (value >> (i * usize::from(bits))) & mask;
        }
    }
}

fn special(
    launch: &Launch<'_>,
    state: &State,
    (index, multiprocessor): ([u32; 3], u32),
    warp: u32,
    lane: usize,
    what: Special,
) -> u64 {
    // A device of about 1 GHz whose multiprocessors execute one instruction a cycle between them; the timer is the host's.
    let clock = state.statistics.warp_instructions;
    let timer = || state.started.elapsed().as_nanos() as u64 + 1_000_000_000;
    match what {
        Special::ThreadIndex(axis) => Block::thread(launch, warp, lane)[usize::from(axis)].into(),
        Special::BlockSize(axis) => launch.grid.threads[usize::from(axis)].into(),
        Special::BlockIndex(axis) => index[usize::from(axis)].into(),
        Special::GridSize(axis) => launch.grid.blocks[usize::from(axis)].into(),
        Special::Lane => lane as u64,
        Special::LaneMask(of) => {
            let own = 1_u32 << lane;
            u64::from(match of {
                MaskOf::Equal => own,
                MaskOf::Less => own - 1,
                MaskOf::LessEqual => own | (own - 1),
                MaskOf::Greater => !(own | (own - 1)),
                MaskOf::GreaterEqual => !(own - 1),
            })
        }
        Special::Warp => warp.into(),
        Special::Warps => launch.grid.threads.iter().product::<u32>().div_ceil(32).into(),
        Special::Multiprocessor => multiprocessor.into(),
        Special::Multiprocessors => launch.device.shape.multiprocessors.into(),
        Special::GridId => 1,
        Special::Clock32 => u64::from(clock as u32),
        Special::Clock64 => clock,
        Special::Timer64 => timer(),
        Special::Timer32High => timer() >> 32,
        Special::Timer32Low => u64::from(timer() as u32),
        Special::DynamicShared => launch.grid.shared.into(),
        Special::TotalShared => launch.shared.into(),
    }
}

/// Lanes call a function: what is passed is copied from frame to frame.
fn enter(
    launch: &Launch<'_>,
    warp: &mut Warp,
    call: &Call,
    pc: u32,
    lanes: u32,
    rows_at: usize,
) -> Result<(), (usize, FaultKind)> {
    for lane in Lanes(lanes) {
        let target = match call.callee {
            Callee::Function(index) => index,
            Callee::Register(row) => {
                let address = warp.rows[rows_at + row as usize][lane];
                let index = address.wrapping_sub(FUNCTIONS) / 16;
                let known =
                    address >= FUNCTIONS && address.is_multiple_of(16) && index < launch.module.functions.len() as u64;
                if !known || launch.module.functions[index as usize].kernel {
                    return Err((lane, FaultKind::IllegalInstruction));
                }
                index as u32
            }
        };
        let code = &launch.module.functions[target as usize];
        let same = code.params.len() == call.arguments.len()
            && code.params.iter().zip(&call.arguments).all(|(p, a)| p.size == a.1);
        if !same {
            return Err((lane, FaultKind::IllegalInstruction));
        }
        let caller = &launch.module.functions[warp.function[lane] as usize];
        warp.calls[lane].push(Return {
            pc,
            function: warp.function[lane],
            rows: warp.rows_at[lane],
            predicates: warp.predicates_at[lane],
            frame: warp.frame_at[lane],
        });
        let from = warp.frame_at[lane] as usize;
        warp.rows_at[lane] += caller.rows;
        warp.predicates_at[lane] += caller.predicates;
        warp.frame_at[lane] += caller.frame;
        if !warp.enter(launch, target, 1 << lane) {
            return Err((lane, FaultKind::StackOverflow));
        }
        let to = warp.frame_at[lane] as usize;
        for (param, &(offset, size)) in code.params.iter().zip(&call.arguments) {
            let source = from + offset as usize;
            warp.local[lane].copy_within(source..source + size as usize, to + param.offset as usize);
        }
    }
    Ok(())
}

/// Lanes return from a function.
fn leave(launch: &Launch<'_>, warp: &mut Warp, lanes: u32) {
    for lane in Lanes(lanes) {
        let Some(back) = warp.calls[lane].pop() else {
            warp.live &= !(1 << lane);
            warp.ready &= !(1 << lane);
            continue;
        };
        let code = &launch.module.functions[warp.function[lane] as usize];
        let from = warp.frame_at[lane] as usize;
        if let Op::Call(call) = &launch.module.steps[back.pc as usize].op {
            for (given, &(offset, size)) in code.returns.iter().zip(&call.returns) {
                let source = from + given.offset as usize;
                warp.local[lane].copy_within(
                    source..source + size.min(given.size) as usize,
                    back.frame as usize + offset as usize,
                );
            }
        }
        warp.pc[lane] = back.pc + 1;
        warp.function[lane] = back.function;
        warp.rows_at[lane] = back.rows;
        warp.predicates_at[lane] = back.predicates;
        warp.frame_at[lane] = back.frame;
    }
}
