//! What a run is told, whether of phases or of tasks.

use super::{
    launch::{Blocks, Grid},
    phases::Strategy,
};

/// How to run something that may be one resident grid or many launches. `S` is what else there is to choose:
/// [`RunOptions`](super::phases::RunOptions) for phases, [`TaskOptions`](super::tasks::TaskOptions) for tasks.
///
/// A [`Strategy`] alone turns into options that are otherwise as usual.
#[derive(Clone, Copy, Debug)]
pub struct Options<S> {
    pub(super) strategy: Strategy,
    pub(super) grid: Grid,
    pub(super) own: S,
}

impl<S: Default> Default for Options<S> {
    fn default() -> Self {
        Self {
            strategy: Strategy::Auto,
            grid: Blocks::Resident.into(),
            own: S::default(),
        }
    }
}

impl<S: Default> From<Strategy> for Options<S> {
    fn from(strategy: Strategy) -> Self {
        Self {
            strategy,
            ..Self::default()
        }
    }
}

impl<S> Options<S> {
    /// One resident grid or many launches: [`Strategy::Auto`] by default, which says in the report what it chose, and why.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// On which grid: [`Blocks::Resident`] by default. The strategies run the same grid.
    pub fn grid(mut self, grid: impl Into<Grid>) -> Self {
        self.grid = grid.into();
        self
    }
}
