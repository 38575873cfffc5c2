//! The sixteen barriers of a block.
//!
//! A barrier without a count is for all threads of the block. Aligned ones (`bar.sync`, `barrier.sync.aligned`) of this kind must be one and the same
//! instruction for all of them: what the compiler has put into both arms of a branch is not one barrier, and is reported at the first thread that
//! comes to the other. With a count, threads are counted by whole warps, as on the hardware.

use super::block::Block;
use super::execute::set;
use super::{Launch, State, report};
use crate::decode::code::{self, BarrierKind, Op};
use crate::decode::lift::Lanes;
use crate::fault::{Fault, FaultKind};

/// What has come to one barrier.
#[derive(Default)]
pub(super) struct Barrier {
    /// Lanes that wait, by warp.
    waiting: Vec<u32>,
    /// Lanes that arrived without waiting, by warp.
    passed: Vec<u32>,
    /// Where the first one stands, and how many it expects.
    first: Option<(u32, Option<u32>)>,
}

/// Lanes of a warp stand at a barrier instruction.
pub(super) fn arrive(
    launch: &Launch<'_>,
    state: &mut State,
    block: &mut Block,
    index: usize,
    pc: u32,
    lanes: u32,
) -> Result<(), Fault> {
    let Op::Barrier(op) = &launch.module.steps[pc as usize].op else {
        return Ok(());
    };
    let mut left = lanes;
    while left != 0 {
        let lane = left.trailing_zeros() as usize;
        let row = |row: u32, lane: usize| block.warps[index].rows[warp_row(block, index, lane, row)][lane] as u32;
        let (id, count) = (row(op.id, lane), op.count.map(|c| row(c, lane)));
        let mut same = 0;
        for other in Lanes(left) {
            same |= u32::from(row(op.id, other) == id && op.count.map(|c| row(c, other)) == count) << other;
        }
        left &= !same;
        arrive_at(launch, state, block, index, pc, same, op, id, count)?;
    }
    Ok(())
}

fn warp_row(block: &Block, warp: usize, lane: usize, row: u32) -> usize {
    (block.warps[warp].rows_at[lane] + row) as usize
}

#[allow(clippy::too_many_arguments)]
fn arrive_at(
    launch: &Launch<'_>,
    state: &mut State,
    block: &mut Block,
    index: usize,
    pc: u32,
    lanes: u32,
    op: &code::Barrier,
    id: u32,
    count: Option<u32>,
) -> Result<(), Fault> {
    let lane = lanes.trailing_zeros() as usize;
    let wrong = |block: &Block, kind, detail: String| Err(report::at(launch, block, index, lane, pc, kind, detail));
    if id >= 16 {
        return wrong(
            block,
            FaultKind::InvalidBarrier,
            format!("barrier {id}: there are sixteen"),
        );
    }
    if let Some(count) = count
        && (count == 0 || count % 32 != 0 || count > 1024)
    {
        return wrong(
            block,
            FaultKind::InvalidBarrier,
            format!("a count of {count}: it must be a multiple of 32, up to 1024"),
        );
    }
    let warps = block.warps.len();
    let barrier = &mut block.barriers[id as usize];
    barrier.waiting.resize(warps, 0);
    barrier.passed.resize(warps, 0);
    let (first_pc, expected) = *barrier.first.get_or_insert((pc, count));
    if expected != count {
        let line = launch.module.lines[first_pc as usize];
        return wrong(
            block,
            FaultKind::InvalidBarrier,
            format!("barrier {id} was counted otherwise by the threads at line {line}"),
        );
    }
    if op.aligned && count.is_none() && first_pc != pc {
        let line = launch.module.lines[first_pc as usize];
        return wrong(
            block,
            FaultKind::BarrierDivergence,
            format!("other threads of the block wait for barrier {id} at line {line}"),
        );
    }
    if barrier.passed[index] & lanes != 0 {
        return wrong(
            block,
            FaultKind::InvalidBarrier,
            format!("a thread arrives twice at barrier {id}"),
        );
    }
    let warp = &mut block.warps[index];
    if op.kind == BarrierKind::Arrive {
        barrier.passed[index] |= lanes;
        warp.stand(lanes, pc + 1);
    } else {
        barrier.waiting[index] |= lanes;
        warp.ready &= !lanes;
    }
    let (mut arrived, mut missing) = (0, false);
    for ((warp, waiting), passed) in block.warps.iter().zip(&barrier.waiting).zip(&barrier.passed) {
        let here = waiting | passed;
        missing |= here != warp.present;
        // A warp that is all there counts in full, however many threads it has.
        arrived += if here == warp.present { 32 } else { here.count_ones() };
    }
    let complete = match count {
        None => !missing,
        Some(count) if arrived > count => {
            return wrong(
                block,
                FaultKind::InvalidBarrier,
                format!("{arrived} threads at barrier {id}, which expects {count}"),
            );
        }
        Some(count) => arrived == count,
    };
    if complete {
        release(launch, state, block, id as usize);
    }
    Ok(())
}

/// All have arrived: results are written, and those who wait go on.
fn release(launch: &Launch<'_>, state: &mut State, block: &mut Block, id: usize) {
    let barrier = std::mem::take(&mut block.barriers[id]);
    state.progress();
    let op = |pc: u32| match &launch.module.steps[pc as usize].op {
        Op::Barrier(op) => Some(op),
        _ => None,
    };
    let (mut yes, mut no) = (0_u32, 0_u32);
    for (warp, &waiting) in block.warps.iter().zip(&barrier.waiting) {
        for lane in Lanes(waiting) {
            if let Some(op) = op(warp.pc[lane]) {
                let holds = op.p.lanes(&warp.predicates[warp.predicates_at[lane] as usize..]) >> lane & 1;
                yes += holds;
                no += 1 - holds;
            }
        }
    }
    for (warp, &waiting) in block.warps.iter_mut().zip(&barrier.waiting) {
        for lane in Lanes(waiting) {
            let Some(op) = op(warp.pc[lane]) else { continue };
            let predicate = (warp.predicates_at[lane] + op.d) as usize;
            match op.kind {
                BarrierKind::Sync | BarrierKind::Arrive => {}
                BarrierKind::Count => warp.rows[(warp.rows_at[lane] + op.d) as usize][lane] = yes.into(),
                BarrierKind::And => set(
                    &mut warp.predicates[predicate],
                    1 << lane,
                    if no == 0 { u32::MAX } else { 0 },
                ),
                BarrierKind::Or => set(
                    &mut warp.predicates[predicate],
                    1 << lane,
                    if yes != 0 { u32::MAX } else { 0 },
                ),
            }
            warp.pc[lane] += 1;
        }
        warp.ready |= waiting;
    }
}
