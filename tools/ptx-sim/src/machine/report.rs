//! Words for what went wrong.

use super::Launch;
use super::block::Block;
use crate::decode::code::Op;
use crate::decode::lift::Lanes;
use crate::fault::{Fault, FaultKind};
use std::collections::BTreeMap;

/// A fault of one thread at one instruction.
pub(super) fn at(
    launch: &Launch<'_>,
    block: &Block,
    warp: usize,
    lane: usize,
    pc: u32,
    kind: FaultKind,
    detail: impl Into<String>,
) -> Fault {
    let line = launch.module.lines[pc as usize];
    let mut detail = detail.into();
    // Innermost first.
    for back in block.warps[warp].calls[lane].iter().rev().take(4) {
        let separator = if detail.is_empty() { "" } else { ", " };
        detail += &format!("{separator}called at line {}", launch.module.lines[back.pc as usize]);
    }
    Fault {
        kind,
        kernel: launch.kernel.name.clone(),
        line,
        instruction: text(launch, line).to_owned(),
        block: block.index,
        thread: Block::thread(launch, warp as u32, lane),
        address: None,
        detail,
    }
}

/// A line of the PTX text.
fn text<'a>(launch: &Launch<'a>, line: u32) -> &'a str {
    let index = (line as usize).checked_sub(1);
    index
        .and_then(|index| launch.module.text.get(index))
        .map_or("", String::as_str)
}

/// A fault of the launch as a whole, laid on the first thread that lives.
pub(super) fn anywhere(launch: &Launch<'_>, blocks: &[Block], kind: FaultKind) -> Fault {
    blame(launch, blocks, kind, String::new(), |_| true)
}

fn blame(
    launch: &Launch<'_>,
    blocks: &[Block],
    kind: FaultKind,
    detail: String,
    choose: impl Fn(&Block) -> bool,
) -> Fault {
    for block in blocks.iter().filter(|b| !b.ended && choose(b)) {
        for (index, warp) in block.warps.iter().enumerate() {
            if let Some(lane) = Lanes(warp.live).next() {
                return at(launch, block, index, lane, warp.pc[lane], kind, detail);
            }
        }
    }
    Fault {
        kind,
        kernel: launch.kernel.name.clone(),
        line: 0,
        instruction: String::new(),
        block: [0; 3],
        thread: [0; 3],
        address: None,
        detail,
    }
}

/// How many threads of these blocks stand at which line.
fn places(launch: &Launch<'_>, blocks: &[Block]) -> String {
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    for block in blocks.iter().filter(|b| !b.ended) {
        for warp in &block.warps {
            for lane in Lanes(warp.live) {
                *counts.entry(launch.module.lines[warp.pc[lane] as usize]).or_default() += 1;
            }
        }
    }
    let mut parts: Vec<String> = counts
        .iter()
        .take(8)
        .map(|(&line, n)| format!("{n} at line {line} (`{}`)", text(launch, line)))
        .collect();
    if counts.len() > 8 {
        parts.push(format!("and {} more places", counts.len() - 8));
    }
    parts.join(", ")
}

fn waiting_blocks(waiting: u64) -> String {
    if waiting == 0 {
        String::new()
    } else {
        format!("; {waiting} blocks have not started, since those wait that are resident")
    }
}

/// No thread can go on.
pub(super) fn stuck(launch: &Launch<'_>, blocks: &[Block], waiting: u64) -> Fault {
    let detail = format!("threads wait: {}{}", places(launch, blocks), waiting_blocks(waiting));
    for block in blocks.iter().filter(|b| !b.ended) {
        if let Some(kind) = divergence(launch, block) {
            let left: u32 = block.warps.iter().map(|w| (w.present & !w.live).count_ones()).sum();
            let left = if left == 0 {
                String::new()
            } else {
                format!("; {left} threads of the block have ended")
            };
            return blame(launch, blocks, kind, detail + &left, |b| std::ptr::eq(b, block));
        }
    }
    blame(launch, blocks, FaultKind::Deadlock, detail, |_| true)
}

/// Whether a block's threads wait for each other at different places.
fn divergence(launch: &Launch<'_>, block: &Block) -> Option<FaultKind> {
    let mut at_barriers = false;
    let mut in_meetings = false;
    for warp in &block.warps {
        in_meetings |= warp.meeting != 0;
        at_barriers |= Lanes(warp.live & !warp.meeting)
            .any(|lane| matches!(launch.module.steps[warp.pc[lane] as usize].op, Op::Barrier(_)));
    }
    if in_meetings {
        Some(FaultKind::WarpDivergence)
    } else {
        at_barriers.then_some(FaultKind::BarrierDivergence)
    }
}

/// Threads look at memory that nobody changes.
pub(super) fn spinning(launch: &Launch<'_>, blocks: &[Block], waiting: u64) -> Fault {
    let detail = format!(
        "threads look at memory that nobody changes any more: {}{}",
        places(launch, blocks),
        waiting_blocks(waiting)
    );
    blame(launch, blocks, FaultKind::Deadlock, detail, |_| true)
}
