//! Operations of a warp: lanes wait until all whom they name stand at the same one.

use super::warp::Warp;
use super::{Launch, State};
use crate::decode::code::{CollectiveKind, Op, ReduceOp, ShuffleMode};
use crate::decode::lift::Lanes;

/// Lanes stand at a collective. The lane and the words of what is wrong, if anything is.
pub(super) fn arrive(
    launch: &Launch<'_>,
    state: &mut State,
    warp: &mut Warp,
    pc: u32,
    lanes: u32,
    rows_at: usize,
) -> Result<(), (usize, &'static str)> {
    let Op::Collective(op) = &launch.module.steps[pc as usize].op else {
        return Ok(());
    };
    let members = &warp.rows[rows_at + op.members as usize];
    for lane in Lanes(lanes) {
        let named = members[lane] as u32;
        if named >> lane & 1 == 0 {
            return Err((lane, "a lane that its own mask does not name"));
        }
        if named & !warp.present & !warp.live != 0 && named != u32::MAX && named & !warp.present != 0 {
            return Err((lane, "a mask that names lanes without a thread"));
        }
        warp.members[lane] = named;
    }
    warp.ready &= !lanes;
    warp.meeting |= lanes;
    meet(launch, state, warp);
    Ok(())
}

/// Lets those go on whose partners have all come, or ended.
pub(super) fn meet(launch: &Launch<'_>, state: &mut State, warp: &mut Warp) {
    let mut candidates = warp.meeting;
    while candidates != 0 {
        let lane = candidates.trailing_zeros() as usize;
        candidates &= !(1 << lane);
        let Op::Collective(op) = &launch.module.steps[warp.pc[lane] as usize].op else {
            continue;
        };
        let needed = warp.members[lane] & warp.live;
        // A mere meeting may be at several places; anything else is one instruction.
        let anywhere = matches!(op.kind, CollectiveKind::Sync);
        let there = Lanes(needed & warp.meeting).all(|other| {
            let same_place = warp.pc[other] == warp.pc[lane] && warp.rows_at[other] == warp.rows_at[lane];
            let meets = anywhere && matches!(&launch.module.steps[warp.pc[other] as usize].op, Op::Collective(o) if matches!(o.kind, CollectiveKind::Sync));
            warp.members[other] == warp.members[lane] && (same_place || meets)
        });
        if needed & !warp.meeting != 0 || !there {
            continue;
        }
        perform(&op.kind, warp, lane, needed);
        for other in Lanes(needed) {
            warp.pc[other] += 1;
        }
        warp.meeting &= !needed;
        warp.ready |= needed;
        candidates &= !needed;
        state.statistics.thread_instructions += 1;
    }
}

fn perform(kind: &CollectiveKind, warp: &mut Warp, leader: usize, lanes: u32) {
    let (rows_at, predicates_at) = (warp.rows_at[leader], warp.predicates_at[leader]);
    let row = |row: u32| (rows_at + row) as usize;
    let predicate = |predicate: u32| (predicates_at + predicate) as usize;
    let votes =
        |p: &crate::decode::code::Predicate, warp: &Warp| p.lanes(&warp.predicates[predicates_at as usize..]) & lanes;
    let decide = |d: u32, holds: bool, warp: &mut Warp| {
        super::execute::set(
            &mut warp.predicates[predicate(d)],
            lanes,
            if holds { u32::MAX } else { 0 },
        );
    };
    match kind {
        CollectiveKind::Sync => {}
        CollectiveKind::All { d, p } => decide(*d, votes(p, warp) == lanes, warp),
        CollectiveKind::Any { d, p } => decide(*d, votes(p, warp) != 0, warp),
        CollectiveKind::Uniform { d, p } => {
            let yes = votes(p, warp);
            decide(*d, yes == lanes || yes == 0, warp);
        }
        CollectiveKind::Ballot { d, p } => {
            let yes = votes(p, warp);
            for lane in Lanes(lanes) {
                warp.rows[row(*d)][lane] = yes.into();
            }
        }
        CollectiveKind::MatchAny { d, a, bits } => {
            let values = warp.rows[row(*a)].map(|v| narrow(v, *bits));
            for lane in Lanes(lanes) {
                let mut same = 0_u32;
                for other in Lanes(lanes) {
                    same |= u32::from(values[other] == values[lane]) << other;
                }
                warp.rows[row(*d)][lane] = same.into();
            }
        }
        CollectiveKind::MatchAll { d, p, a, bits } => {
            let values = warp.rows[row(*a)].map(|v| narrow(v, *bits));
            let all = Lanes(lanes).all(|lane| values[lane] == values[leader]);
            for lane in Lanes(lanes) {
                warp.rows[row(*d)][lane] = if all { lanes.into() } else { 0 };
            }
            if let Some(p) = p {
                decide(*p, all, warp);
            }
        }
        CollectiveKind::Reduce { op, d, a } => {
            let values = warp.rows[row(*a)];
            let result = Lanes(lanes)
                .map(|lane| values[lane] as u32)
                .reduce(|x, y| reduce(*op, x, y))
                .unwrap_or(0);
            for lane in Lanes(lanes) {
                warp.rows[row(*d)][lane] = result.into();
            }
        }
        CollectiveKind::Shuffle { mode, d, p, a, b, c } => {
            let (values, amounts, controls) = (warp.rows[row(*a)], warp.rows[row(*b)], warp.rows[row(*c)]);
            let mut in_range = 0;
            for lane in Lanes(lanes) {
                let (from, valid) = partner(*mode, lane as u32, amounts[lane] as u32, controls[lane] as u32);
                in_range |= u32::from(valid) << lane;
                // From a lane that does not take part the value is undefined: something that is noticed.
                let there = lanes >> from & 1 == 1;
                warp.rows[row(*d)][lane] = if there {
                    u64::from(values[from as usize] as u32)
                } else {
                    0xffff_ffff
                };
            }
            if let Some(p) = p {
                super::execute::set(&mut warp.predicates[predicate(*p)], lanes, in_range);
            }
        }
    }
}

fn narrow(value: u64, bits: u32) -> u64 {
    if bits == 32 { value & 0xffff_ffff } else { value }
}

fn reduce(op: ReduceOp, x: u32, y: u32) -> u32 {
    match op {
        ReduceOp::Add => x.wrapping_add(y),
        ReduceOp::And => x & y,
        ReduceOp::Or => x | y,
        ReduceOp::Xor => x ^ y,
        ReduceOp::MinUnsigned => x.min(y),
        ReduceOp::MaxUnsigned => x.max(y),
        ReduceOp::MinSigned => (x as i32).min(y as i32) as u32,
        ReduceOp::MaxSigned => (x as i32).max(y as i32) as u32,
    }
}

/// The lane that a lane reads from, and whether that lies in its segment; if not, it reads from itself.
fn partner(mode: ShuffleMode, lane: u32, amount: u32, control: u32) -> (u32, bool) {
    let (amount, clamp, segment) = (amount & 31, control & 31, control >> 8 & 31);
    let most = (lane & segment) | (clamp & !segment);
    let least = lane & segment;
    let (from, valid) = match mode {
        // For `up` the bound is from below.
        ShuffleMode::Up => (lane.wrapping_sub(amount), lane as i32 - amount as i32 >= most as i32),
        ShuffleMode::Down => (lane + amount, lane + amount <= most),
        ShuffleMode::Butterfly => (lane ^ amount, lane ^ amount <= most),
        ShuffleMode::Index => {
            let from = least | (amount & !segment);
            (from, from <= most)
        }
    };
    if valid { (from & 31, true) } else { (lane, false) }
}
