//! The host half of the chunk counter and of the two-level queue: what they are cut into, and the memory that they count in.

use crate::{
    host::{
        buffer::{AllocationError, Buffer},
        queue::Queue,
    },
    kernel::queue::{ChunkCounter, Level, TwoLevelQueue},
};

/// How long the chunks are that a [`ChunkCounter`] hands out. A minimum of 0 counts as 1, and so does a chunk of 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Chunking {
    /// That many indices each.
    Fixed(usize),
    /// Shrinking with what remains: about `remaining / (divisor * blocks)`, with a minimum. (Polychronopoulos and Kuck, 1987.)
    ///
    /// A divisor of 2 suits most work; a larger one evens out work whose costly indices come first.
    Guided {
        /// Into how many chunks a block's share of what remains is cut; 0 counts as 1.
        divisor: usize,
        /// The shortest chunk.
        minimum: usize,
    },
    /// In rounds: half of what remains, in equal chunks, one for each block. (Flynn Hummel, Schonberg and Flynn, 1992.)
    Factoring {
        /// The shortest chunk.
        minimum: usize,
    },
}

/// Tickets of a level of guided chunks, as a part of the divisor: a chunk is at most this much longer than it should be.
const GUIDED_PART: u64 = 8;

/// Cuts `0..len` into levels; returns them, and how many chunks there are.
fn levels(len: u64, chunking: Chunking, blocks: u64) -> (Vec<Level>, u64) {
    let mut levels = Vec::new();
    let (mut first, mut start) = (0, 0);
    let shortest = match chunking {
        Chunking::Fixed(chunk) => chunk,
        Chunking::Guided { minimum, .. } | Chunking::Factoring { minimum } => minimum,
    };
    let shortest = (shortest as u64).max(1);
    while start < len {
        let left = len - start;
        let (tickets, chunk) = match chunking {
            Chunking::Fixed(_) => (1, shortest),
            Chunking::Guided { divisor, .. } => {
                let divisor = (divisor as u64).max(1).saturating_mul(blocks);
                ((divisor / GUIDED_PART).max(1), left / divisor)
            }
            Chunking::Factoring { .. } => (blocks, left.div_ceil(blocks.saturating_mul(2))),
        };
        if chunk <= shortest {
            levels.push(Level {
                first,
                start,
                chunk: shortest,
            });
            return (levels, first + left.div_ceil(shortest));
        }
        levels.push(Level { first, start, chunk });
        first += tickets;
        start += tickets * chunk;
    }
    (levels, first)
}

/// An index range in chunks, and the counter that hands them out: for a launch at a time.
#[derive(Debug)]
pub struct Chunks {
    next: Buffer<u64>,
    levels: Buffer<Level>,
    last: Level,
    tickets: u64,
    len: u64,
}

impl Chunks {
    /// A counter that has handed out nothing, for one launch. It cannot be handed to two.
    ///
    /// A phased kernel that holds it finds it where an earlier phase has left it.
    pub fn fresh(&mut self, queue: &Queue) -> ChunkCounter<'_> {
        queue.fill(self.next.span_mut(), 0);
        ChunkCounter::new(
            self.next.span_mut(),
            self.levels.span(),
            self.last,
            self.tickets,
            self.len,
        )
    }

    /// How many chunks there are.
    pub fn count(&self) -> usize {
        self.tickets as usize
    }
}

/// An index range in large and small pieces, and the counters that hand them out: for a launch at a time.
#[derive(Debug)]
pub struct Pieces {
    words: Buffer<u64>,
    len: u64,
    large: u64,
    small: u64,
}

impl Pieces {
    /// A queue that has handed out nothing, for one launch. It cannot be handed to two.
    pub fn fresh(&mut self, queue: &Queue) -> TwoLevelQueue<'_> {
        queue.fill(self.words.span_mut(), 0);
        TwoLevelQueue::new(self.words.span_mut(), self.len, self.large, self.small)
    }
}

impl Queue {
    /// `0..len` in chunks, for a [`ChunkCounter`]. Policies that ask for the number of blocks take that of a resident grid; the
    /// chunks cover the range for any other grid as well.
    ///
    /// # Errors
    /// If there is no memory for it.
    #[track_caller]
    pub fn chunks(&self, len: usize, chunking: Chunking) -> Result<Chunks, AllocationError> {
        let blocks = self.device().most_resident_blocks().max(1);
        let (levels, tickets) = levels(len as u64, chunking, blocks as u64);
        Ok(Chunks {
            next: self.device().zeroed(1)?,
            levels: self.upload(&levels)?,
            last: levels.last().copied().unwrap_or(bytemuck::Zeroable::zeroed()),
            tickets,
            len: len as u64,
        })
    }

