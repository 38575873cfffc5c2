//! How to run tasks.

use crate::{
    host::{
        launch::{Blocks, Grid},
        phases::Strategy,
    },
    kernel::queue::Order,
};

/// How to run tasks.
#[derive(Clone, Copy, Debug)]
pub struct TaskOptions {
    pub(super) strategy: Strategy,
    pub(super) grid: Grid,
    pub(super) capacity: usize,
    pub(super) keep: usize,
    pub(super) order: Order,
    pub(super) counted: bool,
}

impl Default for TaskOptions {
    fn default() -> Self {
        Self {
            strategy: Strategy::Auto,
            grid: Blocks::Resident.into(),
            capacity: 1 << 16,
            keep: 64,
            order: Order::Lifo,
            counted: false,
        }
    }
}

impl From<Strategy> for TaskOptions {
    fn from(strategy: Strategy) -> Self {
        Self {
            strategy,
            ..Self::default()
        }
    }
}

impl TaskOptions {
    /// [`Strategy::Persistent`], one launch whose blocks feed each other, which is also [`Strategy::Auto`]; or
    /// [`Strategy::Relaunch`], one launch for each generation of tasks.
    pub fn strategy(mut self, strategy: Strategy) -> Self {
        self.strategy = strategy;
        self
    }

    /// On which grid: [`Blocks::Resident`] by default. More blocks than are resident do no harm, and no good.
    pub fn grid(mut self, grid: impl Into<Grid>) -> Self {
        self.grid = grid.into();
        self
    }

    /// Tasks that the ring has room for, which all blocks share: 65 536 by default. Rounded up to a power of two, and to the
    /// number of seeds. By generations it holds the tasks of two.
    pub fn capacity(mut self, tasks: usize) -> Self {
        self.capacity = tasks;
        self
    }

    /// Tasks that a block keeps to itself before it moves some to the ring: 64 by default, at least 1. Its own buffer has room
    /// for twice as many and the spawns of one task: where the ring is full, the block works on them first.
    pub fn keep(mut self, tasks: usize) -> Self {
        self.keep = tasks.max(1);
        self
    }

    /// Which of its own tasks a block runs next: [`Order::Lifo`] by default.
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Counts what each block does.
    pub fn counters(mut self) -> Self {
        self.counted = true;
        self
    }
}
