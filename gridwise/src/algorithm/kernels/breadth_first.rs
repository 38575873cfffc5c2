//! Breadth-first search: one step a level, a grid barrier (or a launch) between.

use core::sync::atomic::Ordering;

use crate::kernel::{Acc, Phase, Phased, Span, SpanMut, queue::LINE_WORDS};

/// Level of a vertex that cannot be reached.
pub(crate) const UNREACHED: u32 = u32::MAX;

/// Vertices of the frontier that a block claims at once, for each of its threads: few, because some know many others.
const CHUNK: u64 = 16;

/// Vertices that a thread has found and not yet put into the next frontier, at most: places there are claimed so many at once.
const FOUND: usize = 64;

/// Frontiers whose words are kept: that of this step, that of the next, and the one after, whose words are cleared meanwhile.
const SLOTS: usize = 3;

/// Words for [`Levels::words`], all 0 but for the length of the first frontier.
#[cfg(feature = "std")]
pub(crate) const WORDS: usize = SLOTS * 2 * LINE_WORDS;

/// Word of the first frontier's length.
#[cfg(feature = "std")]
pub(crate) const FIRST_LENGTH: usize = length(0);

/// Word of a slot: vertices in the frontier. On a line of its own, as is the cursor.
const fn length(slot: usize) -> usize {
    2 * slot * LINE_WORDS
}

/// Word of a slot: vertices of the frontier that are claimed.
const fn cursor(slot: usize) -> usize {
    (2 * slot + 1) * LINE_WORDS
}

/// See the module.
#[repr(C)]
pub struct Levels<'a> {
    pub(crate) row_offsets: Span<'a, u32>,
    pub(crate) targets: Span<'a, u32>,
    /// A level for each vertex, [`UNREACHED`] but for the sources.
    pub(crate) levels: SpanMut<'a, u32>,
    /// Of step `s` at number `s % 2`; room for every vertex.
    pub(crate) frontiers: [SpanMut<'a, u32>; 2],
    /// Of step `s` in slot `s % 3`.
    pub(crate) words: SpanMut<'a, u64>,
}

// SAFETY: levels are atomic. A place in the next frontier is claimed by the thread that alone writes it, and read in the next
// step. Lengths and cursors are changed by atomics; the length that is read here was changed in the step before, and the slot that
// one thread clears was in use in the step before, and will be in the next. All threads of a block walk the same claims.
unsafe impl Phased for Levels<'_> {
    const NAME: &'static str = "breadth_first";
    type Shared = ();
    const PHASES: usize = 1;

    #[inline(always)]
    fn phase<A: Acc>(self, acc: A, (): (), at: Phase) {
        let [now, spare] = [at.step % SLOTS, (at.step + 2) % SLOTS];
        if acc.block_index() == 0 && acc.thread_index() == 0 {
            self.words.set(acc, length(spare), 0);
            self.words.set(acc, cursor(spare), 0);
        }
        let len = self.words.get(acc, length(now));
        let frontier = &self.frontiers[at.step % 2];
        let mut found = Found {
            vertices: [0; FOUND],
            count: 0,
        };
        let chunk = CHUNK * acc.thread_count() as u64;
        loop {
            let claim = || self.words.atomic(cursor(now)).fetch_add(acc, chunk, Ordering::Relaxed);
            let start = acc.broadcast(claim);
            if start >= len {
                break;
            }
            for i in acc.threads_in_block(start as usize..len.min(start + chunk) as usize) {
                self.visit(acc, at.step, frontier.get(acc, i), &mut found);
            }
        }
        self.publish(acc, at.step, &mut found);
    }

    #[inline(always)]
    fn proceed<A: Acc>(self, acc: A, step: usize) -> bool {
        self.words.get(acc, length((step + 1) % SLOTS)) > 0
    }
}

/// What a thread has found and not yet published.
struct Found {
    vertices: [u32; FOUND],
    count: usize,
}

impl Levels<'_> {
    /// Looks at the neighbours of a vertex of the frontier.
    #[inline(always)]
    fn visit<A: Acc>(&self, acc: A, step: usize, vertex: u32, found: &mut Found) {
        let vertex = vertex as usize;
        let neighbours = self.row_offsets[vertex] as usize..self.row_offsets[vertex + 1] as usize;
        for &target in &self.targets[neighbours] {
            let level = self.levels.atomic(target as usize);
            // Looking first saves most exchanges: a level that was set stays.
            if level.load(acc, Ordering::Relaxed) != UNREACHED {
                continue;
            }
            let (new, order) = (step as u32 + 1, Ordering::Relaxed);
            // Whoever sets the level puts the vertex into the frontier, so it is there once.
            if level.compare_exchange(acc, UNREACHED, new, order, order).is_ok() {
                if found.count == FOUND {
                    self.publish(acc, step, found);
                }
                found.vertices[found.count] = target;
                found.count += 1;
            }
        }
    }

    /// Moves what a thread has found to the next frontier.
    #[inline(always)]
    fn publish<A: Acc>(&self, acc: A, step: usize, found: &mut Found) {
        let count = found.count;
        if count == 0 {
            return;
        }
        found.count = 0;
        let length = self.words.atomic(length((step + 1) % SLOTS));
        let start = length.fetch_add(acc, count as u64, Ordering::Relaxed) as usize;
        let places = self.frontiers[(step + 1) % 2].slice(acc, start..start + count);
        for (i, &vertex) in found.vertices[..count].iter().enumerate() {
            places.set(acc, i, vertex);
        }
    }
}
