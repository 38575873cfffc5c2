//! Arrival combined up a tree.

use core::sync::atomic::Ordering;

use super::{BarrierWord, GridBarrier, LINE_WORDS};
use crate::kernel::hardware::{Hardware, WaitSite};

/// Children of a node. Under loom fewer, so that the few members that it can explore make a tree of several levels.
const FAN_IN: usize = if cfg!(loom) { 2 } else { 4 };

/// Words of state: a line for the generation, then a line for each node, level by level from the leaves.
pub(super) const fn words(members: usize) -> usize {
    let mut lines = 1;
    let mut width = members;
    while width > 1 {
        width = width.div_ceil(FAN_IN);
        lines += width;
    }
    lines * LINE_WORDS
}

/// Arrival combined up a tree of fan-in 4: at most four members add to one word. The last at a node resets it and arrives at
/// the parent; the last at the root publishes the generation that all wait for.
#[derive(Debug)]
pub struct TreeBarrier;

impl GridBarrier for TreeBarrier {
    #[inline(always)]
    unsafe fn meet<H: Hardware>(hardware: H, words: *mut u32, member: usize, members: usize, site: WaitSite) {
        // SAFETY: the first line of the state.
        let generation = unsafe { BarrierWord::new(words, 0) };
        // As in the counter barrier: it cannot move before this member has arrived.
        let round = generation.load(hardware, Ordering::Relaxed);
        let (mut level, mut position, mut width) = (1, member, members);
        while width > 1 {
            let node = position / FAN_IN;
            let children = FAN_IN.min(width - node * FAN_IN);
            // SAFETY: `level + node` is below the lines that `words` counts for this many members.
            let arrived = unsafe { BarrierWord::new(words, (level + node) * LINE_WORDS) };
            if arrived.fetch_add(hardware, 1, Ordering::AcqRel) + 1 < children as u32 {
                generation.wait(hardware, Ordering::Acquire, site, |now| now != round);
                return;
            }
            // Before the arrival at the parent, which releases it to the member that publishes.
            arrived.store(hardware, 0, Ordering::Relaxed);
            width = width.div_ceil(FAN_IN);
            level += width;
            position = node;
        }
        generation.store(hardware, round.wrapping_add(1), Ordering::Release);
    }
}