    /// `0..len` in large pieces of small pieces, for a [`TwoLevelQueue`]: `per_block` large pieces for each block of a resident
    /// grid, of small ones of `small` indices. A length of 0, or a number, counts as 1.
    ///
    /// # Errors
    /// If there is no memory for it: a large piece needs 128 bytes.
    #[track_caller]
    pub fn pieces(&self, len: usize, per_block: usize, small: usize) -> Result<Pieces, AllocationError> {
        let small = small.max(1);
        let blocks = self.device().most_resident_blocks().max(1);
        let wanted = blocks.saturating_mul(per_block.max(1));
        // A whole number of small pieces, so that only the last is shorter.
        let large = len.div_ceil(wanted).max(1);
        let large = large.checked_next_multiple_of(small).unwrap_or(usize::MAX);
        let words = TwoLevelQueue::words(len.div_ceil(large));
        let words = words.ok_or_else(|| AllocationError::of::<u64>(len))?;
        Ok(Pieces {
            words: self.device().zeroed(words)?,
            len: len as u64,
            large: large as u64,
            small: small as u64,
        })
    }
}

#[cfg(all(test, not(loom)))]
mod test {
    use super::*;

    fn chunks(len: u64, chunking: Chunking, blocks: u64) -> Vec<u64> {
        let (levels, tickets) = levels(len, chunking, blocks);
        let mut ends: Vec<_> = levels.iter().skip(1).map(|level| level.first).collect();
        ends.push(tickets);
        let lengths: Vec<u64> = levels
            .iter()
            .zip(ends)
            .flat_map(|(level, end)| {
                (level.first..end).map(move |ticket| {
                    let start = level.start + (ticket - level.first) * level.chunk;
                    level.chunk.min(len - start)
                })
            })
            .collect();
        assert_eq!(lengths.iter().sum::<u64>(), len, "{chunking:?}");
        lengths
    }

    #[test]
    fn fixed_chunks_are_equal_but_for_the_last() {
        assert_eq!(chunks(10, Chunking::Fixed(4), 2), [4, 4, 2]);
        assert_eq!(chunks(3, Chunking::Fixed(0), 2), [1, 1, 1]);
        assert_eq!(chunks(0, Chunking::Fixed(4), 2), []);
    }

    #[test]
    fn guided_chunks_follow_what_remains() {
        let guided = Chunking::Guided { divisor: 1, minimum: 3 };
        assert_eq!(chunks(100, guided, 2), [50, 25, 12, 6, 3, 3, 1]);
        assert_eq!(chunks(7, Chunking::Guided { divisor: 1, minimum: 1 }, 1), [7]);
        // Never longer than an eighth more than guided scheduling says, with many blocks.
        let (divisor, blocks, len) = (2, 32, 1 << 20);
        let mut left = len;
        for chunk in chunks(len, Chunking::Guided { divisor, minimum: 1 }, blocks) {
            let exact = (left / (divisor as u64 * blocks)).max(1);
            assert!(
                chunk >= exact.min(left) && chunk <= exact + exact / 7 + 1,
                "{chunk} of {left}"
            );
            left -= chunk;
        }
    }

    #[test]
    fn factoring_halves_what_remains_in_each_round() {
        let factoring = Chunking::Factoring { minimum: 1 };
        assert_eq!(chunks(32, factoring, 2), [8, 8, 4, 4, 2, 2, 1, 1, 1, 1]);
    }

    #[test]
    fn the_longest_range_has_a_short_table() {
        for blocks in [1, 2, 64, 100_000] {
            for chunking in [
                Chunking::Fixed(1),
                Chunking::Guided { divisor: 2, minimum: 1 },
                Chunking::Factoring { minimum: 1 },
                Chunking::Guided {
                    divisor: usize::MAX,
                    minimum: usize::MAX,
                },
            ] {
                let (levels, tickets) = levels(u64::MAX, chunking, blocks);
                assert!(levels.len() < 500, "{chunking:?} of {blocks}: {}", levels.len());
                assert!(tickets > 0);
            }
        }
    }
}
