//! One word, never reset.

use core::sync::atomic::Ordering;

use super::{BarrierWord, GridBarrier};
use crate::kernel::hardware::{Hardware, WaitSite};

/// The bit that flips once a round.
const ROUND: u32 = 1 << 31;

/// One word, never reset by the device. Every member adds 1, member 0 adds what is missing to 2³¹, so a full round adds exactly
/// 2³¹: the top bit flips, the bits below return to what they were, and wrapping around changes nothing. Waiters wait for the
/// flip.
#[derive(Debug)]
pub struct FlipBarrier;

impl GridBarrier for FlipBarrier {
    #[inline(always)]
    unsafe fn meet<H: Hardware>(hardware: H, words: *mut u32, member: usize, members: usize, site: WaitSite) {
        // SAFETY: the shape has one word.
        let word = unsafe { BarrierWord::new(words, 0) };
        let share = if member == 0 { ROUND - (members as u32 - 1) } else { 1 };
        let before = word.fetch_add(hardware, share, Ordering::AcqRel);
        // The last to arrive sees the flip in its own addition, and its arrival acquired the others'.
        if (before ^ before.wrapping_add(share)) & ROUND == 0 {
            word.wait(hardware, Ordering::Acquire, site, |now| (now ^ before) & ROUND != 0);
        }
    }
}
