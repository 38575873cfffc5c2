//! An arrival counter and a generation.

use core::sync::atomic::Ordering;

use super::{BarrierWord, GridBarrier};
use crate::kernel::hardware::{Hardware, WaitSite};

/// An arrival counter and a generation. The last to arrive resets the counter, then publishes the next generation with release:
/// whoever observes it sees the counter at zero. "Last" is decided by the value that the addition returned, never by reading
/// again.
#[derive(Debug)]
pub struct CounterBarrier;

impl GridBarrier for CounterBarrier {
    #[inline(always)]
    unsafe fn meet<H: Hardware>(hardware: H, words: *mut u32, _member: usize, members: usize, site: WaitSite) {
        // SAFETY: the shape has a line of words.
        let arrived = unsafe { BarrierWord::new(words, 0) };
        // SAFETY: as above.
        let generation = unsafe { BarrierWord::new(words, 1) };
        // It cannot move before this member has arrived, so a relaxed load reads the current one: this member observed its
        // publication when it left the last round.
        let round = generation.load(hardware, Ordering::Relaxed);
        if arrived.fetch_add(hardware, 1, Ordering::AcqRel) + 1 == members as u32 {
            arrived.store(hardware, 0, Ordering::Relaxed);
            generation.store(hardware, round.wrapping_add(1), Ordering::Release);
        } else {
            generation.wait(hardware, Ordering::Acquire, site, |now| now != round);
        }
    }
}
