//! The host half of the chunk counter and of the two-level queue: what they are cut into, and the memory that they count in.

use crate::{
    host::{
        buffer::{AllocationError, Buffer},
        queue::Queue,
    },
    kernel::queue::{ChunkCounter, Level, Plan, TwoLevelQueue},
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

/// Longest chunks that the counter itself is the index of. Were they longer, blocks that go on claiming where nothing is left
/// could take the counter round to the start; so it takes more claims than a machine can make.
const MOST_DIRECT: u64 = 1 << 20;
/// The same, for the range.
const LONGEST_DIRECT: u64 = 1 << 63;

/// Cuts `0..len` into levels of chunks longer than the step, and says how to read the counter.
fn levels(len: u64, chunking: Chunking, blocks: u64) -> (Vec<Level>, Plan) {
    let shortest = match chunking {
        Chunking::Fixed(chunk) => chunk,
        Chunking::Guided { minimum, .. } | Chunking::Factoring { minimum } => minimum,
    };
    let shortest = (shortest as u64).max(1);
    let is_direct = shortest <= MOST_DIRECT && len <= LONGEST_DIRECT;
    let step = if is_direct { shortest } else { 1 };
    let mut levels = Vec::new();
    // In claims; turned into what the counter stands at when it is known where it begins.
    let (mut claims, mut start) = (0, 0);
    while start < len {
        let left = len - start;
        let (of_level, chunk) = match chunking {
            Chunking::Fixed(_) => (1, shortest),
            Chunking::Guided { divisor, .. } => {
                let divisor = (divisor as u64).max(1).saturating_mul(blocks);
                ((divisor / GUIDED_PART).max(1), left / divisor)
            }
            Chunking::Factoring { .. } => (blocks, left.div_ceil(blocks.saturating_mul(2))),
        };
        let first = claims;
        if chunk > shortest {
            levels.push(Level { first, start, chunk });
            claims += of_level;
            start += of_level * chunk;
            continue;
        }
        if is_direct {
            break;
        }
        let chunk = shortest;
        levels.push(Level { first, start, chunk });
        claims += left.div_ceil(chunk);
        start = len;
    }
    // Every chunk so far is longer than the step, so the counter is behind the index.
    let first = if is_direct { start.min(len) - claims * step } else { 0 };
    for level in &mut levels {
        level.first = first + level.first * step;
    }
    let (direct, end) = if is_direct { (start, len) } else { (u64::MAX, claims) };
    let plan = Plan {
        first,
        step,
        direct,
        end,
        len,
    };
    (levels, plan)
}

/// How many chunks there are.
fn count(plan: &Plan) -> u64 {
    let direct = plan.direct.min(plan.end);
    (direct - plan.first) / plan.step + (plan.end - direct).div_ceil(plan.step)
}

/// An index range in chunks, and the counter that hands them out: for a launch at a time.
#[derive(Debug)]
pub struct Chunks {
    next: Buffer<u64>,
    levels: Buffer<Level>,
    plan: Plan,
}

impl Chunks {
    /// A counter that has handed out nothing, for one launch. It cannot be handed to two.
    ///
    /// A phased kernel that holds it finds it where an earlier phase has left it.
    pub fn fresh(&mut self, queue: &Queue) -> ChunkCounter<'_> {
        queue.fill(self.next.span_mut(), self.plan.first);
        ChunkCounter::new(self.next.span_mut(), self.levels.span(), self.plan)
    }

    /// How many chunks there are.
    pub fn count(&self) -> usize {
        count(&self.plan) as usize
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
        let (levels, plan) = levels(len as u64, chunking, blocks as u64);
        Ok(Chunks {
            next: self.device().zeroed(1)?,
            levels: self.upload(&levels)?,
            plan,
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
    use crate::kernel::{Span, SpanMut};

    /// The lengths of all chunks, as claims find them one after another; checked to lie end to end.
    fn chunks(len: u64, chunking: Chunking, blocks: u64) -> Vec<u64> {
        let (levels, plan) = levels(len, chunking, blocks);
        let mut word = [plan.first];
        let counter = ChunkCounter::new(SpanMut::new(&mut word), Span::new(&levels), plan);
        let claims = (0..).map_while(|claim| counter.chunk(plan.first + claim * plan.step));
        let mut end = 0;
        let lengths = claims.map(|chunk| {
            assert_eq!(chunk.start, end, "{chunking:?}");
            end = chunk.end;
            chunk.len() as u64
        });
        let lengths: Vec<u64> = lengths.collect();
        assert_eq!(end as u64, len, "{chunking:?}");
        assert_eq!(lengths.len() as u64, count(&plan), "{chunking:?}");
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
                let (levels, plan) = levels(u64::MAX, chunking, blocks);
                assert!(levels.len() < 500, "{chunking:?} of {blocks}: {}", levels.len());
                assert!(count(&plan) > 0);
            }
        }
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn a_range_too_long_to_count_in_indices_is_cut_all_the_same() {
        let len = u64::MAX;
        for chunk in [1, MOST_DIRECT as usize, MOST_DIRECT as usize + 1, 1 << 62, usize::MAX] {
            for len in [LONGEST_DIRECT, LONGEST_DIRECT + 1, len] {
                let (levels, plan) = levels(len, Chunking::Fixed(chunk), 2);
                assert_eq!(count(&plan), len.div_ceil(chunk as u64));
                let mut word = [plan.first];
                let counter = ChunkCounter::new(SpanMut::new(&mut word), Span::new(&levels), plan);
                let last = plan.first + (count(&plan) - 1) * plan.step;
                let start = (count(&plan) - 1) * chunk as u64;
                assert_eq!(
                    counter.chunk(last),
                    Some(start as usize..len as usize),
                    "{chunk} of {len}"
                );
                // No claim past the end comes round to the start, in as many as there is time for.
                let later = plan.step.checked_mul(1 << 42).and_then(|more| last.checked_add(more));
                if count(&plan) < 1 << 42 {
                    assert_eq!(counter.chunk(later.unwrap()), None, "{chunk} of {len}");
                }
            }
        }
    }

    #[test]
    fn long_chunks_before_short_ones_are_cut_without_a_gap() {
        for (len, minimum) in [(1, 1), (2, 1), (1000, 7), (1000, 1000), (1001, 500), (100_000, 3)] {
            for blocks in [1, 2, 3, 64] {
                for chunking in [
                    Chunking::Guided { divisor: 1, minimum },
                    Chunking::Guided { divisor: 16, minimum },
                    Chunking::Factoring { minimum },
                ] {
                    chunks(len, chunking, blocks);
                }
            }
        }
    }
}
