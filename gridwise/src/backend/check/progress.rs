//! Devices that promise no progress: a block that has started may stop, until all others have ended.

use super::{
    engine::Engine,
    state::{Standing, State, Thread},
};

/// Operations within which a block stops, if it does.
const STOPS_WITHIN: usize = 32;

/// The block that stops, if one does.
#[derive(Default)]
pub(super) enum Progress {
    /// All blocks go on.
    #[default]
    Kept,
    /// That one stops after so many operations.
    Ends { block: u32, after: usize },
    /// That one has stopped.
    Ended { block: u32 },
}

impl Engine {
    /// Chooses the block that stops in this launch.
    pub(super) fn choose_progress(&self) {
        let mut state = self.state.borrow_mut();
        if self.model.progress {
            return;
        }
        let block = state.scheduler.value(self.blocks + 1);
        if let Some(block) = block.checked_sub(1) {
            let after = state.scheduler.value(STOPS_WITHIN);
            let block = block as u32;
            state.progress = Progress::Ends { block, after };
        }
    }
}

impl State {
    /// Stops the block of a thread that is about to do something, if it is time.
    pub(super) fn stop_if_due(&mut self, slot: u32) {
        let Progress::Ends { block, after } = &mut self.progress else {
            return;
        };
        let block = *block;
        if self.threads[slot as usize].clock.block != block {
            return;
        }
        if *after > 0 {
            *after -= 1;
            return;
        }
        self.progress = Progress::Ended { block };
        let runs = |thread: &Thread| thread.clock.block == block && matches!(thread.standing, Standing::Runnable);
        for slot in 0..self.threads.len() {
            if runs(&self.threads[slot]) {
                self.unlist(slot as u32);
                self.threads[slot].standing = Standing::Stopped;
            }
        }
    }

    /// Whether that block has stopped.
    pub(super) fn has_stopped(&self, block: u32) -> bool {
        matches!(self.progress, Progress::Ended { block: stopped } if stopped == block)
    }

    /// Lets the block that has stopped go on, if all others have ended. Whether there is one.
    pub(super) fn go_on(&mut self) -> bool {
        let Progress::Ended { block } = self.progress else {
            return false;
        };
        let others_left = |thread: &Thread| thread.clock.block == block || matches!(thread.standing, Standing::Left);
        if !self.threads.iter().all(others_left) {
            return false;
        }
        self.progress = Progress::Kept;
        for slot in 0..self.threads.len() {
            if matches!(self.threads[slot].standing, Standing::Stopped) {
                let step = self.threads[slot].step;
                self.make_runnable(slot as u32, step);
            }
        }
        true
    }
}
