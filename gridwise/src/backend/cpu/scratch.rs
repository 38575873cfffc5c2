//! What a launch uses while it runs: kept from launch to launch so that a launch allocates nothing, cleared before each, and
//! dropped after an abort.

use super::{flight::Rest, seat::Seat};
use crate::{
    host::memory::Memory,
    kernel::{
        grid_barrier::{BarrierShape, GridState, LINE_WORDS},
        hardware::SLOT_BYTES,
    },
    sync::Padded,
};

/// A line of words.
pub(super) type Line = Padded<[u32; LINE_WORDS]>;

/// See the module.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// The workers of the launch, as the roster gave them.
    pub(super) workers: Vec<usize>,
    /// Launches that have used this: the number of the last one, by which it knows its own seats.
    pub(super) launches: u64,
    pub(super) seats: Vec<Padded<Seat>>,
    /// Two lines a team: the block barrier, and the barrier between two blocks of a team.
    pub(super) team_words: Vec<Line>,
    /// Shared memory, one a team.
    pub(super) arenas: Vec<Memory>,
    pub(super) rest: Rest,
    grid_words: Vec<Line>,
    grid_slots: Vec<Padded<[[u8; SLOT_BYTES]; 2]>>,
}

impl Scratch {
    /// Makes room for a launch of `teams` teams of `threads`, and clears what it will use. `None` if there is no memory for it.
    #[inline]
    pub(super) fn prepare(&mut self, teams: usize, threads: usize, shared_bytes: usize) -> Option<()> {
        let ranks = teams * threads;
        self.launches += 1;
        if self.seats.len() < ranks {
            self.seats.resize_with(ranks, Default::default);
        }
        if threads > 1 {
            clear(&mut self.team_words, 2 * teams);
        }
        if shared_bytes > 0 {
            for team in 0..teams {
                match self.arenas.get(team) {
                    Some(arena) if arena.bytes() >= shared_bytes => {}
                    Some(_) => self.arenas[team] = Memory::zeroed(shared_bytes)?,
                    None => self.arenas.push(Memory::zeroed(shared_bytes)?),
                }
            }
        }
        Some(())
    }

    /// Makes room for a grid barrier among `blocks` blocks and clears it. The state is valid until the scratch is used again.
    pub(super) fn prepare_grid(&mut self, shape: BarrierShape, blocks: usize) -> GridState {
        clear(&mut self.grid_words, shape.words(blocks).div_ceil(LINE_WORDS));
        if self.grid_slots.len() < blocks {
            self.grid_slots.resize_with(blocks, || Padded([[0; SLOT_BYTES]; 2]));
        }
        // SAFETY: words zeroed and slots there, for that many blocks; the scratch is one launch's at a time.
        unsafe {
            GridState::new(
                self.grid_words.as_mut_ptr().cast(),
                self.grid_slots.as_mut_ptr().cast(),
                shape,
            )
        }
    }
}

fn clear(lines: &mut Vec<Line>, used: usize) {
    if lines.len() < used {
        lines.resize_with(used, || Padded([0; LINE_WORDS]));
    }
    for line in &mut lines[..used] {
        line.0 = [0; LINE_WORDS];
    }
}
