//! How large a grid is.

use std::fmt;

/// The shape of a grid: its blocks, and the threads in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Shape {
    /// Blocks of the grid.
    pub blocks: usize,
    /// Threads in each block.
    pub threads: usize,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = |number| if number == 1 { "" } else { "s" };
        let Self { blocks, threads } = *self;
        write!(f, "{blocks} block{} of {threads} thread{}", s(blocks), s(threads))
    }
}

impl Shape {
    /// From the end of a replay token: `3x2`.
    pub(crate) fn of_token(text: &str) -> Option<Self> {
        let (blocks, threads) = text.split_once('x')?;
        let number = |text: &str| text.parse().ok().filter(|number| *number > 0);
        Some(Self {
            blocks: number(blocks)?,
            threads: number(threads)?,
        })
    }

    /// As [`of_token`](Self::of_token) reads it.
    pub(crate) fn token(self) -> String {
        format!("{}x{}", self.blocks, self.threads)
    }
}
