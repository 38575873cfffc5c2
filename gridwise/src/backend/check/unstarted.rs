//! In which order the blocks of a launch start.

use std::ops::Range;

use super::{model::BlockOrder, scheduler::Scheduler};

/// The blocks that have not started.
pub(super) enum Unstarted {
    /// The lowest, or the highest, is next.
    InOrder { blocks: Range<u32>, descending: bool },
    /// Any may be next.
    AnyOrder(Vec<u32>),
}

impl Unstarted {
    pub(super) fn new(order: BlockOrder, blocks: u32) -> Self {
        match order {
            BlockOrder::Random => Self::AnyOrder((0..blocks).collect()),
            order => Self::InOrder {
                blocks: 0..blocks,
                descending: order == BlockOrder::Descending,
            },
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::InOrder { blocks, .. } => blocks.len(),
            Self::AnyOrder(blocks) => blocks.len(),
        }
    }

    pub(super) fn take(&mut self, scheduler: &mut dyn Scheduler) -> Option<u32> {
        match self {
            Self::InOrder {
                blocks,
                descending: false,
            } => blocks.next(),
            Self::InOrder {
                blocks,
                descending: true,
            } => blocks.next_back(),
            Self::AnyOrder(blocks) if blocks.len() > 1 => Some(blocks.remove(scheduler.value(blocks.len()))),
            Self::AnyOrder(blocks) => blocks.pop(),
        }
    }
}
