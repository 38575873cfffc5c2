//! What algorithms are told by types with names: a GPU knows no closures.

use bytemuck::{Pod, Zeroable};
use gridwise::algorithm::{key::SortKey, operator::Transform};

use crate::support::{Affine, affine};

/// The affine map of a number.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct AffineOf {
    nothing: [u8; 0],
}

impl Transform<u32, Affine> for AffineOf {
    fn apply(self, number: u32) -> Affine {
        affine(number as usize)
    }
}

/// What is left of a number by a division.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Modulo(pub u32);

impl Transform<u32, usize> for Modulo {
    fn apply(self, number: u32) -> usize {
        (number % self.0) as usize
    }
}

/// An element that is sorted by a part of itself.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Card {
    /// Tells it from others.
    pub place: u32,
    /// What it is sorted by.
    pub suit: u32,
    /// Makes it long.
    pub text: [u64; 2],
}

// SAFETY: integers.
unsafe impl Zeroable for Card {}
// SAFETY: integers, without gaps between them.
unsafe impl Pod for Card {}

// SAFETY: it depends on the value alone.
unsafe impl SortKey for Card {
    fn ordered_bits(self) -> u64 {
        self.suit.into()
    }
}
